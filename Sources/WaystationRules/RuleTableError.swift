/// The error for a table with invalid patterns; it has every one of them.
public struct RuleTableError: Error, Sendable, Hashable {
    /// One rule that cannot be used.
    public struct Problem: Sendable, Hashable {
        /// The position of the rule in the list given, counted from 0.
        public let index: Int

        /// The place where the rule was written, when known.
        public let location: RuleLocation?

        /// The error in the rule's pattern.
        public let error: URLPatternError

        /// Makes a problem of a rule and its error.
        public init(index: Int, location: RuleLocation?, error: URLPatternError) {
            self.index = index
            self.location = location
            self.error = error
        }
    }

    /// The problems in the order of the rules; never empty when thrown by ``RuleTable``.
    public let problems: [Problem]

    /// Makes an error with these problems.
    public init(problems: [Problem]) {
        self.problems = problems
    }
}

extension RuleTableError: CustomStringConvertible {
    /// Each problem with the number of its rule, the place where it was written, and the position in the pattern.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

extension RuleTableError.Problem: CustomStringConvertible {
    /// The number, place and error of the rule: `rule 3 (App/Rules.swift:12): URL pattern not understood: …`.
    public var description: String {
        "rule \(index)\(location.map { " (\($0))" } ?? ""): \(error)"
    }
}

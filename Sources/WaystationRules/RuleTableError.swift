/// The rules of a table whose patterns are not understood, every one of them.
public struct RuleTableError: Error, Sendable, Hashable {
    /// One rule that cannot be used.
    public struct Problem: Sendable, Hashable {
        /// The position of the rule among those given, counted from 0.
        public let index: Int

        /// Where the rule was written, when known.
        public let location: RuleLocation?

        /// What is wrong with its pattern.
        public let error: URLPatternError

        /// Names a rule and what is wrong with it.
        public init(index: Int, location: RuleLocation?, error: URLPatternError) {
            self.index = index
            self.location = location
            self.error = error
        }
    }

    /// What is wrong, in the order of the rules; never empty when thrown by ``RuleTable``.
    public let problems: [Problem]

    /// Creates an error of all problems found.
    public init(problems: [Problem]) {
        self.problems = problems
    }
}

extension RuleTableError: CustomStringConvertible {
    /// Each problem with the number of its rule, where it was written, and the place within the pattern.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

extension RuleTableError.Problem: CustomStringConvertible {
    /// Number, place and error of the rule: `rule 3 (App/Rules.swift:12): URL pattern not understood: …`.
    public var description: String {
        "rule \(index)\(location.map { " (\($0))" } ?? ""): \(error)"
    }
}

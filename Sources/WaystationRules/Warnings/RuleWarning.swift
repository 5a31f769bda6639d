import WaystationFields

/// A valid rule that probably does not do what its author meant.
///
/// A warning does not refuse anything: the rule is used as it is written.
public struct RuleWarning: Sendable, Hashable {
    /// The kind of a warning.
    ///
    /// More kinds may be added later.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        /// An earlier rule matches every request that this rule matches, so this rule is never reached.
        public static let unreachable = Kind(description: "unreachable")
        /// The rule matches no request, since its set of methods is empty.
        public static let noMethods = Kind(description: "noMethods")
        /// The pattern has no path, or only the path `/*`, and so matches only a few pages of a host.
        public static let narrowPath = Kind(description: "narrowPath")
        /// The pattern has a `[` without its `]`, so the `[` stands for the character itself.
        public static let unclosedBracket = Kind(description: "unclosedBracket")
        /// The rule serves files at a base URL, but its pattern matches nothing below it.
        public static let baseOutsidePattern = Kind(description: "baseOutsidePattern")
    }

    /// The kind of the warning.
    public let kind: Kind

    /// The position of the rule, counted from 0.
    public let rule: Int

    /// The pattern of the rule, as it was written.
    public let pattern: String

    /// The place in the source where the rule was written, when known.
    public let location: RuleLocation?

    /// A sentence that says what is wrong, and the form that was probably meant.
    public let message: String

    package init(_ kind: Kind, rule: Int, pattern: String, location: RuleLocation?, message: String) {
        self.kind = kind
        self.rule = rule
        self.pattern = pattern
        self.location = location
        self.message = message
    }
}

extension RuleWarning: CustomStringConvertible {
    /// The rule, the place where it was written, and the message, on one line.
    public var description: String {
        let place = location.map { " (\($0))" } ?? ""
        return "rule \(rule) `\(pattern.shown(upTo: URLPatternError.limit))`\(place): \(message)"
    }
}

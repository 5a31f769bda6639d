/// A rule that does not take a request, and every reason for it.
public struct RuleMismatch: Sendable, Hashable {
    /// One part of the rule that does not take its part of the request.
    ///
    /// `expected` and `found` are phrases for a person.
    public enum Reason: Sendable, Hashable {
        /// The scheme is another one.
        case scheme(expected: String, found: String)
        /// The host is another one.
        case host(expected: String, found: String)
        /// The port is another one.
        case port(expected: String, found: String)
        /// The path is none of the pattern's.
        case path(expected: String, found: String)
        /// The method is none of the rule's.
        case method(expected: String, found: String)
        /// A query item is missing or has another value.
        case query(missing: QueryCondition)
        /// All else takes the request, but the predicate does not.
        case predicate
    }

    /// The position of the rule in its table, counted from 0.
    public let index: Int

    /// The pattern of the rule.
    public let pattern: URLPattern

    /// Where the rule was written, when known.
    public let location: RuleLocation?

    /// Why it does not take the request; never empty.
    public let reasons: [Reason]
}

extension RuleMismatch: CustomStringConvertible {
    /// The rule, where it was written, and its reasons, on one line.
    public var description: String {
        let place = location.map { " (\($0))" } ?? ""
        return "rule \(index) `\(pattern)`\(place): \(reasons.map(\.description).joined(separator: "; "))"
    }
}

extension RuleMismatch.Reason: CustomStringConvertible {
    /// The reason as a phrase.
    public var description: String {
        switch self {
        case .scheme(let expected, let found): "scheme is \(found), not \(expected)"
        case .host(let expected, let found): "host is \(found), not \(expected)"
        case .port(let expected, let found): "port is \(found), not \(expected)"
        case .path(let expected, let found): "path is \(found), not \(expected)"
        case .method(let expected, let found): "method is \(found), not \(expected)"
        case .query(let missing): "query has no \(missing)"
        case .predicate: "its predicate said no"
        }
    }
}

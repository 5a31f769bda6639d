import WaystationFields

/// A rule that does not match a request, and every reason for it.
public struct RuleMismatch: Sendable, Hashable {
    /// One part of the rule that does not match its part of the request.
    ///
    /// `expected` and `found` are phrases for a person.
    public enum Reason: Sendable, Hashable {
        /// The scheme is a different one.
        case scheme(expected: String, found: String)
        /// The host is a different one.
        case host(expected: String, found: String)
        /// The port is a different one.
        case port(expected: String, found: String)
        /// The pattern does not match the path.
        case path(expected: String, found: String)
        /// The rule does not have the method.
        case method(expected: String, found: String)
        /// A query item is missing or has another value.
        case query(missing: QueryCondition)
        /// Everything else matches the request, but the predicate does not.
        case predicate
    }

    /// The position of the rule in its table, counted from 0.
    public let index: Int

    /// The pattern of the rule.
    public let pattern: URLPattern

    /// The place where the rule was written, when known.
    public let location: RuleLocation?

    /// The reasons why the rule does not match the request; never empty.
    public let reasons: [Reason]
}

extension RuleMismatch: CustomStringConvertible {
    /// The rule, the place where it was written, and its reasons, on one line.
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
        case .method(let expected, let found): "method is \(found.shown()), not \(expected)"
        case .query(let missing): "query has no \(missing)"
        case .predicate: "its predicate returned false"
        }
    }
}

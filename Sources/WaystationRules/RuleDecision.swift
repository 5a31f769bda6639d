/// The decision of a table of rules about a request, and the reasons for it.
public enum RuleDecision<Action: Sendable>: Sendable {
    /// The rule at `index`, counted from 0, is the first that matches the request.
    case matched(index: Int, pattern: URLPattern, action: Action)

    /// No rule matches; has the rules that come closest, the closest first, at most five.
    case unmatched(_ closest: [RuleMismatch])
}

extension RuleDecision: CustomStringConvertible {
    /// The decision as text for people, one line for each rule.
    public var description: String {
        switch self {
        case .matched(let index, let pattern, _):
            "rule \(index) `\(pattern)` matched"
        case .unmatched(let closest) where closest.isEmpty:
            "no rule matched: the table has no rules"
        case .unmatched(let closest):
            (["no rule matched; the closest:"] + closest.map { "  \($0)" }).joined(separator: "\n")
        }
    }
}

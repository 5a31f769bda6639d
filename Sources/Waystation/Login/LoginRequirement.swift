public import WaystationRules

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

/// Selects the requests of a rule that need a login.
///
/// Those requests wait for it, within its time limit. All other requests load at once, and carry the token if there is
/// one.
public struct LoginRequirement: Sendable {
    enum Kind: Sendable {
        case always
        case query(QueryCondition)
        case header(name: String, value: String)
        case predicate(@Sendable (RuleRequest) -> Bool)
    }

    let kind: Kind

    /// Every request of the rule.
    public static let always = LoginRequirement(kind: .always)

    /// The requests with `needAuth=true` in their query.
    public static let marked = whenQuery("needAuth", is: "true")

    /// The requests whose query has an item with this name and value.
    public static func whenQuery(_ name: String, is value: String) -> LoginRequirement {
        LoginRequirement(kind: .query(.equals(name, value)))
    }

    /// The requests with a header field of this value.
    ///
    /// The field is sent with the request.
    public static func whenHeader(_ name: String, is value: String) -> LoginRequirement {
        LoginRequirement(kind: .header(name: name, value: value))
    }

    /// The requests for which the predicate, which must be pure and quick, returns true.
    public static func when(_ predicate: @escaping @Sendable (RuleRequest) -> Bool) -> LoginRequirement {
        LoginRequirement(kind: .predicate(predicate))
    }

    /// Whether a request needs a login.
    func isMet(by request: URLRequest, _ canonical: CanonicalRequest) -> Bool {
        switch kind {
        case .always: true
        case .query(let condition): condition.isMet(by: canonical.url)
        case .header(let name, let value): request.value(forHTTPHeaderField: name) == value
        case .predicate(let predicate):
            predicate(
                RuleRequest(url: canonical.url, method: canonical.method) { request.value(forHTTPHeaderField: $0) }
            )
        }
    }
}

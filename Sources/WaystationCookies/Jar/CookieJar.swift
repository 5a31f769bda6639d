import Foundation

/// The cookies of a client, and the decisions about them (RFC 6265 §5.3 and §5.4, RFC 6265bis §5.7 and §5.8).
///
/// A jar is a value and uses no file, no network and no clock. Each mutation returns the changes it made.
///
/// ```swift
/// var jar = CookieJar()
/// jar.store("sid=31d4; Path=/; Secure; HttpOnly", from: url, now: now)
/// request.setValue(jar.header(for: url, now: now), forHTTPHeaderField: "Cookie")
/// ```
public struct CookieJar: Sendable {
    /// A cookie and its place in the order of creation.
    ///
    /// The creation date alone does not order cookies: all cookies of one response are stored at the same moment.
    struct Entry {
        var cookie: Cookie
        var order: UInt64
    }

    /// The limits and checks that the jar applies.
    ///
    /// The rules belong to the app and are not encoded with the cookies: set them again after decoding.
    ///
    /// Tighter rules apply to cookies that are stored from then on; cookies that are already in the jar stay.
    public var rules: CookieRules

    /// The cookies by their domain, so that a request looks up only the few domains that its host's name ends with.
    var entries: [String: [Entry]] = [:]
    /// How many cookies there are, expired ones included until they are removed.
    public internal(set) var count = 0
    /// A lower bound of the expiry dates: no cookie expires before this moment.
    var earliestEnd = Date.distantFuture
    var nextOrder: UInt64 = 0

    /// Makes an empty jar.
    public init(rules: CookieRules = CookieRules()) {
        self.rules = rules
    }

    /// All cookies, in the order of their creation, expired ones included until they are removed.
    ///
    /// - Complexity: O(*n* log *n*).
    public var cookies: [Cookie] {
        entries.values.joined().sorted(by: Self.wasCreatedEarlier).map(\.cookie)
    }

    static func wasCreatedEarlier(_ first: Entry, _ second: Entry) -> Bool {
        guard first.cookie.creation == second.cookie.creation else {
            return first.cookie.creation < second.cookie.creation
        }
        return first.order < second.order
    }

    /// The cookie with an identity, expired or not.
    public subscript(id: Cookie.ID) -> Cookie? {
        entries[id.domain]?.first(where: { $0.cookie.id == id })?.cookie
    }
}

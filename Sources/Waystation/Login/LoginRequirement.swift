import Foundation
import Synchronization
import WaystationFoundation
public import WaystationHTTP

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

/// The parts of a response store that belong to one login each.
///
/// A part is named after the account and the login's first token. So when the app starts again and finds the token in
/// its cookies, it finds the stored responses too. A renewal keeps the part.
struct LoginPartitions {
    /// The number of tokens of a login that are remembered.
    private static let limit = 16

    private var name: String?
    /// Hashes of the tokens of this login, oldest first.
    private var tokens: [String] = []

    /// Records a token before it is used.
    mutating func note(_ token: String, of account: String, for reason: LoginReason) {
        let hash = Self.hash(token, of: account)
        switch reason {
        case .signIn:
            name = hash
            tokens = []
        case .renewal(let refused):
            // After a restart, the refused token is the first one that is known.
            if name == nil {
                let first = Self.hash(refused.value, of: account)
                name = first
                tokens = [first]
            }
        }
        tokens.append(hash)
        if tokens.count > Self.limit { tokens.removeFirst() }
    }

    /// Forgets the login.
    mutating func end() { self = LoginPartitions() }

    /// The part for a token: that of its login if the token is remembered, otherwise a part of its own.
    func name(of token: String, account: String) -> String {
        let hash = Self.hash(token, of: account)
        return Self.prefix(of: account) + (tokens.contains(hash) ? name ?? hash : hash) + "/"
    }

    /// The part for requests that carry cookies and no token.
    static func anonymous(_ account: String) -> String { prefix(of: account) + "anonymous/" }

    /// The prefix of the names of all parts of an account.
    static func prefix(of account: String) -> String { Self.prefix + Partition.name(for: account) + "/" }

    private static let prefix = "login/"

    /// Whether a part of the store belongs to a login.
    static func contains(_ partition: String) -> Bool { partition.contains(prefix) }

    private static func hash(_ token: String, of account: String) -> String {
        Partition.name(for: account + "\n" + token)
    }
}

extension LoginSession {
    /// Whether a URL's host may get the token.
    ///
    /// The host is compared as the request is sent to it, since an address can be spelled in several ways.
    func covers(_ url: URL?) -> Bool { url.map { id.covers(hostOf: $0.canonical ?? $0) } ?? false }

    /// Whether a request belongs to the login: it carries cookies to a host of its domain.
    func covers(_ request: URLRequest) -> Bool {
        request.value(forHTTPHeaderField: "Cookie") != nil && covers(request.url)
    }

    /// The token that a request carries.
    func token(of request: URLRequest) -> String? {
        guard covers(request), let field = request.value(forHTTPHeaderField: "Cookie") else { return nil }
        return CookiePairs(field).value(of: cookie.name)
    }

    /// The part of the store for a request; empty for a request that does not belong to the login.
    ///
    /// Cookies other than the token can identify the user as well, so requests with such cookies also get a part of
    /// their account.
    func partition(of request: URLRequest) -> String {
        guard covers(request) else { return "" }
        guard let token = token(of: request) ?? token else { return LoginPartitions.anonymous(account) }
        return state.withLock { $0.partitions }.name(of: token, account: account)
    }
}

/// The cookie that carries a login's token: all of its attributes except the value.
public struct LoginCookie: Hashable, Sendable {
    /// The name of the cookie.
    public var name: String
    /// The host that gets the token, or the domain whose hosts get it, such as `shop.example`.
    public var domain: String
    /// Whether only the host ``domain`` itself gets the token; false by default.
    ///
    /// It must be true if ``domain`` is an IP address.
    public var isHostOnly: Bool
    /// The path that a request's path must match; `/` by default.
    public var path: String
    /// The lifetime of a token whose provider gives no expiry; nil, the default, is the duration of the session.
    public var lifetime: Duration?
    /// Whether only secure connections carry the token; true by default.
    public var isSecure: Bool
    /// Whether the token is hidden from interfaces other than HTTP; true by default.
    public var isHTTPOnly: Bool
    /// Which sites' requests carry the token; `lax` by default.
    public var sameSite: SameSite

    /// Makes a cookie with a name, for a domain and the hosts below it.
    public static func named(
        _ name: String,
        domain: String,
        isHostOnly: Bool = false,
        path: String = "/",
        lifetime: Duration? = nil,
        isSecure: Bool = true,
        isHTTPOnly: Bool = true,
        sameSite: SameSite = .lax
    ) -> LoginCookie {
        LoginCookie(
            name: name,
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            lifetime: lifetime,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            sameSite: sameSite
        )
    }

    /// The cookie with a token as its value.
    ///
    /// - Throws: ``WaystationHTTP/CookieError`` when a part could not be sent, such as a token with a line break.
    func holding(_ token: LoginToken, now: Date) throws(CookieError) -> Cookie {
        try Cookie(
            name: name,
            value: token.value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            expires: token.expires ?? lifetime.map { now.addingTimeInterval($0.inSeconds) },
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            sameSite: sameSite,
            creation: now
        )
    }
}

public import Foundation

/// One cookie as a client keeps it (RFC 6265 §5.3).
///
/// A value of this type can always be sent: neither its name nor its value can end the pair or the field it is written
/// into. A jar may still refuse to store it.
public struct Cookie: Hashable, Sendable, Identifiable {
    /// The identity of a cookie in a jar: a newer cookie with the same ID replaces the older one.
    ///
    /// RFC 6265bis §5.7 makes the host-only flag part of the identity, as browsers do; RFC 6265 §5.3 did not.
    public struct ID: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The domain, in lower case, without a leading dot.
        public var domain: String
        /// Whether only that host gets the cookie, not its subdomains.
        public var isHostOnly: Bool
        /// The path.
        public var path: String

        /// Makes an ID.
        public init(name: String, domain: String, isHostOnly: Bool, path: String) {
            self.name = name
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
        }
    }

    /// The name; empty only where ``CookieRules/acceptsNamelessCookies`` is set.
    public let name: String
    /// The value as it was sent, including its quotes.
    public let value: String
    /// The host, or the domain whose hosts get the cookie, in lower case and without a leading dot.
    public let domain: String
    /// Whether only the host ``domain`` gets the cookie, not its subdomains.
    public let isHostOnly: Bool
    /// The path that a request's path has to match; begins with a slash.
    public let path: String
    /// When the cookie expires; `nil` for a session cookie.
    public let expires: Date?
    /// Whether the cookie is sent over secure connections only.
    public let isSecure: Bool
    /// Whether the cookie is hidden from interfaces other than HTTP.
    public let isHTTPOnly: Bool
    /// The requests that carry the cookie, by the site that started them.
    public let sameSite: SameSite
    /// When the first cookie of this ID was stored; a replacement keeps it.
    public internal(set) var creation: Date
    /// When the cookie was last stored or sent.
    public internal(set) var lastAccess: Date

    /// The cookie's identity in a jar.
    public var id: ID { ID(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }

    /// Whether the cookie ends with the session, because it has no expiry date.
    public var isSessionCookie: Bool { expires == nil }

    /// Whether the cookie has expired by the moment `now`.
    public func isExpired(at now: Date) -> Bool {
        guard let expires else { return false }
        return expires <= now
    }

    /// Makes a cookie from its properties, as an app does for a login's token.
    ///
    /// - Parameters:
    ///   - name: The name, without `=`, `;`, control characters, or spaces at its ends.
    ///   - value: The value, without `;`, control characters, or spaces at its ends; name and value together have at most
    ///     4,096 bytes.
    ///   - domain: A host name or address; one leading dot is dropped.
    ///   - isHostOnly: Whether only the host itself gets the cookie, not its subdomains.
    ///   - path: Begins with a slash.
    ///   - expires: When the cookie expires, or `nil` for a session cookie.
    ///   - isSecure: Whether the cookie is sent over secure connections only.
    ///   - isHTTPOnly: Whether the cookie is hidden from interfaces other than HTTP.
    ///   - sameSite: The requests that carry the cookie, by the site that started them.
    ///   - creation: The moment at which the cookie is made.
    /// - Throws: ``CookieError`` for a part that could not be sent, for a name with a prefix (`__Secure-`, `__Host-`)
    ///   whose requirements the cookie does not meet, and for `SameSite=None` without `Secure`.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = false,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite = .unspecified,
        creation: Date
    ) throws(CookieError) {
        try CookieSyntax.check(name: name, value: value)
        let bare = domain.hasPrefix(".") ? String(domain.dropFirst()) : domain
        guard let host = CookieHost(bare) else {
            throw CookieError(.domain, "“\(domain.shown())” is not a host name; give a name such as example.com")
        }
        guard isHostOnly || !host.isAddress else {
            throw CookieError(.domain, "\(host.name) is an address and has no subdomains; make the cookie host-only")
        }
        try CookieSyntax.check(path: path)
        self.name = name
        self.value = value
        self.domain = host.name
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.creation = creation
        self.lastAccess = creation
        try CookiePrefix.check(self, pathWasExplicit: true)
    }

    /// The name and value as they stand in a `Cookie` field (RFC 6265 §5.4).
    public var pair: String { name.isEmpty ? value : "\(name)=\(value)" }
}

/// Checks a cookie's attributes against the requirements of its name's prefix and of `SameSite=None` (RFC 6265bis
/// §4.1.3 and §5.7).
enum CookiePrefix {
    static func check(_ cookie: Cookie, pathWasExplicit: Bool) throws(CookieError) {
        if cookie.sameSite == .none, !cookie.isSecure {
            throw CookieError(.sameSite, "SameSite=None needs Secure; add it to the cookie")
        }
        // A cookie without a name is sent as its bare value, which a server would read as a name (§5.7).
        guard !cookie.name.isEmpty else {
            guard !cookie.value.startsIgnoringCase(with: "__Secure-"), !cookie.value.startsIgnoringCase(with: "__Host-")
            else {
                throw CookieError(.prefix, "a nameless cookie's value must not begin with __Secure- or __Host-")
            }
            return
        }
        if cookie.name.startsIgnoringCase(with: "__Secure-"), !cookie.isSecure {
            throw CookieError(.prefix, "a name that begins with __Secure- needs Secure; add it to the cookie")
        }
        if cookie.name.startsIgnoringCase(with: "__Host-") {
            guard cookie.isSecure, cookie.isHostOnly, cookie.path == "/", pathWasExplicit else {
                throw CookieError(
                    .prefix,
                    "a name that begins with __Host- needs Secure, Path=/ and no Domain; set all three"
                )
            }
        }
    }
}

extension Cookie {
    /// The hosts that get a cookie.
    package struct Scope: Hashable, Sendable {
        private let domain: String
        private let isHostOnly: Bool

        fileprivate init(_ domain: String, isHostOnly: Bool) {
            self.domain = domain
            self.isHostOnly = isHostOnly
        }

        /// The scopes of all cookies that a URL's host can get, whatever the path and the scheme are.
        package static func all(for url: URL) -> [Scope] {
            guard let host = CookieLocation(url)?.host else { return [] }
            return [Scope(host.name, isHostOnly: true)] + host.suffixes.map { Scope($0, isHostOnly: false) }
        }
    }

    /// The hosts that get the cookie.
    package var scope: Scope { Scope(domain, isHostOnly: isHostOnly) }
}

extension Cookie.ID {
    /// Whether the host of a URL is the cookie's host, or a host below its domain (RFC 6265 §5.1.3).
    ///
    /// Path and scheme are not compared.
    package func covers(hostOf url: URL) -> Bool {
        guard let location = CookieLocation(url) else { return false }
        return isHostOnly ? location.host.name == domain : location.host.domainMatches(domain)
    }

    /// Whether another cookie belongs to this ID's domain, or to a domain below it.
    package func covers(domainOf other: Cookie) -> Bool {
        guard !isHostOnly, let host = CookieHost(other.domain) else { return other.domain == domain }
        return host.domainMatches(domain)
    }
}

/// One change that a mutation made to a jar.
///
/// Every mutation returns its changes in the order in which they happened, so that a caller can stream them or keep a
/// copy of the jar in step.
public enum CookieChange: Hashable, Sendable {
    /// A cookie with a new identity was stored.
    case added(Cookie)
    /// A cookie replaced one with the same identity, and differs from it in more than its last access.
    case changed(Cookie, from: Cookie)
    /// A cookie was removed, either by a caller or by a response that set an expiry date in the past.
    case removed(Cookie)
    /// A cookie reached its expiry date and was removed.
    case expired(Cookie)
    /// A cookie was removed to make room, because the jar was full.
    case evicted(Cookie)

    /// The cookie that changed; for a replacement, the new one.
    public var cookie: Cookie {
        switch self {
        case .added(let cookie), .changed(let cookie, from: _), .removed(let cookie), .expired(let cookie),
            .evicted(let cookie):
            cookie
        }
    }

    /// Whether the cookie is in the jar after the change.
    public var isPresent: Bool {
        switch self {
        case .added, .changed: true
        case .removed, .expired, .evicted: false
        }
    }
}

public import Foundation
public import WaystationCookies

/// The cookie that a login's token travels in: everything but its value.
public struct LoginCookie: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The host, or the domain whose hosts get the token, such as `shop.example`.
    public var domain: String
    /// Whether the token is for the host ``domain`` alone; false by default.
    ///
    /// Addresses need it.
    public var isHostOnly: Bool
    /// The path that a request's path has to match; `/` by default.
    public var path: String
    /// How long the token lasts where the provider does not say; nil, the default, for as long as the session.
    public var lifetime: Duration?
    /// Whether secure connections alone carry it; true by default.
    public var isSecure: Bool
    /// Whether it is kept from interfaces other than HTTP; true by default.
    public var isHTTPOnly: Bool
    /// Which site's requests carry it; `lax` by default.
    public var sameSite: SameSite

    /// A cookie of a name, for a domain and the hosts below it.
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

    /// The cookie with a token in it.
    ///
    /// - Throws: ``WaystationCookies/CookieError`` where a part could not be sent, such as a token with a line break.
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

/// What a provider brings: the token, and when it ends.
public struct LoginToken: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The cookie's value.
    public var value: String
    /// When it ends; nil leaves that to ``LoginCookie/lifetime``.
    public var expires: Date?

    /// A token.
    public init(_ value: String, expires: Date? = nil) {
        self.value = value
        self.expires = expires
    }

    /// A token that is known beforehand.
    public init(stringLiteral value: String) { self.init(value) }

    /// Says nothing of the value, so that no log holds it.
    public var description: String { "a token" }
}

/// Why a provider is asked.
public enum LoginReason: Hashable, Sendable, CustomStringConvertible {
    /// Nobody is logged in, and something needs a login.
    case signIn
    /// The server answered 401 to this token.
    case renewal(refused: LoginToken)

    /// The reason, without the token.
    public var description: String {
        switch self {
        case .signIn: "sign-in"
        case .renewal: "renewal"
        }
    }
}

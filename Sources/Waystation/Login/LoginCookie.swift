import Foundation
public import WaystationHTTP

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

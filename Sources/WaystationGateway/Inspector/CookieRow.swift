#if Gateway
import Foundation
import WaystationCookies

/// A cookie of the app's store without its value.
struct CookieRow: Encodable, Sendable {
    let domain: String
    let name: String
    let path: String
    let isHostOnly: Bool
    let isSecure: Bool
    let isHTTPOnly: Bool
    let sameSite: String
    /// Nil for a cookie that ends with the session.
    let expires: Date?

    init(_ cookie: Cookie) {
        domain = cookie.domain
        name = cookie.name
        path = cookie.path
        isHostOnly = cookie.isHostOnly
        isSecure = cookie.isSecure
        isHTTPOnly = cookie.isHTTPOnly
        expires = cookie.expires
        sameSite =
            switch cookie.sameSite {
            case .strict: "Strict"
            case .lax: "Lax"
            case .none: "None"
            case .unspecified: "not given"
            }
    }
}
#endif

import Foundation

/// The parts of a URL that decide about cookies.
struct CookieLocation {
    let host: CookieHost
    /// The path in the form in which it is sent; at least a slash.
    let path: String
    /// Whether the scheme's protocol is a secure one.
    let isSecure: Bool

    /// Returns `nil` for a scheme that carries no cookies and for a URL without a host.
    init?(_ url: URL) {
        // A relative URL gets its host from its base. The host is read decoded, because Foundation's encoded form has
        // percent signs for a name whose `xn--` form it knows.
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), let name = url.host(percentEncoded: false),
            let host = CookieHost(name)
        else { return nil }
        switch scheme {
        case "https", "wss": isSecure = true
        case "http", "ws": isSecure = false
        default: return nil
        }
        self.host = host
        // Paths are compared as they are sent; `URL.path` would decode the path and drop its last slash.
        let path = url.path(percentEncoded: true)
        self.path = path.hasPrefix("/") ? path : "/"
    }
}

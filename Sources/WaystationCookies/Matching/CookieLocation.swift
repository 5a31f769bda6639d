import Foundation

/// The parts of a URL that decide about cookies.
struct CookieLocation {
    let host: CookieHost
    /// The path in the form it is sent in; at least a slash.
    let path: String
    /// Whether the scheme's protocol is a secure one.
    let isSecure: Bool

    /// `nil` for a scheme that carries no cookies and for a URL without a host.
    init?(_ url: URL) {
        // `absoluteURL`: a relative URL has its host from its base. `percentEncoded`: what is compared is what is sent,
        // and `URL.path` would drop the last slash.
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), let name = url.host(percentEncoded: true),
            let host = CookieHost(name)
        else { return nil }
        switch scheme {
        case "https", "wss": isSecure = true
        case "http", "ws": isSecure = false
        default: return nil
        }
        self.host = host
        let path = url.path(percentEncoded: true)
        self.path = path.hasPrefix("/") ? path : "/"
    }
}

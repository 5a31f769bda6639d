package import Foundation

extension Cookie.ID {
    /// Whether the host of a URL is the cookie's, or one below its domain (RFC 6265 §5.1.3); path and scheme aside.
    package func covers(hostOf url: URL) -> Bool {
        guard let location = CookieLocation(url) else { return false }
        return isHostOnly ? location.host.name == domain : location.host.domainMatches(domain)
    }

    /// Whether a cookie belongs to the domain of this one, or to one below it.
    package func covers(domainOf other: Cookie) -> Bool {
        guard !isHostOnly, let host = CookieHost(other.domain) else { return other.domain == domain }
        return host.domainMatches(domain)
    }
}

package import Foundation

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

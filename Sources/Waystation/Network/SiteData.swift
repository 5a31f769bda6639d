import WaystationFoundation
import WaystationHTTP

/// The data of sites that responses from the network may remove by `Clear-Site-Data`.
///
/// Only a response over a secure connection may: any other one may have been changed on its way. Whether `http` to this
/// machine counts as secure is decided by the rules for cookies.
struct SiteData: Sendable {
    /// The interceptor's store of cookies; nil without one.
    let store: CookieStore?
    /// The cookies of the configuration's own storage.
    let storage: SetCookies
    /// Removes the stored responses of an origin; nil without a cache.
    let clearCache: (@Sendable (_ origin: String) -> Void)?

    /// Removes what the head of a final response demands.
    ///
    /// Call it before the cookies of the head are stored: a response may remove the cookies of a site and set new ones.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - request: The request that it answers, to its canonical URL.
    ///   - takesCookies: Whether responses to the request may change cookies.
    func clear(by head: ResponseHead, to request: URLRequest, takesCookies: Bool) {
        guard let value = head.rawValue(forHTTPHeaderField: ClearSiteData.field), let url = request.url,
            let demand = ClearSiteData(value), isTrustworthy(url)
        else { return }
        if demand.cookies, takesCookies {
            store?.clear(siteOf: url)
            storage.clear(siteOf: url, keepingThoseOf: head)
        }
        if demand.cache, let origin = CanonicalURL(url.absoluteString)?.origin { clearCache?(origin) }
    }

    private func isTrustworthy(_ url: URL) -> Bool {
        store?.sendsSecureCookies(to: url) ?? CookieRules().isSecure(url)
    }
}

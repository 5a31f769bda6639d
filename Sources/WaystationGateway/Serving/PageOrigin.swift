#if Gateway
import Foundation
import NIOHTTP1

/// The page from which a browser sends a request.
///
/// The app's cookies are not in the browser, so the browser's own checks of cross-site requests do not protect them
/// (RFC 6265bis §8.8). A page that the gateway does not show may lead to its pages and show their images, with the
/// cookies that `SameSite` allows; it may not read an answer or change anything.
enum PageOrigin {
    /// The document for the choice of the cookies by their `SameSite`; nil if the request counts as the site's own.
    ///
    /// - Throws: A refusal, if a page that the gateway does not show sends the request.
    static func document(of head: HTTPRequestHead, names: LocalNames) throws(Refusal) -> URL? {
        let origin = head.headers.first(name: "Origin")
        let page = origin ?? head.headers.first(name: "Referer")
        if let page, let remote = names.remote(page) { return URL(string: remote) }
        let site = head.headers.first(name: "Sec-Fetch-Site")
        let isForeign = origin != nil || site == "cross-site" || site == "same-site"
        guard isForeign else { return nil }
        // A link or an image: the browser says that another page asks for it, and keeps the answer from that page.
        guard origin == nil, head.method == .GET || head.method == .HEAD else {
            throw .crossSite(page ?? "a page of another site")
        }
        return elsewhere
    }

    /// A document of no site (RFC 6761 §6.4).
    private static let elsewhere = URL(string: "https://elsewhere.invalid/")
}

extension Refusal {
    static func crossSite(_ page: String) -> Refusal {
        Refusal(
            status: 403,
            message: """
                The request was sent by \(page.prefix(200)), which is not shown by this gateway. Only pages of the \
                gateway may send requests to it.
                """
        )
    }
}
#endif

#if Gateway
import Foundation
import NIOHTTP1
import Waystation
import WaystationHTTP

/// The page from which a browser sends a request.
///
/// The app's cookies are not in the browser, so the browser's own checks of cross-site requests do not protect them
/// (RFC 6265bis §8.8). A page that the gateway does not show may lead to its pages and show their images, with the
/// cookies that `SameSite` allows; it may not read an answer or change anything.
struct PageOrigin: Sendable {
    /// Finds the URL of a page that the gateway shows.
    ///
    /// - Parameters:
    ///   - page: The value of `Origin` or `Referer`.
    ///   - target: The URL that the page asks for.
    /// - Returns: The URL; nil if the gateway does not show the page.
    let remote: @Sendable (_ page: String, _ target: URL) -> URL?
    /// Whether two URLs are of one site.
    let isSameSite: @Sendable (URL, URL) -> Bool

    /// Finds the document for the choice of the cookies by their `SameSite`.
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - url: The URL of the resource.
    /// - Returns: The document; nil if the request counts as the site's own.
    /// - Throws: A refusal, if a page that the gateway does not show could change something, or read the answer.
    func document(of head: HTTPRequestHead, for url: URL) throws(Refusal) -> URL? {
        let site = head.headers.first(name: "Sec-Fetch-Site")
        // The browser says so itself; a page cannot set this field (Fetch Metadata §2).
        if site == "same-origin" || site == "none" { return nil }
        let origin = head.headers.first(name: "Origin")
        let page = origin ?? head.headers.first(name: "Referer")
        if let page, let remote = remote(page, url) {
            // The user follows a link from one site of the gateway to another.
            return head.isForDocument && !isSameSite(remote, url) ? CrossSite.link : remote
        }
        // A client that names neither a page nor a site is no browser that shows a page.
        guard page != nil || site != nil else { return nil }
        guard origin == nil, head.method == .GET || head.method == .HEAD, !head.opensWebSocket else {
            throw .crossSite(page ?? "a page of another site")
        }
        return head.isForDocument ? CrossSite.link : CrossSite.page
    }
}

extension HTTPRequestHead {
    /// Whether the browser will show the answer as a page of its own.
    var isForDocument: Bool { headers.first(name: "Sec-Fetch-Dest") == "document" }

    /// Whether the client asks to open a web socket (RFC 6455 §4.1).
    var opensWebSocket: Bool {
        method == .GET && version == .http1_1 && headers["Upgrade"].map { $0.lowercased() } == ["websocket"]
            && ConnectionFields.named(by: headers["Connection"]).contains("upgrade")
    }

    /// Whether the cookies of the request are all that the browser has for it: it leaves some out for other sites.
    var hasAllCookies: Bool {
        let site = headers.first(name: "Sec-Fetch-Site")
        return isForDocument && (site == "same-origin" || site == "none")
    }
}

extension Refusal {
    static func crossSite(_ page: String) -> Refusal {
        Refusal(
            status: 403,
            message: """
                The request was sent by \(page.shown(upTo: 200)), which is not shown by this gateway. Only pages of the \
                gateway may send requests to it.
                """
        )
    }
}
#endif

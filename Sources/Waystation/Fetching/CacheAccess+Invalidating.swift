import Foundation
import HTTPTypes
import WaystationCaching
import WaystationStorage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CacheAccess {
    /// The action for the head of a request's response: it drops the stored responses that the response invalidates
    /// (RFC 9111 §4.4).
    ///
    /// The action is run before the app gets the head, so that its next load does not get an outdated response.
    ///
    /// - Returns: The action; nil for a safe method, whose response invalidates nothing.
    func invalidation(after request: URLRequest) -> (@Sendable (ResponseHead) -> Void)? {
        guard let canonical = CanonicalRequest(request), !canonical.isSafe,
            let message = HTTPRequest(request, canonical: canonical)
        else { return nil }
        return { self.invalidate(after: message, $0) }
    }

    /// Drops the stored responses that a response invalidates.
    func invalidate(after request: HTTPRequest, _ head: ResponseHead) {
        for url in Invalidation(after: request, response: HTTPResponse(head)).urls {
            // Invalidates for every login, because the resource has changed for all of them.
            let url = URL(string: url).map(CanonicalRequest.storedURL(of:)) ?? url
            shared?.invalidate(.url(url))
            store.invalidate(.url(url))
        }
    }
}

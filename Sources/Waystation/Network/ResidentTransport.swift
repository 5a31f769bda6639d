package import Foundation
import WaystationCaching
package import WaystationTransport

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A transport of a rule that has whole responses in memory, for which a load needs no exchange.
package protocol ResidentTransport: Transport {
    /// Returns the response to a request, if it is in memory.
    ///
    /// A request that gets a response is not started, so the transport counts it here. The function is called on the
    /// loading queue: it must not wait, and must not call code of the app.
    ///
    /// - Parameter request: The request, as it would be sent; its body is no stream.
    /// - Returns: The response; nil if the request must be started.
    func residentResponse(to request: URLRequest) -> ResidentResponse?
}

/// A whole response in memory, after which its load ends.
package struct ResidentResponse: Sendable {
    private let head: ResponseHead
    /// The response of Foundation's for the URL of the head; nil if each load makes its own.
    private let made: HTTPURLResponse?
    package let body: Data

    /// Makes a response; nil for one that needs an exchange: a redirect, a request for credentials, or one that sets
    /// cookies, because storing them may wait for the disk.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - body: The body, without codings.
    ///   - isMade: Whether Foundation's response is made now, because one load with the URL of the head is expected.
    package init?(_ head: ResponseHead, _ body: Data, isMade: Bool = false) {
        guard head.statusCode != 401, !RedirectPolicy.statuses.contains(head.statusCode),
            head.value(forHTTPHeaderField: "Set-Cookie") == nil
        else { return nil }
        self.head = head.adding(CacheStatus(.forwarded(.bypass, status: head.statusCode)))
        self.body = body
        made = isMade ? self.head.response : nil
    }

    /// The response for a URL; nil if Foundation makes none of the head.
    func response(for url: URL) -> HTTPURLResponse? {
        if let made, made.url?.absoluteString == url.absoluteString { return made }
        return head.with(url).response
    }
}

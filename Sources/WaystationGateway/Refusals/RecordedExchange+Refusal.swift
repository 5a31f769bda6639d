#if Gateway
import Foundation
import NIOHTTP1
import Waystation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RecordedExchange {
    /// A request that the gateway refused, as far as its target can be written as a URL.
    ///
    /// - Parameters:
    ///   - refusal: The refusal.
    ///   - head: The head of the request.
    ///   - isSecured: Whether the request arrived over TLS.
    ///   - time: The time of the refusal.
    init?(_ refusal: Refusal, to head: HTTPRequestHead, isSecured: Bool, at time: Date) {
        guard let url = URL(string: head.target(isSecured: isSecured)),
            let response = HTTPURLResponse(
                url: url,
                statusCode: refusal.status,
                httpVersion: "HTTP/1.1",
                headerFields: [:]
            )
        else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = head.method.rawValue
        for (name, value) in head.headers { request.addValue(value, forHTTPHeaderField: name) }
        self.init(request: request, response: response, begun: time)
    }
}

extension HTTPRequestHead {
    /// The URL of the target as the client sees it, if the target has one.
    ///
    /// - Parameter isSecured: Whether the request arrived over TLS.
    /// - Returns: The URL, which may be malformed.
    func target(isSecured: Bool) -> String {
        if uri.hasPrefix("/") {
            return (isSecured ? "https://" : "http://") + (headers.first(name: "Host") ?? "") + uri
        }
        return method == .CONNECT ? "https://" + uri : uri
    }
}
#endif

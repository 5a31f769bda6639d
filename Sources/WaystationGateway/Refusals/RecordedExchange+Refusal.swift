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
        let target =
            if head.uri.hasPrefix("/") {
                (isSecured ? "https://" : "http://") + (head.headers.first(name: "Host") ?? "") + head.uri
            } else if head.method == .CONNECT {
                "https://" + head.uri
            } else {
                head.uri
            }
        guard let url = URL(string: target),
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
#endif

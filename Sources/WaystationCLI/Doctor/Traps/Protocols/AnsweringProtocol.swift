import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers each load at once, by one call of the client for each part of a body.
class AnsweringProtocol: URLProtocol {
    /// The parts of the body.
    var parts: [String] { [] }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        for part in parts { client?.urlProtocol(self, didLoad: Data(part.utf8)) }
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

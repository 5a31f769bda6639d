import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reports a redirect for each load of /from.
final class RedirectingProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/from" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, let next = URL(string: "/to", relativeTo: url),
            let head = HTTPURLResponse(url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: next), redirectResponse: head)
    }

    override func stopLoading() {}
}

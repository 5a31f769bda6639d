import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers each load by two parts of a body.
final class TwoPartProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        for part in ["first", "second"] { client?.urlProtocol(self, didLoad: Data(part.utf8)) }
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

/// Reports a redirect for each load.
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

/// A delegate that keeps the status of the first response that it gets.
final class FirstResponse: NSObject, URLSessionDataDelegate {
    private let found = AsyncStream<Int>.makeStream()

    /// The status; 0 if the load failed before there was one.
    var status: Int {
        get async { await found.stream.first { _ in true } ?? 0 }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        found.continuation.yield((response as? HTTPURLResponse)?.statusCode ?? 0)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        found.continuation.finish()
    }
}

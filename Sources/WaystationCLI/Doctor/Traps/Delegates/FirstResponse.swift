import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
        found.continuation.yield(response.status)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        found.continuation.finish()
    }
}

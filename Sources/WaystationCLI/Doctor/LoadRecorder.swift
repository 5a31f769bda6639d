import Synchronization
import WaystationFoundation

/// A delegate that collects the body of one load, and may refuse its response, suspend it or have a credential for it.
final class LoadRecorder: NSObject, URLSessionDataDelegate {
    struct Load: Sendable {
        var body = Data()
        var error: URLError.Code?
    }

    private let collected = Mutex(Load())
    private let ended = AsyncStream<Load>.makeStream()
    private let disposition: URLSession.ResponseDisposition
    private let credential: URLCredential?
    private let first: @Sendable (URLSessionTask) -> Void

    init(
        disposition: URLSession.ResponseDisposition = .allow,
        credential: URLCredential? = nil,
        first: @escaping @Sendable (URLSessionTask) -> Void = { _ in }
    ) {
        self.disposition = disposition
        self.credential = credential
        self.first = first
    }

    /// The load after its end.
    var load: Load {
        get async { await ended.stream.first { _ in true } ?? Load() }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(disposition) }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isFirst = collected.withLock { load in
            defer { load.body += data }
            return load.body.isEmpty
        }
        if isFirst { first(dataTask) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // A credential that was refused once is not sent again, so that the load ends.
        guard let credential, challenge.previousFailureCount == 0 else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let load = collected.withLock { load in
            load.error = (error as? URLError)?.code
            return load
        }
        ended.continuation.yield(load)
    }
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
        found.continuation.yield(response.status)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        found.continuation.finish()
    }
}

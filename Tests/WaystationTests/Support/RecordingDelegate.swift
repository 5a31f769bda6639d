import Foundation
import FoundationNetworking
import Synchronization

/// A session delegate that records its calls in order, and whose task's end a test can await.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    enum Call: Equatable {
        case response(Int)
        case data(Int)
        case redirect(to: String)
        case challenge(failures: Int)
        case downloaded(Int)
        case completed(URLError.Code?)
    }

    private struct State {
        var calls: [Call] = []
        var body = Data()
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isComplete = false
    }

    private let state = Mutex(State())
    private let disposition: URLSession.ResponseDisposition
    private let follow: @Sendable (URLRequest) -> URLRequest?
    private let credential:
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)
    private let received: @Sendable (URLSessionTask) -> Void

    init(
        disposition: URLSession.ResponseDisposition = .allow,
        follow: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
        credential:
            @escaping @Sendable (URLAuthenticationChallenge) -> (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) = { _ in (.performDefaultHandling, nil) },
        received: @escaping @Sendable (URLSessionTask) -> Void = { _ in }
    ) {
        self.disposition = disposition
        self.follow = follow
        self.credential = credential
        self.received = received
    }

    /// The recorded calls; consecutive calls with data are combined into one.
    var calls: [Call] {
        state.withLock { $0.calls }.reduce(into: []) { folded, call in
            if case .data(let more) = call, case .data(let sum)? = folded.last {
                folded[folded.count - 1] = .data(sum + more)
            } else {
                folded.append(call)
            }
        }
    }

    var body: Data { state.withLock { $0.body } }

    /// Waits for the end of a task.
    func completion() async {
        await withCheckedContinuation { continuation in
            let isComplete = state.withLock { state in
                if !state.isComplete { state.waiters.append(continuation) }
                return state.isComplete
            }
            if isComplete { continuation.resume() }
        }
    }

    private func note(_ call: Call) { state.withLock { $0.calls.append(call) } }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @Sendable @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        note(.response((response as? HTTPURLResponse)?.statusCode ?? -1))
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(.data(data.count))
        state.withLock { $0.body.append(data) }
        received(dataTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        note(.downloaded((try? Data(contentsOf: location).count) ?? -1))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLRequest?) -> Void
    ) {
        note(.redirect(to: request.url?.path ?? "-"))
        completionHandler(follow(request))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note(.challenge(failures: challenge.previousFailureCount))
        let (disposition, credential) = credential(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note(.completed((error as? URLError)?.code))
        let waiters = state.withLock { state in
            state.isComplete = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

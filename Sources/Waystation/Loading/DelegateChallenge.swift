import Synchronization
import WaystationFoundation
import WaystationTransport

/// Asks a task's delegate for credentials, as Foundation does.
enum DelegateChallenge {
    /// Asks the delegate, and reports how the request continues.
    ///
    /// - Parameters:
    ///   - task: The task whose delegate is asked; without a task or a delegate, the proposed credential is the answer.
    ///   - challenge: The challenge for the delegate.
    ///   - completion: Called once, on any thread.
    static func ask(
        _ task: URLSessionTask?,
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        guard let task, let delegate = task.delegate, let session = FoundationInternals.session(of: task) else {
            return completion(ChallengeAnswer(.performDefaultHandling, nil, for: challenge))
        }
        session.delegateQueue.addOperation {
            delegate.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
                completion(ChallengeAnswer(disposition, credential, for: challenge))
            }
        }
    }
}

/// A 401 that is the final answer.
///
/// When a task ends with a 401 whose challenge Foundation understands, Foundation asks for credentials again, and on
/// this toolchain waits for ever if it gets none. It finds the challenge by the response's URL. While a task is being
/// ended, the URL of this response is nil for the thread that ends the task.
final class UnchallengedResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked` because the superclass is; the only state added here is atomic.
    fileprivate let concludingThread = Atomic<UInt>(0)

    override var url: URL? { concludingThread.load(ordering: .relaxed) == currentThread ? nil : super.url }

    /// The same response, or a copy for which Foundation raises no challenge.
    static func settling(_ response: HTTPURLResponse) -> HTTPURLResponse {
        guard response.statusCode == 401, !(response is UnchallengedResponse), let url = response.url else {
            return response
        }
        let fields = response.allHeaderFields as? [String: String]
        return UnchallengedResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: fields)
            ?? response
    }
}

/// The calling thread; never zero.
private var currentThread: UInt { UInt(pthread_self()) }

extension UnchallengedResponse? {
    /// Ends a task by `body`, while the challenge is hidden from Foundation.
    func concluding(_ body: () -> Void) {
        self?.concludingThread.store(currentThread, ordering: .relaxed)
        body()
        self?.concludingThread.store(0, ordering: .relaxed)
    }
}

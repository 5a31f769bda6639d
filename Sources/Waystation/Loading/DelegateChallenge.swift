import Foundation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

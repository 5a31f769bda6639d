import Foundation
import FoundationNetworking

/// Asks a task's delegate for credentials, as Foundation would.
enum DelegateChallenge {
    /// Asks, and says what becomes of the request.
    ///
    /// - Parameters:
    ///   - task: Whose delegate is asked; without a task or a delegate the proposed credential is the answer.
    ///   - challenge: What is asked.
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

import Foundation
import FoundationNetworking

/// Gives a task its response, and asks its delegate what to do with it.
///
/// Foundation's client tells the delegate about a response and ignores what it answers. So that an answer
/// counts, Foundation's own call is taken back out of the delegate's queue and made here instead. When that
/// call cannot be told from others for certain, it stands, and the answer is ignored as on plain sessions.
enum ResponseAnnouncement {
    /// Whom a response was told to.
    enum Outcome {
        /// Nobody: go on.
        case unheard
        /// Foundation's own call stands, whose answer counts for nothing: go on.
        case told
        /// The delegate, which answers.
        case asked
    }

    /// Sets the response of the task, telling its delegate.
    ///
    /// To be called on the work queue.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - task: Whose it is.
    ///   - session: The task's.
    ///   - listener: Finds whom Foundation tells of it; called only when it tells somebody.
    ///   - receive: Gives it to the client.
    ///   - answer: What the listener wants done; called once when it was asked, on the delegate's queue.
    /// - Returns: Whom it was told to.
    static func make(
        _ response: HTTPURLResponse,
        for task: URLSessionTask,
        in session: URLSession?,
        listener: () -> Listener?,
        receive: (URLResponse) -> Void,
        answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) -> Outcome {
        guard let dataTask = task as? URLSessionDataTask, let session else {
            receive(response)
            return .told
        }
        var delegate: (any URLSessionDataDelegate)?
        let queued = withholdingCall(in: session, { receive(response) }) {
            delegate = listener()?.delegate as? any URLSessionDataDelegate
            return delegate != nil
        }
        guard queued > 0 else { return .unheard }
        guard let delegate else { return .told }
        session.delegateQueue.addOperation {
            delegate.urlSession(session, dataTask: dataTask, didReceive: response) { answer($0) }
        }
        return .asked
    }

    /// Sets the response of the task without a word to its delegate, which has heard of it already.
    static func replace(with response: HTTPURLResponse, for task: URLSessionTask, receive: (URLResponse) -> Void) {
        guard task.delegate != nil, let session = FoundationInternals.session(of: task) else {
            return receive(response)
        }
        _ = withholdingCall(in: session, { receive(response) }, if: { true })
    }

    /// Runs `body`, and takes the one call that it queued for the delegate back, if that is wanted.
    ///
    /// Where there is not exactly one, nothing is taken.
    ///
    /// - Returns: How many calls were queued meanwhile.
    private static func withholdingCall(in session: URLSession, _ body: () -> Void, if isWanted: () -> Bool) -> Int {
        let queue = session.delegateQueue
        let wasSuspended = queue.isSuspended
        queue.isSuspended = true
        defer { queue.isSuspended = wasSuspended }
        let earlier = queue.operations
        // Held until then: a new operation could lie where one that has ended lay, and pass for it.
        return withExtendedLifetime(earlier) {
            let before = Set(earlier.map(ObjectIdentifier.init))
            body()
            let queued = queue.operations.filter { !before.contains(ObjectIdentifier($0)) }
            if queued.count == 1, let call = queued.first, isWanted() { call.cancel() }
            return queued.count
        }
    }
}

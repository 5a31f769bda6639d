import Foundation
import FoundationNetworking

/// Gives a task its response, and asks its delegate what to do with it.
///
/// Foundation's client tells the delegate about a response and ignores what it answers. So that an answer
/// counts, Foundation's own call is taken back out of the delegate's queue and made here instead. When that
/// call cannot be told from others for certain, it stands, and the answer is ignored as on plain sessions.
enum ResponseAnnouncement {
    /// Sets the response of the task, telling its delegate.
    ///
    /// To be called on the work queue.
    ///
    /// - Returns: True when nobody is to be asked: go on. False when `answer` will be called, once, on the
    ///   delegate's queue.
    static func make(
        _ response: HTTPURLResponse,
        for task: URLSessionTask,
        receive: (URLResponse) -> Void,
        answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) -> Bool {
        guard let dataTask = task as? URLSessionDataTask,
            let session = FoundationInternals.session(of: task),
            let delegate = dataDelegate(of: task, in: session)
        else {
            receive(response)
            return true
        }
        guard withholdingCall(in: session, { receive(response) }) else { return true }
        session.delegateQueue.addOperation {
            delegate.urlSession(session, dataTask: dataTask, didReceive: response) { answer($0) }
        }
        return false
    }

    /// Sets the response of the task without a word to its delegate, which has heard of it already.
    static func replace(with response: HTTPURLResponse, for task: URLSessionTask, receive: (URLResponse) -> Void) {
        guard task.delegate != nil, let session = FoundationInternals.session(of: task) else {
            return receive(response)
        }
        _ = withholdingCall(in: session) { receive(response) }
    }

    /// The delegate that Foundation tells of a response.
    private static func dataDelegate(of task: URLSessionTask, in session: URLSession) -> (any URLSessionDataDelegate)? {
        switch FoundationInternals.audience(of: task, in: session) {
        case .delegate(let delegate): delegate as? any URLSessionDataDelegate
        case .completionHandler(let delegate): delegate as? any URLSessionDataDelegate
        case .nobody, nil: nil
        }
    }

    /// Runs `body`, and takes the one call that it queued for the delegate back.
    ///
    /// False when there was not exactly one: then nothing is taken.
    private static func withholdingCall(in session: URLSession, _ body: () -> Void) -> Bool {
        let queue = session.delegateQueue
        let wasSuspended = queue.isSuspended
        queue.isSuspended = true
        defer { queue.isSuspended = wasSuspended }
        let before = Set(queue.operations.map(ObjectIdentifier.init))
        body()
        let queued = queue.operations.filter { !before.contains(ObjectIdentifier($0)) }
        guard queued.count == 1, let call = queued.first else { return false }
        call.cancel()
        return true
    }
}

import WaystationFoundation

/// Gives a task its response, and asks its delegate what to do with it.
///
/// Foundation's client reports the response to the delegate and ignores the delegate's answer. To make the answer
/// count, Foundation's own call is removed from the delegate's queue and made here instead. When that call cannot be
/// identified with certainty, it stays, and the answer is ignored as on plain sessions.
enum ResponseAnnouncement {
    /// The recipient of a response.
    enum Outcome {
        /// No delegate got the response: continue.
        case unheard
        /// Foundation's own call was left in place, and its answer is ignored: continue.
        case told
        /// The delegate was asked, and answers.
        case asked
    }

    /// Sets the response of the task, and reports it to the task's delegate.
    ///
    /// Call it on the work queue.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - task: The task that gets the response.
    ///   - session: The task's session.
    ///   - listener: Finds the delegate that Foundation reports the response to; called only when Foundation calls one.
    ///   - receive: Passes the response to the client.
    ///   - answer: Called once with the listener's decision if the listener was asked, on the delegate's queue.
    /// - Returns: The recipient of the response.
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

    /// Sets the response of the task without a call of its delegate, which has already got it.
    ///
    /// Call it on the work queue.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - task: The task that gets the response.
    ///   - session: The task's session.
    ///   - listener: Finds the delegate to which Foundation reports the response. Without a delegate, a call that
    ///     is queued meanwhile is the app's own, and is kept.
    ///   - receive: Passes the response to the client.
    static func replace(
        with response: HTTPURLResponse,
        for task: URLSessionTask,
        in session: URLSession?,
        listener: () -> Listener?,
        receive: (URLResponse) -> Void
    ) {
        guard let session else { return receive(response) }
        _ = withholdingCall(in: session, { receive(response) }) {
            switch task {
            case is URLSessionDataTask: listener()?.delegate is any URLSessionDataDelegate
            case is URLSessionWebSocketTask: listener()?.delegate is any URLSessionWebSocketDelegate
            default: false
            }
        }
    }

    /// Runs `body`, and cancels the one call that it queued for the delegate if `isWanted` returns true.
    ///
    /// If `body` queued no call or more than one, nothing is cancelled.
    ///
    /// - Returns: The number of calls that were queued meanwhile.
    private static func withholdingCall(in session: URLSession, _ body: () -> Void, if isWanted: () -> Bool) -> Int {
        let queue = session.delegateQueue
        let wasSuspended = queue.isSuspended
        queue.isSuspended = true
        defer { queue.isSuspended = wasSuspended }
        let earlier = queue.operations
        // The earlier operations are kept alive until then: otherwise a new operation could get the address of an ended
        // one and be mistaken for it.
        return withExtendedLifetime(earlier) {
            let before = Set(earlier.map(ObjectIdentifier.init))
            body()
            let queued = queue.operations.filter { !before.contains(ObjectIdentifier($0)) }
            if queued.count == 1, let call = queued.first, isWanted() { call.cancel() }
            return queued.count
        }
    }
}

import Foundation
import FoundationNetworking
import Synchronization

/// The load of one task that is answered in more than one step.
///
/// Sources add items from any thread. The items wait in a ``Delivery`` and are delivered to the client on the session's
/// work queue.
final class Load: Sendable {
    private struct State {
        var delivery = Delivery()
        /// Whether a visit of the work queue for enqueued items was requested and has not happened yet.
        var isVisitDue = false
        var client: LoadClient?
        /// Bytes that wait for a completion handler, which gets all of them in one piece.
        var gathered = Data()
        var response: HTTPURLResponse?
        /// The delegate that gets the task's bytes and progress; the outer nil means that it was not looked up yet.
        var listener: Listener??
        /// Whether no delegate gets the bytes; the progress of the request's body may be reported all the same.
        var areBytesUnheard = false
        var cancelWork: (@Sendable () -> Void)?
        var restartWork: (@Sendable (Load) -> Void)?
        /// The load's place among the loads of a login, which it leaves at its end.
        var place: LoginPlace?
        /// The number of this load's bytes that the backlog counts.
        var counted = 0
        /// The number of bytes that were given to the delegate's queue and that the queue has not reached yet.
        var untaken = 0
        /// The number of untaken bytes that no mark on the delegate's queue covers yet.
        var unmarked = 0

        /// Updates ``counted`` and returns the difference to add to the backlog.
        mutating func recount() -> Int {
            let difference = delivery.deliverableBytes - counted
            counted += difference
            return difference
        }
    }

    /// The number of items that one visit of the loading queue delivers.
    ///
    /// Other loads, and a cancel, get their turn between visits.
    private static let visitLimit = 64
    /// The number of bytes that may wait on the delegate's queue; the rest waits here.
    private static let untakenLimit = 1 << 20
    /// The number of bytes after which a mark is put on the delegate's queue, to learn that the queue has reached them.
    private static let markInterval = 256 << 10

    let task: URLSessionTask
    private let session: LoadingSession?
    private let queue: LoadingQueue
    private let state: Mutex<State>
    private let backlog: LoadBacklog

    /// Makes a load.
    ///
    /// Call it on the work queue.
    init(_ client: LoadClient, _ backlog: LoadBacklog) {
        task = client.task
        self.backlog = backlog
        session = LoadingSession.current(for: client.task)
        queue = LoadingQueue(of: client.task, in: session)
        state = Mutex(State(client: client))
    }

    deinit { backlog.change(by: -state.withLock { $0.counted }) }

    /// Changes the state, and updates the backlog by the difference.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, difference) = state.withLock { state in
            let result = body(&state)
            return (result, state.recount())
        }
        backlog.change(by: difference)
        return result
    }

    // MARK: - The session's side, on the work queue

    /// Returns what `startLoading` means now; delivers the pending items if the task was resumed.
    func start() -> Delivery.Start {
        let start = change { $0.delivery.start() }
        if start == .resume { drain() }
        return start
    }

    /// Handles the session's call of `stopLoading`.
    func stop(_ reason: StopReason) {
        switch reason {
        case .suspension: change { $0.delivery.suspend() }
        case .cancellation: cancel()
        case .overtaken: break
        }
    }

    private func cancel() {
        let work = change { state -> (@Sendable () -> Void)? in
            guard state.delivery.cancel() else { return nil }
            state.client = nil
            state.restartWork = nil
            return state.cancelWork.take()
        }
        work?()
        leavePlace()
    }

    // MARK: - The sources' side, from any thread

    /// Whether the load is over: nothing more can be delivered.
    var hasEnded: Bool { state.withLock { $0.delivery.hasEnded || $0.delivery.isAborted } }

    /// Whether the end was reported to the client, so that it may get nothing more.
    var hasToldEnd: Bool { state.withLock { $0.delivery.hasToldEnd } }

    /// Registers the action that stops the work behind the load; runs it at once when the load is over.
    func onCancel(_ work: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            let isOver = state.delivery.hasEnded || state.delivery.isAborted
            if !isOver { state.cancelWork = work }
            return isOver
        }
        if isOver { work() }
    }

    // MARK: - Under a login

    /// Whether the load has a place among the loads of a login.
    var hasPlace: Bool { state.withLock { $0.place != nil } }

    /// Keeps a place until the load ends.
    func take(_ place: LoginPlace) {
        let isOver = state.withLock { state in
            if !state.delivery.hasEnded { state.place = place }
            return state.delivery.hasEnded
        }
        if isOver { place.leave() }
    }

    private func leavePlace() {
        // The place is released outside the lock, because leaving it resumes other code.
        let place = state.withLock { $0.place.take() }
        place?.leave()
    }

    /// Ends the load from outside: only the error is delivered.
    ///
    /// Leaves the place once that is certain.
    func abort(_ error: URLError, leaving place: LoginPlace?) {
        let work: (@Sendable () -> Void)? = change { state in
            guard state.delivery.abort(error) else { return nil }
            state.gathered = Data()
            state.restartWork = nil
            return state.cancelWork.take()
        }
        work?()
        // The hop runs after any delivery that is under way now. Without a known queue the hop may never run, so the
        // place is left at once.
        if !queue.isKnown { place?.leave() }
        queue.hop {
            self.drain()
            place?.leave()
        }
    }

    /// Registers the action that restarts the load.
    func onRestart(_ work: @escaping @Sendable (Load) -> Void) {
        state.withLock { $0.restartWork = work }
    }

    /// Restarts the load, because its answer turned out to be unusable before any part of it was delivered.
    ///
    /// A load restarts only once; returns false the second time.
    func restart() -> Bool {
        guard let work = state.withLock({ $0.restartWork.take() }) else { return false }
        work(self)
        return true
    }

    /// Delivers items in order.
    func deliver(_ items: Delivery.Item...) {
        let needsVisit = change { state in
            guard items.reduce(false, { state.delivery.enqueue($1) || $0 }), !state.isVisitDue else { return false }
            // One visit delivers all items that have arrived by then. Without a known queue a visit is not certain, so
            // each call asks for one.
            state.isVisitDue = queue.isKnown
            return true
        }
        if needsVisit { queue.hop { self.drain() } }
    }

    // MARK: - Delivering, on the work queue

    private func drain() {
        state.withLock { $0.isVisitDue = false }
        var delivered = 0
        while let (item, client) = nextItem() {
            switch item {
            case .response(let response): announce(response, to: client)
            case .data(let data): take(data, for: client)
            case .reached(let work): work()
            case .end(let error): end(error, client)
            }
            delivered += 1
            if delivered >= Self.visitLimit, queue.isKnown { return visit() }
        }
    }

    /// The next item to deliver, unless too many bytes already wait for the delegate.
    private func nextItem() -> (Delivery.Item, LoadClient)? {
        change { state in
            // Without a way back to this queue, the load cannot wait for the delegate.
            guard state.untaken < Self.untakenLimit || !queue.isKnown else { return nil }
            return state.delivery.next().flatMap { item in state.client.map { (item, $0) } }
        }
    }

    /// Requests one more visit of the loading queue, after the work that already waits there.
    private func visit() {
        let isDue = state.withLock { state in
            defer { state.isVisitDue = true }
            return state.isVisitDue
        }
        if !isDue { queue.hop { self.drain() } }
    }

    private func announce(_ response: HTTPURLResponse, to client: LoadClient) {
        let settled = UnchallengedResponse.settling(response)
        state.withLock { state in
            state.response = settled
            // A second response replaces the first one: a refused request was sent again.
            state.gathered = Data()
        }
        let outcome = ResponseAnnouncement.make(
            settled,
            for: client.task,
            in: session?.session,
            listener: { listener },
            receive: client.receive
        ) { disposition in
            if disposition == .cancel { return self.refuse() }
            self.change { $0.delivery.allow() }
            self.queue.hop { self.drain() }
        }
        if case .asked = outcome { return }
        // If the session has no delegate, a task whose response no delegate got has no delegate for bytes either: no
        // need to look.
        let isUnheard = if case .unheard = outcome { session?.session?.delegate == nil } else { false }
        change { state in
            state.delivery.allow()
            if isUnheard { state.areBytesUnheard = true }
        }
    }

    /// Ends the load, because the delegate refused the response.
    ///
    /// As on other platforms the task ends as cancelled.
    private func refuse() {
        queue.hop {
            let (client, work) = self.change { state -> (LoadClient?, (@Sendable () -> Void)?) in
                guard state.delivery.refuse() else { return (nil, nil) }
                return (state.client.take(), state.cancelWork.take())
            }
            work?()
            client?.fail(URLError(.cancelled, failing: self.task.originalRequest?.url))
            self.leavePlace()
        }
    }

    private func take(_ data: Data, for client: LoadClient) {
        let listener = byteListener
        if let listener, listener.takesPieces {
            client.load(data)
            return mark(data.count, on: listener.session.delegateQueue)
        }
        state.withLock { $0.gathered.append(data) }
        // A caller that passed a delegate with its call gets the whole body itself; its delegate gets the bytes too.
        guard let listener, let observer = listener.delegate as? any URLSessionDataDelegate,
            let dataTask = task as? URLSessionDataTask
        else { return }
        let session = listener.session
        session.delegateQueue.addOperation { observer.urlSession(session, dataTask: dataTask, didReceive: data) }
    }

    /// Counts bytes that were given to the delegate until the delegate's queue has reached them.
    ///
    /// On that queue each part takes memory until its call is made. A delegate that is slower than the network gets
    /// only as much as it takes; the rest waits here, which slows the network down.
    private func mark(_ count: Int, on delegateQueue: OperationQueue) {
        let marked = state.withLock { state in
            state.untaken += count
            state.unmarked += count
            guard state.unmarked >= Self.markInterval else { return 0 }
            defer { state.unmarked = 0 }
            return state.unmarked
        }
        guard marked > 0, queue.isKnown else { return }
        delegateQueue.addOperation {
            let wasFull = self.state.withLock { state in
                defer { state.untaken -= marked }
                return state.untaken >= Self.untakenLimit
            }
            if wasFull { self.visit() }
        }
    }

    /// Reports the progress of the request's body to the task's delegate, or to the delegate of the one call that made
    /// the task.
    func deliverProgress(_ count: Int64, total: Int64, expected: Int64) {
        deliver(.reached { self.tellProgress(count, total: total, expected: expected) })
    }

    private func tellProgress(_ count: Int64, total: Int64, expected: Int64) {
        guard let listener else { return }
        let task = task
        listener.session.delegateQueue.addOperation {
            listener.delegate.urlSession(
                listener.session,
                task: task,
                didSendBodyData: count,
                totalBytesSent: total,
                totalBytesExpectedToSend: expected
            )
        }
    }

    /// Whether a delegate gets each piece as it arrives.
    ///
    /// A completion handler gets only the last piece. So for a completion handler, and when the listener is not known,
    /// all bytes are gathered first. Read it on the work queue.
    var isStreamed: Bool { byteListener?.takesPieces ?? false }

    /// The delegate that gets the bytes.
    private var byteListener: Listener? {
        state.withLock(\.areBytesUnheard) ? nil : listener
    }

    private var listener: Listener? {
        if let known = state.withLock({ $0.listener }) { return known }
        let found = session?.listener(of: task)
        state.withLock { $0.listener = .some(found) }
        return found
    }

    private func end(_ error: (any Error)?, _ client: LoadClient) {
        let (gathered, response) = state.withLock { state in
            defer {
                state.client = nil
                state.cancelWork = nil
                state.restartWork = nil
                state.gathered = Data()
            }
            return (state.gathered, state.response)
        }
        defer { leavePlace() }
        if let error { return client.fail(error) }
        if !gathered.isEmpty { client.load(gathered) }
        client.finish(response)
    }
}

extension Optional {
    /// Returns the value and sets the optional to nil.
    mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

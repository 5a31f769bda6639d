import Foundation
import FoundationNetworking
import Synchronization

/// One task's load that is answered in more than one step.
///
/// Sources speak from any thread; what they say waits in a ``Delivery`` until the session's work queue is
/// reached, and goes to the client there.
final class Load: Sendable {
    private struct State {
        var delivery = Delivery()
        /// Whether the work queue will be visited for what was enqueued, and has not been yet.
        var isVisitDue = false
        var client: LoadClient?
        /// Bytes that wait for a completion handler, which takes all of them in one piece.
        var gathered = Data()
        var response: HTTPURLResponse?
        /// Who listens; nil until that is known.
        var listener: Listener??
        /// Whether nobody is told of the bytes; the progress of a request's body may be told all the same.
        var areBytesUnheard = false
        var cancelWork: (@Sendable () -> Void)?
        var restartWork: (@Sendable (Load) -> Void)?
        /// Its place among the loads of a login, left at its end.
        var place: LoginPlace?
        /// How many of its bytes the backlog counts.
        var counted = 0
        /// How many bytes were given to the delegate's queue, and not reached there yet.
        var untaken = 0
        /// How many of these no call on the delegate's queue answers for yet.
        var unmarked = 0

        /// What the backlog counts too few of.
        mutating func recount() -> Int {
            let difference = delivery.deliverableBytes - counted
            counted += difference
            return difference
        }
    }

    /// How many items one visit of the loading queue delivers: other loads, and a cancel, get their turn between visits.
    private static let visitLimit = 64
    /// How many bytes may wait on the delegate's queue; the rest waits here.
    private static let untakenLimit = 1 << 20
    /// After how many bytes the delegate's queue is asked to tell that it has reached them.
    private static let markInterval = 256 << 10

    let task: URLSessionTask
    private let session: LoadingSession?
    private let queue: LoadingQueue
    private let state: Mutex<State>
    private let backlog: LoadBacklog

    /// To be made on the work queue.
    init(_ client: LoadClient, _ backlog: LoadBacklog) {
        task = client.task
        self.backlog = backlog
        session = LoadingSession.current(for: client.task)
        queue = LoadingQueue(of: client.task, in: session)
        state = Mutex(State(client: client))
    }

    deinit { backlog.change(by: -state.withLock { $0.counted }) }

    /// Changes what is delivered, and keeps the backlog right.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, difference) = state.withLock { state in
            let result = body(&state)
            return (result, state.recount())
        }
        backlog.change(by: difference)
        return result
    }

    // MARK: - The session's side, on the work queue

    /// Says what `startLoading` means now, and delivers what is pending.
    func start() -> Delivery.Start {
        let start = change { $0.delivery.start() }
        if start == .resume { drain() }
        return start
    }

    /// The session called `stopLoading`.
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

    /// Whether the client was told the end, and may be told nothing more.
    var hasToldEnd: Bool { state.withLock { $0.delivery.hasToldEnd } }

    /// Registers what stops the work behind the load; runs it at once when the load is over.
    func onCancel(_ work: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            let isOver = state.delivery.hasEnded || state.delivery.isAborted
            if !isOver { state.cancelWork = work }
            return isOver
        }
        if isOver { work() }
    }

    // MARK: - Under a login

    /// Whether it has a place among the loads of a login.
    var hasPlace: Bool { state.withLock { $0.place != nil } }

    /// Keeps a place until the end.
    func take(_ place: LoginPlace) {
        let isOver = state.withLock { state in
            if !state.delivery.hasEnded { state.place = place }
            return state.delivery.hasEnded
        }
        if isOver { place.leave() }
    }

    private func leavePlace() {
        // Let go of outside the lock: that tells others.
        let place = state.withLock { $0.place.take() }
        place?.leave()
    }

    /// Ends the load from outside, with nothing more told than the error, and leaves a place once that is sure.
    func abort(_ error: URLError, leaving place: LoginPlace?) {
        let work: (@Sendable () -> Void)? = change { state in
            guard state.delivery.abort(error) else { return nil }
            state.gathered = Data()
            state.restartWork = nil
            return state.cancelWork.take()
        }
        work?()
        // Behind whatever is being told right now; nobody may wait for what may not come.
        if !queue.isKnown { place?.leave() }
        queue.hop {
            self.drain()
            place?.leave()
        }
    }

    /// Registers what makes the load anew.
    func onRestart(_ work: @escaping @Sendable (Load) -> Void) {
        state.withLock { $0.restartWork = work }
    }

    /// Makes the load anew, because what was to answer it turned out to be unusable before anything of it was told.
    ///
    /// Once: false when that was done before.
    func restart() -> Bool {
        guard let work = state.withLock({ $0.restartWork.take() }) else { return false }
        work(self)
        return true
    }

    /// Delivers items in order.
    func deliver(_ items: Delivery.Item...) {
        let needsVisit = change { state in
            guard items.reduce(false, { state.delivery.enqueue($1) || $0 }), !state.isVisitDue else { return false }
            // One visit takes all that has come by then; but it must be sure to come.
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

    /// The next item to deliver, unless the delegate has too much before it already.
    private func nextItem() -> (Delivery.Item, LoadClient)? {
        change { state in
            // Without a way back to this queue there is no waiting for the delegate.
            guard state.untaken < Self.untakenLimit || !queue.isKnown else { return nil }
            return state.delivery.next().flatMap { item in state.client.map { (item, $0) } }
        }
    }

    /// Visits the loading queue once more, behind what waits there.
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
            // A second response takes the first one's place: a refused request was sent again.
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
        // Without a delegate of the session's, who is not told of the response is not told of bytes: no need to look.
        let isUnheard = if case .unheard = outcome { session?.session?.delegate == nil } else { false }
        change { state in
            state.delivery.allow()
            if isUnheard { state.areBytesUnheard = true }
        }
    }

    /// The delegate wants no more than the response.
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
        // The delegate of one call hears of the bytes beside the caller, who gets them.
        guard let listener, let observer = listener.delegate as? any URLSessionDataDelegate,
            let dataTask = task as? URLSessionDataTask
        else { return }
        let session = listener.session
        session.delegateQueue.addOperation { observer.urlSession(session, dataTask: dataTask, didReceive: data) }
    }

    /// Counts bytes that were given to the delegate until its queue has reached them.
    ///
    /// On that queue each part takes memory until its call is made. A delegate that is slower than the network gets no
    /// more than it takes; the network is slowed down by what then waits here.
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

    /// Tells the delegate of the task, or of the one call that made it, how much of its body has left.
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

    /// Whether each piece goes to a delegate as it comes.
    ///
    /// A completion handler gets the last piece alone, so for it, and where it cannot be told, everything is gathered
    /// first. To be read on the work queue.
    var isStreamed: Bool { byteListener?.takesPieces ?? false }

    /// Who is told of bytes.
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
    /// The value, leaving nil behind.
    mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

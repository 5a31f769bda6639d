import Dispatch
import Synchronization
import WaystationFoundation
import WaystationStorage

/// The items that wait for delivery to the client of a load, and which of them may be delivered now.
///
/// This type is a state machine without side effects. Events of the client and of the sources of a load arrive as
/// method calls, and the required action is returned as a value. It makes sure that nothing is delivered twice, out of
/// order, while the load is suspended, before the client has agreed to the response, or after the end.
struct Delivery {
    /// One item to deliver to the client.
    enum Item {
        case response(ResponseHead)
        case data(Data)
        /// Work to run on the client's queue, after all earlier items were delivered.
        case reached(@Sendable () -> Void)
        case end((any Error)?)
    }

    private enum Phase { case idle, running, suspended, ended, cancelled }

    private var phase = Phase.idle
    private var items: Queue<Item> = []
    /// The number of bytes that wait for the client, also while the load is suspended.
    private(set) var pendingBytes = 0
    private var awaitsDisposition = false

    /// The number of bytes that wait for the client.
    ///
    /// Zero while they wait for the load to be resumed.
    var deliverableBytes: Int { phase == .running ? pendingBytes : 0 }

    /// Whether the load is about to end with an error from outside: no other item is delivered any more.
    private(set) var isAborted = false

    /// Whether the load is over, because it ended or was cancelled.
    var hasEnded: Bool { phase == .ended || phase == .cancelled }

    /// Whether the end was reported to the client, so that no other end may be reported.
    var hasReportedEnd: Bool { phase == .ended }

    /// Begins the delivery, or continues it after a suspension; changes nothing after the end.
    mutating func start() {
        if phase == .idle || phase == .suspended { phase = .running }
    }

    mutating func suspend() {
        if phase == .running { phase = .suspended }
    }

    /// Ends the load.
    ///
    /// - Returns: The items that were not delivered, which the caller releases outside of its lock, because a body may be
    ///   an object of a transport; nil when the load was already over.
    mutating func cancel() -> Queue<Item>? {
        guard !hasEnded else { return nil }
        phase = .cancelled
        pendingBytes = 0
        defer { items = [] }
        return items
    }

    /// Ends the load early, because its response was refused: the client gets the end at once.
    ///
    /// - Returns: As ``cancel()``.
    mutating func refuse() -> Queue<Item>? {
        let dropped = cancel()
        if dropped != nil { phase = .ended }
        return dropped
    }

    /// Drops the items that were not delivered, and makes an error the next item.
    ///
    /// - Returns: As ``cancel()``.
    mutating func abort(_ error: any Error) -> Queue<Item>? {
        guard !hasEnded, !isAborted else { return nil }
        isAborted = true
        defer { items = [.end(error)] }
        pendingBytes = 0
        // The client's answer to the response no longer matters.
        awaitsDisposition = false
        return items
    }

    /// Adds an item, or drops it when the load has ended.
    ///
    /// Returns true when the client's queue must be visited to deliver the item.
    mutating func enqueue(_ item: Item) -> Bool {
        guard !hasEnded, !isAborted else { return false }
        if case .data(let data) = item { pendingBytes += data.count }
        items.append(item)
        return true
    }

    /// The next item to deliver to the client, if one may be delivered now.
    mutating func next() -> Item? {
        guard phase == .running, !awaitsDisposition, let item = items.popFirst() else { return nil }
        switch item {
        case .response: awaitsDisposition = true
        case .data(let data): pendingBytes -= data.count
        case .reached: break
        case .end: phase = .ended
        }
        return item
    }

    /// Records that the client agreed to the response.
    mutating func allow() {
        awaitsDisposition = false
    }
}

/// Delivers a response and its long body from a source to the client of a load.
///
/// A client that keeps the parts gets the body in one piece. A client that passes them on gets it in chunks, only as
/// fast as it takes them, so that memory use stays flat.
///
/// The response is delivered with the first bytes: if those cannot be read, nothing has been delivered yet, and the
/// load restarts.
struct BodyPump: Sendable {
    enum End: Sendable {
        case complete
        case failed(URLError)
        /// Nothing was delivered; the load restarts.
        case restarted(URLError)
    }

    let head: ResponseHead
    let source: any BodySource
    let journey: Journey
    let ended: @Sendable (End) -> Void

    /// Starts to deliver.
    ///
    /// Call it on the client's queue.
    func start(_ client: any JourneyClient) {
        read(at: 0, chunk: client.pieceLength ?? source.length)
    }

    private func read(at offset: Int, chunk: Int) {
        DispatchQueue.global().async {
            guard !journey.hasEnded else { return }
            guard offset < source.length || offset == 0 else { return end() }
            do {
                let data = try source.read(at: offset, count: min(chunk, source.length - offset))
                let next = offset + data.count
                if offset == 0 { journey.deliver(.response(head)) }
                guard !data.isEmpty else { return end() }
                journey.deliver(.data(data))
                journey.deliver { client in client.whenPassedOn { read(at: next, chunk: chunk) } }
            } catch {
                fail(
                    URLError(
                        .cannotDecodeRawData,
                        failing: journey.context.request.url,
                        "\(error)",
                        underlying: error
                    ),
                    at: offset
                )
            }
        }
    }

    private func end() {
        ended(.complete)
        journey.deliver(.end(nil))
    }

    private func fail(_ error: URLError, at offset: Int) {
        if offset == 0, journey.restart() { return ended(.restarted(error)) }
        ended(.failed(error))
        journey.deliver(.end(error))
    }
}

/// The delivery to the client, and the client's control of the load.
extension Journey {
    /// The number of items that one visit of the client's queue delivers.
    ///
    /// Other loads, and a cancel, get their turn between visits.
    private static let visitLimit = 64

    /// Changes the state, updates the backlog by the difference, and pauses the exchange while too many bytes wait.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, difference, hasNewPace) = state.withLock { state in
            let result = body(&state)
            let hasNewPace = state.waiting.update(state.delivery.pendingBytes)
            if hasNewPace { state.upstream.isPaused = state.waiting.isOver }
            return (result, state.recount(), hasNewPace)
        }
        context.environment.backlog.change(by: difference)
        if hasNewPace { state.keepPace() }
        return result
    }

    // MARK: - The client's side, on its queue

    /// Begins the delivery, or continues it when the load was suspended.
    func start() {
        change { $0.delivery.start() }
        drain()
    }

    /// Delivers nothing more until the next ``start()``.
    func suspend() {
        change { $0.delivery.suspend() }
    }

    /// Ends the load; the client gets no more calls.
    package func cancel() {
        guard let ending = change({ state in state.delivery.cancel().map { state.stopping($0) } }) else { return }
        carryOut(ending)
        place.leave()
    }

    /// Whether the end was reported to the client, so that it may get nothing more.
    var hasReportedEnd: Bool { state.withLock { $0.delivery.hasReportedEnd } }

    // MARK: - From any thread

    /// Whether the load is over: nothing more can be delivered.
    var hasEnded: Bool { state.withLock { $0.delivery.hasEnded || $0.delivery.isAborted } }

    /// Delivers items in order.
    func deliver(_ items: Delivery.Item...) {
        let client = change { state in
            items.reduce(nil) { state.enqueue($1, isReachable: isClientReachable) ?? $0 }
        }
        client?.perform { self.drain() }
    }

    /// Runs work on the client's queue, after all earlier items were delivered.
    func deliver(_ work: @escaping @Sendable (any JourneyClient) -> Void) {
        deliver(
            .reached {
                if let client = self.state.withLock(\.client) { work(client) }
            }
        )
    }

    /// Continues the delivery on the client's queue, after the work that already waits there.
    package func continueDelivery() {
        let client: (any JourneyClient)? = state.withLock { state in
            guard !state.isVisitDue else { return nil }
            state.isVisitDue = true
            return state.client
        }
        client?.perform { self.drain() }
    }

    // MARK: - On the client's queue

    func drain() {
        state.withLock { $0.isVisitDue = false }
        var delivered = 0
        while let (item, client) = nextItem() {
            switch item {
            case .response(let response): announce(response, to: client)
            case .data(let data): client.take(data, of: self)
            case .reached(let work): work()
            case .end(let error): end(error, client)
            }
            delivered += 1
            if delivered >= Self.visitLimit, isClientReachable { return continueDelivery() }
        }
    }

    /// The next item to deliver, unless the client is not ready; the end of an aborted load does not wait for that.
    private func nextItem() -> (Delivery.Item, any JourneyClient)? {
        let (client, isAborted) = state.withLock { ($0.client, $0.delivery.isAborted) }
        guard let client, isAborted || client.isReady else { return nil }
        return change { $0.delivery.next() }.map { ($0, client) }
    }

    private func announce(_ response: ResponseHead, to client: any JourneyClient) {
        let continues = client.take(response) { continues in
            guard continues else { return self.refuse() }
            self.change { $0.delivery.allow() }
            client.perform { self.drain() }
        }
        if continues { change { $0.delivery.allow() } }
    }

    /// Ends the load, because the client refused the response.
    ///
    /// As on other platforms the task ends as cancelled.
    private func refuse() {
        guard let client = state.withLock(\.client) else { return }
        client.perform {
            guard let ending = self.change({ state in state.delivery.refuse().map { state.stopping($0) } }) else {
                return
            }
            self.carryOut(ending)
            client.end(URLError(.cancelled, failing: self.context.request.url, "the delegate refused the response"))
            self.place.leave()
        }
    }

    private func end(_ error: (any Error)?, _ client: any JourneyClient) {
        _ = change { state in
            state.client = nil
            return state.upstream.end()
        }
        client.end(error)
        place.leave()
    }

    /// Stops the work behind a load that was ended from outside.
    ///
    /// - Parameters:
    ///   - ending: The state of the load when it was ended.
    ///   - error: The error that ends it; nil for a cancel.
    private func carryOut(_ ending: State.Ending, error: URLError? = nil) {
        ending.left?.carryOut()
        guard ending.isExplained else {
            return context.emit(error.map(LoadEvent.Kind.failed) ?? .cancelled, decidedBy: ending.rule)
        }
        // The event has said where the answer comes from, but the answer is not delivered to its end.
        if error == nil { context.recording?.wasCancelled(decidedBy: ending.rule) }
    }

    // MARK: - Under a login

    /// Puts the load among those of a login, so that a log-out ends it.
    ///
    /// - Returns: False when the user has logged out since the request got its cookies: then the load has ended, or is
    ///   about to.
    func enter(_ ticket: LoginTicket) -> Bool {
        let hasEntered = place.enter(ticket) { [weak self] place in
            guard let self else {
                place.leave()
                return false
            }
            return abort(.loggedOut(context.request.url))
        }
        if !hasEntered { abort(.loggedOut(context.request.url)) }
        return hasEntered
    }

    /// Ends the load from outside: only the error is delivered.
    ///
    /// The load leaves its place among those of a login once that is certain.
    ///
    /// - Returns: Whether the load was still under way.
    @discardableResult
    func abort(_ error: URLError) -> Bool {
        let (ending, client) = change { state in
            (state.delivery.abort(error).map { state.stopping($0, keepsClient: true) }, state.client)
        }
        if let ending { carryOut(ending, error: error) }
        guard let client else {
            place.leave()
            return ending != nil
        }
        // The work runs after any delivery that is under way now. An unreachable client may never run it, so the place
        // is left at once.
        if !isClientReachable { place.leave() }
        client.perform {
            self.drain()
            self.place.leave()
        }
        return ending != nil
    }
}

extension Journey.State {
    /// The remaining work for a load that was ended from outside.
    struct Ending: Sendable {
        /// The exchange, the fetch or the wait of the present trip.
        let left: Upstream.Left?
        /// The items that are not delivered any more, to be released outside of the lock.
        let dropped: Queue<Delivery.Item>
        let isExplained: Bool
        let rule: Int?
    }

    /// Ends the course from outside.
    ///
    /// - Parameters:
    ///   - dropped: The items that the delivery has dropped.
    ///   - keepsClient: Whether the client still gets the end.
    /// - Returns: The remaining work.
    mutating func stopping(_ dropped: Queue<Delivery.Item>, keepsClient: Bool = false) -> Ending {
        let ending = Ending(
            left: upstream.leave(.cancelling),
            dropped: dropped,
            isExplained: isExplained,
            rule: course.hop.rule
        )
        _ = course.end()
        isExplained = true
        mayRestart = false
        if !keepsClient { client = nil }
        return ending
    }

    /// Adds an item for the client.
    ///
    /// - Returns: The client, if it must be visited.
    mutating func enqueue(_ item: Delivery.Item, isReachable: Bool) -> (any JourneyClient)? {
        guard delivery.enqueue(item), let client, !isVisitDue else { return nil }
        // One visit delivers all items that have arrived by then. To an unreachable client no visit is certain, so each
        // item asks for one.
        isVisitDue = isReachable
        return client
    }

    /// Updates ``counted`` and returns the difference to add to the backlog.
    fileprivate mutating func recount() -> Int {
        let difference = delivery.deliverableBytes - counted
        counted += difference
        return difference
    }
}

/// The questions that a response raises: whether the client follows a redirect, which credentials it has for a
/// challenge, and the renewal of a refused token.
extension Journey {
    func redirect(_ head: ResponseHead, to next: URLRequest, isHTTP: Bool) {
        let (trip, hop, client) = state.withLock { ($0.course.trip, $0.course.hop, $0.client) }
        // A redirect to an external link requests nothing, so the client is not asked.
        if context.stations.isExternalLink(next) { return go(on: context.stations.next(next, after: hop), after: trip) }
        guard isHTTP else { return finish(RedirectPolicy.unsupported(next.url, after: hop.request)) }
        guard client?.decidesAboutRedirects ?? false else { return follow(head, to: next, in: trip) }
        guard let response = head.response else { return follow(head, to: next, in: trip) }
        deliver { client in client.follow(response, to: next) { self.follow(head, to: $0, in: trip) } }
    }

    private func follow(_ head: ResponseHead, to next: URLRequest?, in trip: Int) {
        guard let next else { return refuse(in: trip) }
        guard let hop = state.withLock({ $0.course.follow(in: trip) }) else { return }
        if let recording = context.recording, let response = head.response {
            recording.didRedirect(response, to: next)
        }
        go(on: context.stations.next(next, after: hop), after: trip)
    }

    /// Delivers a redirect, because the client does not follow it.
    private func refuse(in trip: Int) {
        guard let refused = state.withLock({ $0.course.refuseRedirect(in: trip) }) else { return }
        if let answer = refused.answer { return deliver(answer) }
        guard let head = refused.head else { return }
        deliver(head, isFetched: state.withLock(\.course.isFetched))
        if !refused.body.isEmpty { deliver(.data(refused.body)) }
        guard refused.isCut else { return finish(nil) }
        let message = "the redirect was not followed, and its body has more than \(Course.keptRedirectBody) bytes"
        finish(URLError(.dataLengthExceedsMaximum, failing: head.url, message))
    }

    func challenge(_ space: URLProtectionSpace, _ head: ResponseHead, _ failures: Int) {
        let credentials = context.network.credentials
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space,
            // A stored credential that was refused once is not proposed again.
            proposedCredential: failures == 0 ? credentials?.defaultCredential(for: space) : nil,
            previousFailureCount: failures,
            failureResponse: head.response,
            error: nil,
            sender: ChallengeSender()
        )
        let (trip, hop) = state.withLock { ($0.course.trip, $0.course.hop) }
        // The client gets the refusal and its body before the challenge, as it does from Foundation.
        deliver { client in
            client.answer(challenge) { answer in
                guard self.state.withLock({ $0.course.isUnderWay(trip) }) else { return }
                switch answer {
                case .complete: self.finish(nil)
                case .cancel: self.finish(URLError.cancelledChallenge(of: head.url))
                case .retry(let authorization, let credential):
                    if credential.persistence != .none { credentials?.set(credential, for: space) }
                    var request = hop.request
                    request.setValue(authorization, forHTTPHeaderField: "Authorization")
                    self.go(on: self.context.stations.next(request, after: hop), after: trip)
                }
            }
        }
    }

    func renew(_ token: String) {
        let (trip, hop) = state.withLock { ($0.course.trip, $0.course.hop) }
        go(on: context.stations.renewing(token, for: hop), after: trip)
    }
}

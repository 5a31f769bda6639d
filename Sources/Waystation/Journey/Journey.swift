import Dispatch
import Synchronization
import WaystationFoundation
import WaystationHTTP

/// The way of one load from its first request to its end.
///
/// Each request of the load (the first one, one after a redirect, one with credentials, one with a renewed token) is a
/// hop, and passes the ``Stations``. A ``Course`` decides how the load continues after each event; the journey carries
/// that out.
/// The items for the client wait in a ``Delivery`` and reach the client on the client's queue.
///
/// Its members may be called from any thread, except for those of the client's side.
package final class Journey: Sendable {
    struct State: Downstream {
        var course: Course
        var delivery = Delivery()
        /// The recipient; nil after the end.
        var client: (any JourneyClient)?
        /// Whether a visit of the client's queue was requested and has not happened yet.
        var isVisitDue = false
        /// The exchange, the fetch or the wait of the present trip.
        var upstream = Upstream()
        var waiting = WaitingBytes()
        /// The source of the response.
        var source = LoadEvent.Source.network
        /// Whether an event has reported how the load ends.
        var isExplained = false
        var mayRestart = true
        /// The number of this load's bytes that the backlog counts.
        var counted = 0
    }

    let context: LoadContext
    let isClientReachable: Bool
    private let needsResponse: Bool
    /// The load's place among those of a login, which it leaves at its end.
    let place = LoginPlace()
    let state: Mutex<State>

    /// Makes a journey, which begins with a call of ``start()``.
    ///
    /// - Parameters:
    ///   - client: The recipient of the response.
    ///   - context: The interceptor and the network.
    ///   - failures: The number of times that the first request was already refused for missing credentials.
    init(_ client: any JourneyClient, _ context: LoadContext, failures: Int = 0) {
        self.context = context
        isClientReachable = client.isReachable
        needsResponse = client.needsResponse
        state = Mutex(State(course: Course(Hop(context.request), failures: failures), client: client))
    }

    deinit { context.environment.backlog.change(by: -state.withLock { $0.counted }) }

    // MARK: - Hops

    /// Continues as the stations have decided.
    ///
    /// - Parameters:
    ///   - visit: The hop and the verdict about it.
    ///   - earlier: The trip that led to the visit; nil for the first one. If another trip has begun meanwhile, the visit
    ///     is ignored.
    func go(on visit: Visit, after earlier: Int? = nil) {
        let hop = visit.hop
        if let ticket = hop.ticket, !enter(ticket) { return }
        let begun: (trip: Int, ended: Upstream.Left?)? = state.withLock { state in
            guard let trip = state.course.visit(hop, after: earlier) else { return nil }
            return (trip, state.upstream.begin(trip))
        }
        guard let trip = begun?.trip else { return }
        if hop.isChanged { context.recording?.isAnswering(hop.request) }
        switch visit.verdict {
        case .answer(let answer): receive(answer, for: trip)
        case .fail(let error): finish(error)
        case .open(let links): open(hop.request, with: links)
        case .lookUp(let lookUp):
            let cancel = lookUp.run { verdict in
                // The store's queue must not wait for other code.
                DispatchQueue.global().async { self.go(on: Visit(hop, verdict), after: trip) }
            }
            if lookUp.isForeign { state.take(CancellableWork(cancelling: cancel), trip) }
        case .wait(let wait):
            state.take(CancellableWork(cancelling: wait.begin { self.go(on: $0, after: trip) }), trip)
        case .fetch(let finding, let fetch): ask(Course.Question(finding: finding, fetch: fetch), for: trip)
        case .spool(let spool) where !hop.request.isRepeatable: read(hop, into: spool, for: trip)
        case .handBack where hop.canBeHandedBack: handBack(hop, for: trip)
        case .send, .spool, .handBack, .declined: send(hop, for: trip)
        case .carry(let transport, let spool?) where !hop.request.isRepeatable:
            read(hop, into: spool, for: trip, then: .carry(transport, spoolingInto: nil))
        case .carry(let transport, _): send(hop, for: trip, through: transport)
        }
    }

    /// Sends the request, without the cache.
    ///
    /// - Parameters:
    ///   - hop: The request.
    ///   - trip: The trip.
    ///   - transport: The transport of the request's rule; nil for the network.
    private func send(_ hop: Hop, for trip: Int, through transport: (any Transport)? = nil) {
        state.withLock { $0.course.ask(nil) }
        context.network.leavingQueue(for: hop.request, to: transport) { [self] in
            context.network.whenSendable(hop.request, through: transport) {
                self.startExchange(of: hop, for: trip, through: transport)
            }
        }
    }

    private func startExchange(of hop: Hop, for trip: Int, through transport: (any Transport)?) {
        guard state.withLock({ $0.course.isUnderWay(trip) }) else { return }
        let receiver = HopReceiver(journey: self, trip: trip)
        // The rule of such a request promises that it changes nothing.
        let asksOnly = hop.match?.rule.key.includesBody(of: hop.request.httpMethod ?? "GET") ?? false
        let storing = asksOnly ? nil : context.stations.sources.storing(after: hop, for: receiver)
        let exchange = context.network.send(
            hop.request,
            through: transport,
            for: storing ?? receiver,
            under: context.span,
            onHead: storing == nil && !asksOnly ? context.cache?.invalidation(after: hop.request) : nil
        )
        state.take(exchange, trip)
    }

    /// Asks the network on behalf of the cache.
    private func ask(_ question: Course.Question, for trip: Int) {
        state.withLock { $0.course.ask(question) }
        ask(trip)
    }

    private func ask(_ trip: Int) {
        let asked = state.withLock { state in
            state.course.question(of: trip).map { ($0, state.course.hop, state.course.isTimeOver) }
        }
        guard let (question, hop, isTimeOver) = asked, let fetches = context.fetches else { return }
        limitTime(of: question, in: hop)
        let receiver = HopReceiver(journey: self, trip: trip)
        var plan = FetchPlan(question.finding, question.fetch, isSecondAttempt: question.isSecondAttempt)
        plan.ticket = hop.ticket
        plan.span = context.span
        let participation = fetches.fetch(
            plan,
            for: receiver,
            isAlone: question.isAlone,
            through: context.network
        )
        switch participation {
        // A fetch has ended since the look-up, and may have stored the answer.
        case .outdated: go(on: context.stations.again(hop), after: trip)
        case .taken(let exchange):
            state.take(exchange, trip)
            if isTimeOver { _ = standIn(in: hop.number) }
        }
    }

    /// Gives the network the time after which a stored response stands in, if the strategy limits it.
    private func limitTime(of question: Course.Question, in hop: Hop) {
        guard let timeout = question.fetch.timeout, question.fetch.fallback != nil,
            state.withLock({ $0.course.beginsTiming() })
        else { return }
        context.environment.schedule(timeout) { [weak self, number = hop.number] in
            self?.state.withLock { $0.course.timeIsOver(for: number) }
            _ = self?.standIn(in: number)
        }
    }

    /// Asks once more, because the result of a fetch is not shared with this load.
    func askAgain(_ trip: Int, because reason: UnsharedReason) {
        let (repetition, _): (Course.Repetition?, Upstream.Left?) = state.withLock { state in
            let repetition = state.course.askAgain(trip, because: reason)
            switch repetition {
            case nil: return (nil, nil)
            case .ask(let next): return (repetition, state.upstream.begin(next))
            case .visit: return (repetition, state.upstream.end())
            }
        }
        switch repetition {
        case nil: break
        case .ask(let next): ask(next)
        case .visit(let hop): go(on: context.stations.again(hop), after: trip)
        }
    }

    /// Reads the stream of a request's body to its end, so that the request can be sent more than once.
    private func read(_ hop: Hop, into spool: BodySpool, for trip: Int, then next: Verdict = .send) {
        let spooling = Spooling.start(
            hop.request,
            spool,
            timeout: context.network.timeout(of: hop.request),
            schedule: context.environment.schedule
        ) { result in
            switch result {
            case .success(let request):
                var hop = hop
                hop.request = request
                hop.isChanged = true
                self.go(on: Visit(hop, next), after: trip)
            case .failure(let error): self.finish(error)
            }
        }
        state.take(CancellableWork { spooling.cancel() }, trip)
    }

    /// Leaves the request to the client's own loader, if it has one.
    private func handBack(_ hop: Hop, for trip: Int) {
        deliver { client in
            if !client.handBack() { self.go(on: Visit(hop, .send), after: trip) }
        }
    }

    /// Ends the load by passing a link to the app's handler of external links.
    private func open(_ link: URLRequest, with links: ExternalLinks) {
        // The handler is the app's code, which must not block a queue of Foundation's.
        DispatchQueue.global().async {
            let hop: Hop? = self.state.withLock { state in
                guard state.course.end() else { return nil }
                state.isExplained = true
                return state.course.hop
            }
            guard let hop else { return }
            links.handler(link)
            if let url = link.url { self.context.emit(.openedElsewhere(url), decidedBy: hop.rule) }
            self.deliver(.end(ExternalLinks.opened(link.url)))
        }
    }

    // MARK: - Arrivals

    /// A head has arrived.
    func receive(_ head: ResponseHead, for trip: Int) {
        let login = context.stations.login
        let (action, isFetched) = state.withLock { state in
            (state.course.receive(head, for: trip) { login?.token(of: $0) }, state.course.isFetched)
        }
        guard case .deliverHead(let head) = action else { return }
        deliver(head, isFetched: isFetched)
    }

    /// Delivers a head from the network; the load ends if the client needs a response of Foundation's, and Foundation
    /// makes none of it.
    func deliver(_ head: ResponseHead, isFetched: Bool) {
        let head = isFetched ? head : head.adding(CacheStatus(.forwarded(.bypass, status: head.statusCode)))
        guard !needsResponse || head.response != nil else { return finish(URLError.invalidHead(of: head.url)) }
        // The end of the load may be told before the client takes the head.
        context.span?.take(head)
        deliver(.response(head))
    }

    /// A part of the body has arrived.
    func receive(_ part: Data, for trip: Int) {
        let (client, action, left) = change { state -> ((any JourneyClient)?, Course.Action, Upstream.Left?) in
            switch state.course.receive(part, for: trip) {
            case .deliverPart(let part):
                return (state.enqueue(.data(part), isReachable: isClientReachable), .ignore, nil)
            case .ignore: return (nil, .ignore, nil)
            case let action: return (nil, action, state.upstream.leave(.cancelling))
            }
        }
        client?.perform { self.drain() }
        guard case .ignore = action else {
            // The rest of the body is not needed.
            left?.carryOut()
            return perform(action)
        }
    }

    /// A part of the request's body was sent.
    func didSend(_ count: Int64, total: Int64, expected: Int64, for trip: Int) {
        guard state.withLock({ $0.course.isUnderWay(trip) }) else { return }
        deliver { $0.didSend(count, total: total, expected: expected) }
    }

    /// A complete answer is available.
    func receive(_ answer: Answer, for trip: Int) {
        receive(answer) { course, token in course.receive(answer, for: trip, token: token) }
    }

    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - standsIn: Whether the answer stands in for the response from the network, for which a fetch waits.
    ///   - take: Passes the answer to the course.
    private func receive(
        _ answer: Answer,
        standsIn: Bool = false,
        _ take: (inout Course, (URLRequest) -> String?) -> Course.Action
    ) {
        let login = context.stations.login
        let (action, left): (Course.Action, Upstream.Left?) = state.withLock { state in
            let action = take(&state.course) { login?.token(of: $0) }
            if case .ignore = action { return (action, nil) }
            // A cancel no longer stops the fetch, so that a late response is still stored.
            return (action, standsIn ? state.upstream.leave(.detaching) : state.upstream.end())
        }
        left?.carryOut()
        if case .redirect = action { context.renew(answer) }
        perform(action)
    }

    /// The exchange has ended.
    func receiveEnd(_ error: (any Error)?, for trip: Int) {
        let (action, _): (Course.Action, Upstream.Left?) = state.withLock { state in
            let ended = state.course.isUnderWay(trip) ? state.upstream.end() : nil
            return (state.course.receiveEnd(error, for: trip), ended)
        }
        perform(action)
    }

    func perform(_ action: Course.Action) {
        switch action {
        case .ignore, .deliverHead, .deliverPart: break
        case .answer(let answer): deliver(answer)
        case .redirect(let head, let next, let isHTTP):
            redirect(head, to: next, isHTTP: isHTTP)
        case .challenge(let space, let head, let failures): challenge(space, head, failures)
        case .renew(let token): renew(token)
        case .standIn(let hop, let trip, let error):
            guard !standIn(in: hop) else { return }
            perform(state.withLock { $0.course.fail(error, in: trip) })
        case .end(let error): finish(error)
        }
    }

    /// Answers a hop with a stored response, if the strategy or the RFCs allow that without the network.
    ///
    /// - Returns: False when no stored response may stand in.
    private func standIn(in number: Int) -> Bool {
        guard let question = state.withLock({ $0.course.openQuestion(of: number) }),
            let selection = question.fetch.standIn(now: context.environment.now()),
            // The request was forwarded, so that the answer is no hit (RFC 9211 §2.1).
            let answer = question.finding.answer(selection, .forwarded(question.fetch.reason))
        else { return false }
        receive(answer, standsIn: true) { course, token in course.standIn(answer, in: number, token: token) }
        return true
    }

    // MARK: - The end

    /// Ends the load when everything before has been delivered; complete when `error` is nil.
    func finish(_ error: (any Error)?) {
        let (isFirst, left): (Bool, Upstream.Left?) = state.withLock { state in
            guard state.course.end() else { return (false, nil) }
            // The rest of a response that the load does not take may have no end.
            return (true, state.upstream.leave(.cancelling))
        }
        left?.carryOut()
        if isFirst { conclude(error) }
    }

    private func conclude(_ error: (any Error)?) {
        let (status, bytes) = state.withLock(\.course.delivered)
        if let error = error as? URLError, error.isBlocked {
            explain(.blocked)
        } else if let error {
            explain(.failed((error as? URLError) ?? URLError(.unknown, failing: nil, "\(error)", underlying: error)))
        } else {
            explain(.served(from: .network, status: status, bytes: bytes))
        }
        deliver(.end(error))
    }

    /// Emits the event that reports how the load ends, unless one was emitted before.
    private func explain(_ kind: LoadEvent.Kind) {
        let hop: Hop? = state.withLock { state in
            guard !state.isExplained else { return nil }
            state.isExplained = true
            return state.course.hop
        }
        if let hop { context.emit(kind, decidedBy: hop.rule) }
    }

    // MARK: - Answers

    /// The source of the response; that of the network as long as no other source has answered.
    var source: LoadEvent.Source { state.withLock(\.source) }

    /// Delivers a complete answer.
    func deliver(_ answer: Answer) {
        state.withLock { $0.source = answer.source }
        guard !needsResponse || answer.head.response != nil else {
            return conclude(URLError.invalidHead(of: answer.head.url))
        }
        switch answer.body {
        case .data(let data):
            served(answer)
            // A client gets no call for an empty body.
            if data.isEmpty {
                deliver(.response(answer.head), .end(nil))
            } else {
                deliver(.response(answer.head), .data(data), .end(nil))
            }
        case .source(let source):
            let pump = BodyPump(head: answer.head, source: source, journey: self) { end in
                switch end {
                case .complete: self.served(answer)
                case .failed(let error): self.explain(.failed(error))
                case .restarted(let error): self.context.emit(.degraded("\(error)"))
                }
            }
            deliver { pump.start($0) }
        }
    }

    private func served(_ answer: Answer) {
        context.span?.take(answer.head)
        explain(answer.event)
        context.renew(answer)
    }

    /// Visits the stations once more, because the answer turned out to be unusable before any part of it was delivered.
    ///
    /// A load restarts only once; returns false the second time.
    func restart() -> Bool {
        let hop: Hop? = state.withLock { state in
            guard state.mayRestart, !state.delivery.hasEnded, !state.delivery.isAborted else { return nil }
            state.mayRestart = false
            state.source = .network
            state.course.restart()
            return state.course.hop
        }
        guard let hop else { return false }
        Task {
            // Waits until the store has dropped the unusable response; otherwise the next look-up would find it again.
            await context.cache?.store.flush()
            go(on: context.stations.again(hop))
        }
        return true
    }
}

/// Receives the response for one trip of a journey.
///
/// It is a journey and a number, without a state of its own.
struct HopReceiver: FetchWaiter {
    let journey: Journey
    let trip: Int

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(journey), number: trip) }

    func transportDidReceive(_ head: ResponseHead) { journey.receive(head, for: trip) }

    func transportDidReceive(_ part: Data) { journey.receive(part, for: trip) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        journey.didSend(count, total: total, expected: expected, for: trip)
    }

    func transportDidEnd(_ error: (any Error)?) { journey.receiveEnd(error, for: trip) }

    func fetchDidAnswer(_ answer: Answer) { journey.receive(answer, for: trip) }

    func fetchIsNotShared(_ reason: UnsharedReason) { journey.askAgain(trip, because: reason) }
}

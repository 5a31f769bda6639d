import Dispatch
import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import WaystationCaching

/// A receiver that accepts a complete answer, instead of a head, parts and an end.
protocol AnswerReceiver: TransportReceiver {
    func transportDidAnswer(_ answer: Answer)
}

/// One exchange of a load, answered by files, a pack or the cache, or sent to the network.
///
/// Answers to unsafe methods invalidate stored responses (RFC 9111 §4.4).
final class HopExchange: TransportExchange, FetchWaiter {
    private struct State {
        var finding: CacheFinding?
        /// The decision by which the network was asked.
        var asked: CacheDecision.Fetch?
        /// The number of times that the network was asked.
        ///
        /// A fetch that an earlier trip started must not be recorded.
        var trips = 0
        var fetch: SharedFetch?
        /// The exchange, if the cache takes no part in it.
        var exchange: (any TransportExchange)?
        var hasBegun = false
        /// The exchange was answered or cancelled; bytes that still arrive are only for the cache.
        var isOver = false
        var isCancelled = false
        var isAlone = false
        var isSecondAttempt = false
    }

    private let engine: Engine
    private let network: Network
    private let receiver: any TransportReceiver
    private let state = Mutex(State())

    init(engine: Engine, network: Network, receiver: any TransportReceiver) {
        self.engine = engine
        self.network = network
        self.receiver = receiver
    }

    /// Takes the step that the sources of the request's rule decided on.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - request: The request, with the mark of forwarded requests.
    ///   - cached: Called if the cache takes part, before the request is sent.
    func take(_ step: ServingStep, for request: URLRequest, cached: @escaping @Sendable () -> Void) {
        guard !state.withLock(\.isOver) else { return }
        switch step {
        case .answer(let answer): deliver(answer)
        case .fail(let error): end(error)
        case .forward(let forwarding):
            guard let finding = forwarding.cache else { return send(request) }
            cached()
            begin(finding.sent(as: request))
        case .lookUp(let lookUp):
            // Tasks must not be made on the store's queue.
            lookUp.run { step in DispatchQueue.global().async { self.take(step, for: request, cached: cached) } }
        // The load is under way: Foundation's loader can no longer take it, and a stream was made repeatable before.
        case .handBack, .spool: send(request)
        case .changed(_, let step), .under(_, let step): take(step, for: request, cached: cached)
        case .wait(let wait): _ = wait.begin { self.take($0, for: request, cached: cached) }
        }
    }

    /// Continues with the finding of the cache.
    func begin(_ finding: CacheFinding) {
        state.withLock { $0.finding = finding }
        switch finding.decision {
        case .serve(let selection, _):
            guard let answer = finding.answer(selection) else { return ask(CacheDecision.Fetch(.miss), finding) }
            if let renewal = finding.renewal { engine.fetches.renew(renewal, engine: engine, through: network) }
            deliver(answer)
        case .fetch(let fetch): ask(fetch, finding)
        case .bypass: send(finding.request)
        case .gatewayTimeout:
            guard let answer = finding.gatewayTimeout else {
                return end(URLError(.resourceUnavailable, failing: finding.request.url))
            }
            deliver(answer)
        case .unavailable:
            let what = CacheFinding.notStored(finding.entry.message.method.rawValue + " " + finding.entry.key.url)
            let error = WaystationError(.notStored, what)
            end(URLError(.resourceUnavailable, failing: finding.request.url, what, underlying: error))
        }
    }

    /// Sends the request to the network, without the cache.
    private func send(_ request: URLRequest) {
        guard !state.withLock(\.isOver) else { return }
        let exchange = network.send(request, for: receiver, dropping: engine.cache?.store)
        let isTooLate = state.withLock { state in
            state.exchange = exchange
            return state.isCancelled
        }
        if isTooLate { exchange.cancel() }
    }

    private func ask(_ fetch: CacheDecision.Fetch, _ finding: CacheFinding) {
        if let timeout = fetch.timeout, fetch.fallback != nil {
            engine.configuration.schedule(timeout) { [weak self] in self?.standIn() }
        }
        start(plan(fetch, finding), fetch)
    }

    private func plan(_ fetch: CacheDecision.Fetch, _ finding: CacheFinding) -> FetchPlan {
        var plan = FetchPlan(
            request: finding.request,
            entry: finding.entry,
            variants: finding.variants,
            strategy: finding.strategy,
            revalidation: fetch.revalidation,
            reason: fetch.reason,
            mayStandIn: fetch.mayStandIn,
            lookedUp: finding.lookedUp
        )
        if fetch.refreshesOthers, plan.request.value(forHTTPHeaderField: "Cache-Control") == nil {
            plan.request.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
            plan.request.setValue("no-cache", forHTTPHeaderField: "Pragma")
        }
        return plan
    }

    private func start(_ plan: FetchPlan, _ fetch: CacheDecision.Fetch) {
        var plan = plan
        let attempt: (trip: Int, isAlone: Bool)? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.trips += 1
            state.asked = fetch
            plan.isSecondAttempt = state.isSecondAttempt
            return (state.trips, state.isAlone)
        }
        guard let attempt else { return }
        switch engine.fetches.fetch(plan, for: self, isAlone: attempt.isAlone, engine: engine, through: network) {
        case nil: end(URLError(.resourceUnavailable, failing: plan.request.url))
        case .outdated: lookAgain(plan)
        case .taken(let shared):
            let isTooLate = state.withLock { state in
                // The fetch may already have asked for another trip.
                if state.trips == attempt.trip { state.fetch = shared }
                return state.isCancelled
            }
            if isTooLate { shared.leave(self) }
        }
    }

    /// Looks up the stored responses again, because another fetch may have changed them.
    ///
    /// This happens only when another fetch has ended. A fetch of the same request that is still running is joined
    /// instead.
    private func lookAgain(_ plan: FetchPlan) {
        guard let store = engine.cache?.store, let finding = state.withLock(\.finding) else { return }
        let ends = engine.fetches.ends(of: plan.entry.key)
        store.lookup(plan.entry.key) { [engine] responses in
            let variants = StoredVariants(responses, for: finding.entry, over: finding.variants.packed)
            DispatchQueue.global().async {
                self.begin(
                    CacheFinding(finding.strategy, finding.request, finding.entry, variants, engine, lookedUp: ends)
                )
            }
        }
    }

    func cancel() {
        let (fetch, exchange): (SharedFetch?, (any TransportExchange)?) = state.withLock { state in
            // A load that was answered from the cache leaves the late response to the cache.
            guard !state.isOver else { return (nil, nil) }
            state.isOver = true
            state.isCancelled = true
            return (state.fetch, state.exchange)
        }
        fetch?.leave(self)
        exchange?.cancel()
    }

    // MARK: - Events of the fetch

    func fetchDidReceive(_ head: HTTPURLResponse) {
        let isForUs = state.withLock { state in
            guard !state.isOver else { return false }
            state.hasBegun = true
            return true
        }
        if isForUs { receiver.transportDidReceive(head) }
    }

    func fetchDidReceive(_ part: Data) {
        if !state.withLock(\.isOver) { receiver.transportDidReceive(part) }
    }

    func fetchDidAnswer(_ answer: Answer) { deliver(answer) }

    func fetchDidEnd(_ error: (any Error)?) {
        guard let error, !state.withLock(\.hasBegun), (error as? URLError)?.code != .cancelled else {
            return end(error)
        }
        if !standIn() { end(state.withLock(\.finding)?.explaining(error) ?? error) }
    }

    func fetchIsNotShared(_ reason: UnsharedReason) {
        let (finding, fetch) = state.withLock { state in
            switch reason {
            case .response: state.isAlone = true
            case .failure: state.isSecondAttempt = true
            }
            state.fetch = nil
            return (state.finding, state.asked)
        }
        guard let finding, let fetch else { return }
        var plan = plan(fetch, finding)
        // The end of that fetch must not count as a change of the store, so the check is switched off.
        plan.lookedUp = nil
        start(plan, fetch)
    }

    // MARK: - Answering

    /// Answers with a stored response, if the strategy or the RFCs allow that without the network.
    @discardableResult
    private func standIn() -> Bool {
        guard let finding = state.withLock({ $0.isOver || $0.hasBegun ? nil : $0.finding }),
            case .fetch(let fetch) = finding.decision,
            let selection = fetch.standIn(now: engine.configuration.now()),
            let answer = finding.answer(selection)
        else { return false }
        deliver(answer)
        return true
    }

    private func deliver(_ answer: Answer) {
        let isFirst = state.withLock { state in
            guard !state.isOver, !state.hasBegun else { return false }
            state.isOver = true
            return true
        }
        guard isFirst else { return }
        if let receiver = receiver as? any AnswerReceiver { return receiver.transportDidAnswer(answer) }
        receiver.transportDidReceive(answer.response)
        do {
            let body = try answer.body.contents
            if !body.isEmpty { receiver.transportDidReceive(body) }
            receiver.transportDidEnd(nil)
        } catch {
            receiver.transportDidEnd(error)
        }
    }

    private func end(_ error: (any Error)?) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { receiver.transportDidEnd(error) }
    }
}

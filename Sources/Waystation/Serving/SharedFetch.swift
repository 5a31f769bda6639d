import DequeModule
import Dispatch
import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationStorage

/// One trip to the network for all who wait for the same response.
///
/// It asks about what is stored where there is a question, stores what arrives as it arrives, and brings it to every
/// waiter. Who leaves does not disturb the others; when the last one leaves, the traffic stops and nothing partial is
/// kept. A failure before the head concerns the first waiter alone: the others make a second trip together, and what
/// becomes of that concerns all of them, so that a hundred who wait do not become a hundred trips to a dead server.
final class SharedFetch: TransportReceiver {
    fileprivate enum Phase {
        case waiting
        /// A 304 or a HEAD settled the matter; this is told at the end of the exchange.
        case settled(@Sendable (any FetchWaiter) -> Void)
        /// What arrived is forgotten; the request is sent anew at the end of the exchange.
        case repeating
        case streaming
        case ended
    }

    fileprivate struct State {
        var phase = Phase.waiting
        var question: Question
        var waiters: [any FetchWaiter] = []
        var exchange: (any TransportExchange)?
        var times: Times
        /// Whether no response came.
        var hasFailed = false
        /// What the response takes the place of, once it has arrived whole.
        var outdated: [Int] = []
        /// What late waiters must be told first, while it is small enough to be kept.
        var replay: Deque<@Sendable (any FetchWaiter) -> Void>? = []
        var replayBytes = 0
        /// Calls to be made, in order, by whichever thread makes the first.
        var calls: Deque<@Sendable () -> Void> = []
        var isCalling = false
    }

    fileprivate struct Times {
        var sent = Date.distantPast
        var received = Date.distantPast
        /// When it was sent in the order of the store's invalidations.
        var moment: StoreMoment
    }

    fileprivate enum Question {
        case everything
        case conditional(Revalidation)
        case head(Revalidation)
    }

    /// How much of a body is kept for waiters who come while it arrives.
    private static let replayLimit = 1 << 20

    private let plan: FetchPlan
    private let engine: Engine
    private let store: ResponseStore
    private let transport: @Sendable () -> any Transport
    private let recorder: ResponseRecorder
    private let state: Mutex<State>
    /// Called when nobody may join any more, and when it ends.
    private let closed: @Sendable (SharedFetch) -> Void

    init(
        _ plan: FetchPlan,
        engine: Engine,
        store: ResponseStore,
        through transport: @escaping @Sendable () -> any Transport,
        closed: @escaping @Sendable (SharedFetch) -> Void
    ) {
        self.plan = plan
        self.engine = engine
        self.store = store
        self.transport = transport
        self.closed = closed
        recorder = ResponseRecorder(store)
        let question: Question =
            switch (plan.revalidation, plan.strategy.kind) {
            case (let revalidation?, .revalidate(.head)) where plan.entry.message.method == .get: .head(revalidation)
            case (let revalidation?, _): .conditional(revalidation)
            case (nil, _): .everything
            }
        state = Mutex(State(question: question, times: Times(moment: store.moment())))
    }

    // MARK: - Waiters

    /// What becomes of one who wants to take part.
    enum Joining {
        case joined
        /// What arrives is for others.
        case tooLate
        /// It has ended, and what it stored can be found by now.
        case ended
    }

    /// Lets a waiter take part, if it is not too late.
    ///
    /// It is also when what is asked for has been invalidated since the request was sent: who asks after a change must
    /// not get what was there before it (RFC 9111 §4.4).
    func join(_ waiter: any FetchWaiter) -> Joining {
        let joining: Joining = state.withLock { state in
            guard !state.hasEnded else { return .ended }
            guard let replay = state.replay, !store.hasInvalidated(plan.entry.key, since: state.times.moment) else {
                return .tooLate
            }
            // Who renews for nobody takes part once.
            if waiter === Renewal.shared, state.waiters.contains(where: { $0 === waiter }) { return .joined }
            state.waiters.append(waiter)
            for call in replay { state.calls.append { call(waiter) } }
            return .joined
        }
        makeCalls()
        return joining
    }

    /// Takes a waiter out; when it was the last the traffic stops.
    func leave(_ waiter: any FetchWaiter) {
        let (isLast, exchange): (Bool, (any TransportExchange)?) = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return (false, nil) }
            state.waiters.remove(at: index)
            guard state.waiters.isEmpty, !state.hasEnded else { return (false, nil) }
            return (true, state.end())
        }
        guard isLast else { return }
        closed(self)
        exchange?.cancel()
        recorder.end(isComplete: false)
    }

    /// How many wait for it.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Whether it has ended without a response.
    var hasFailed: Bool { state.withLock(\.hasFailed) }

    // MARK: - The trip

    /// Sends the request; for a fetch that renews in the background nobody needs to wait.
    func start() {
        let now = engine.configuration.now()
        let moment = store.moment()
        let request: URLRequest? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.phase = .waiting
            state.times = Times(sent: now, moment: moment)
            switch state.question {
            case .everything: return plan.request
            case .conditional(let revalidation): return plan.request.taking(conditionsOf: revalidation.request)
            case .head:
                var request = plan.request
                request.httpMethod = "HEAD"
                return request
            }
        }
        guard var request else { return }
        if !engine.configuration.storesCodedBodies { request = request.withoutCodings }
        let exchange = transport().start(ForwardingTag.tagging(request), receiver: self)
        let isTooLate = state.withLock { state in
            // It holds this fetch as its receiver, so it is not kept beyond the end.
            if !state.hasEnded { state.exchange = exchange }
            return state.hasEnded
        }
        if isTooLate { exchange.cancel() }
    }

    func transportDidReceive(_ head: HTTPURLResponse) {
        let (question, sent, hasEnded) = state.withLock { ($0.question, $0.times, $0.hasEnded) }
        guard !hasEnded else { return }
        var times = sent
        times.received = engine.configuration.now()
        switch question {
        case .everything: receive(head, decision(head, times), times, outdated: [])
        case .conditional(let revalidation): validated(head, revalidation, times)
        case .head(let revalidation): compared(head, revalidation, times)
        }
    }

    func transportDidReceive(_ part: Data) {
        if recorder.isRecording { recorder.append(part) }
        state.withLock { state in
            guard case .streaming = state.phase else { return }
            state.replayBytes += part.count
            if state.replayBytes > Self.replayLimit { state.replay = nil }
            state.tell { $0.fetchDidReceive(part) }
        }
        makeCalls()
    }

    func transportDidEnd(_ error: (any Error)?) {
        // Before anybody is told the end, so that who loads again then finds it.
        let outdated = state.withLock(\.outdated)
        recorder.end(isComplete: error == nil) { [self] stored in
            effects.drop(outdated)
            engine.events.emit(LoadEvent(kind: .stored(bytes: stored), url: plan.request.url))
        }
        let isOver: Bool = state.withLock { state in
            switch state.phase {
            case .ended: return false
            case .settled(let tell): state.tell(tell)
            case .repeating where error == nil:
                state.question = .everything
                return false
            case .waiting, .repeating:
                state.hasFailed = true
                let error = error ?? URLError(.badServerResponse, failing: plan.request.url)
                if plan.isSecondAttempt {
                    state.tell { $0.fetchDidEnd(error) }
                } else {
                    state.tellFirst { $0.fetchDidEnd(error) }
                }
            case .streaming: state.tell { $0.fetchDidEnd(error) }
            }
            state.end()
            return true
        }
        guard isOver else { return repeatIfDue() }
        closed(self)
        makeCalls()
    }

    /// Sends the request anew, without conditions.
    private func repeatIfDue() {
        guard state.withLock({ state in if case .repeating = state.phase { true } else { false } }) else { return }
        start()
    }

    /// Makes the calls that are due, in order; a thread that finds another at it leaves them to that one.
    private func makeCalls() {
        while let call = state.withLock({ state -> (@Sendable () -> Void)? in
            guard !state.isCalling, let call = state.calls.popFirst() else { return nil }
            state.isCalling = true
            return call
        }) {
            call()
            state.withLock { $0.isCalling = false }
        }
    }

    // MARK: - What a head means

    private func decision(_ head: HTTPURLResponse, _ times: Times) -> StoringDecision {
        let decision = plan.strategy.storing(
            head,
            to: plan.entry.message,
            requestTime: times.sent,
            responseTime: times.received,
            rules: engine.configuration.cachingRules
        )
        // Who is refused has the token renewed and asks again: nothing may answer that but the server.
        if head.statusCode == 401, LoginPartitions.contains(plan.entry.key.partition) {
            return .refuse(.notMarkedStorable)
        }
        // A key made of what was not sent would be found by others (RFC 9111 §4.1).
        if case .store(let exchange) = decision, plan.entry.hidesCookies, VaryRecord(exchange.vary).nominatesCookie {
            return .refuse(.variesOnEverything)
        }
        if case .store = decision, let doubt = head.doubt(storesCodedBodies: engine.configuration.storesCodedBodies) {
            return .refuse(doubt)
        }
        return decision
    }

    /// A response of its own: it is kept, or not, and brought to all who may share it.
    private func receive(_ head: HTTPURLResponse, _ decision: StoringDecision, _ times: Times, outdated: [Int]) {
        if case .store(let exchange) = decision {
            state.withLock { $0.outdated = outdated }
            recorder.begin(
                exchange,
                under: plan.entry.key,
                expectedLength: head.statedLength,
                asOf: times.moment
            )
        } else if plan.entry.message.method == .get {
            effects.drop(outdated)
        } else {
            effects.apply(
                StoredChange.changes(
                    byHead: HTTPResponse(storing: head),
                    to: plan.entry.message,
                    stored: plan.variants.exchanges,
                    requestTime: times.sent,
                    responseTime: times.received
                )
            )
        }
        let isStored = recorder.isRecording
        // What may not be stored was meant for the request that it answers; a redirect is the same for all.
        let isShared = isStored || (RedirectPolicy.statuses.contains(head.statusCode) && !decision.isPrivate)
        let reason = plan.reason
        let (isAlone, exchange): (Bool, (any TransportExchange)?) = state.withLock { state in
            // The last waiter may have left meanwhile.
            guard !state.hasEnded else { return (true, nil) }
            // What nobody waits for and nothing is stored of needs not arrive.
            guard isStored || !state.waiters.allSatisfy({ $0 === Renewal.shared }) else { return (true, state.end()) }
            state.phase = .streaming
            let isCollapsed = isShared && state.waiters.count > 1
            let status = CacheStatus(
                .forwarded(reason, status: head.statusCode, isStored: isStored, isCollapsed: isCollapsed),
                detail: decision.detail
            )
            let told = head.adding(status)
            if !isShared {
                state.replay = nil
                for waiter in state.waiters.dropFirst() { state.calls.append { waiter.fetchIsNotShared(.response) } }
                state.waiters.removeLast(max(0, state.waiters.count - 1))
            }
            state.tell { $0.fetchDidReceive(told) }
            return (!isShared, nil)
        }
        if isAlone { closed(self) }
        if state.withLock(\.hasEnded) { recorder.end(isComplete: false) }
        exchange?.cancel()
        makeCalls()
    }

    private func validated(_ head: HTTPURLResponse, _ revalidation: Revalidation, _ times: Times) {
        let outcome = ValidationOutcome(
            of: HTTPResponse(validating: head, plan.variants.exchanges),
            to: revalidation,
            requestTime: times.sent,
            responseTime: times.received
        )
        switch outcome {
        case .freshened(let selection, let changes):
            effects.apply(changes)
            settle(selection, head)
        case .standIn(let selection) where plan.mayStandIn:
            let status = CacheStatus(
                .forwarded(plan.reason, status: head.statusCode),
                timeToLive: selection.freshness.timeToLive
            )
            guard let answer = plan.variants.answer(selection, to: plan.request, status) else {
                return receive(head, .refuse(.notMarkedStorable), times, outdated: [])
            }
            let exchange = state.withLock { state in
                state.tell { $0.fetchDidAnswer(answer) }
                return state.end()
            }
            closed(self)
            exchange?.cancel()
            makeCalls()
        case .reload: state.withLock { $0.repeatAtEnd() }
        case .replaced(_, let outdated):
            receive(head, decision(head, times), times, outdated: outdated)
        case .passOn(let changes):
            // Those of a HEAD are made where any HEAD is received.
            if plan.entry.message.method == .get { effects.apply(changes) }
            receive(head, .refuse(.conditional), times, outdated: [])
        case .standIn:
            receive(head, .refuse(.notMarkedStorable), times, outdated: [])
        }
    }

    /// A HEAD whose validators are those of what is stored settles the matter; anything else is loaded.
    private func compared(_ head: HTTPURLResponse, _ revalidation: Revalidation, _ times: Times) {
        let response = HTTPResponse(validating: head, plan.variants.exchanges)
        var question = plan.entry.message
        question.method = .head
        let changes = StoredChange.changes(
            byHead: response,
            to: question,
            stored: plan.variants.exchanges,
            requestTime: times.sent,
            responseTime: times.received
        )
        let hasValidator = response.headerFields.contains(.eTag) || response.headerFields.contains(.lastModified)
        for case .update(let index, let exchange) in changes
        where hasValidator && !exchange.needsValidation && exchange.hasValidator {
            effects.apply([.update(index: index, exchange)])
            let selection = StoredSelection(
                of: exchange,
                at: index,
                for: plan.entry.message,
                now: times.received,
                isValidated: true,
                rules: engine.configuration.cachingRules
            )
            return settle(selection, head)
        }
        state.withLock { $0.repeatAtEnd() }
    }

    /// What is stored is the answer, once the exchange has ended.
    private func settle(_ selection: StoredSelection, _ head: HTTPURLResponse) {
        let status = CacheStatus(
            .forwarded(plan.reason, status: head.statusCode),
            timeToLive: plan.strategy.obeysHTTP ? selection.freshness.timeToLive : plan.strategy.limit
        )
        let answer = plan.variants.answer(selection, to: plan.request, status)
        state.withLock { state in
            guard !state.hasEnded else { return }
            // A body that was dropped since is loaded anew.
            guard let answer else { return state.phase = .repeating }
            state.phase = .settled { $0.fetchDidAnswer(answer) }
        }
    }

    /// What an answer changes of what is stored.
    private var effects: StoredEffects {
        StoredEffects(plan: plan, engine: engine, store: store, moment: state.withLock(\.times.moment))
    }
}

extension SharedFetch.State {
    fileprivate var hasEnded: Bool {
        if case .ended = phase { return true }
        return false
    }

    /// Tells all waiters, now and those who come later.
    fileprivate mutating func tell(_ call: @escaping @Sendable (any FetchWaiter) -> Void) {
        replay?.append(call)
        for waiter in waiters { calls.append { call(waiter) } }
    }

    /// Tells the first waiter; the others are to ask by themselves.
    fileprivate mutating func tellFirst(_ call: @escaping @Sendable (any FetchWaiter) -> Void) {
        guard let first = waiters.first else { return }
        calls.append { call(first) }
        for waiter in waiters.dropFirst() { calls.append { waiter.fetchIsNotShared(.failure) } }
    }

    /// Forgets what arrives; the request is sent anew at the end of the exchange.
    fileprivate mutating func repeatAtEnd() {
        if !hasEnded { phase = .repeating }
    }

    /// Ends the fetch; what is told already is still heard.
    ///
    /// - Returns: The exchange behind it.
    @discardableResult
    fileprivate mutating func end() -> (any TransportExchange)? {
        phase = .ended
        waiters = []
        replay = nil
        return exchange.take()
    }
}

import Dispatch
import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// An answer of which only parts are stored: it delivers the stored bytes, and asks for the missing ones, one span after
/// the other.
///
/// The first missing bytes are asked for before anything is delivered, because their response shows whether the parts are
/// still those of the present representation. Each span is asked for by a fetch, which stores it as another part, and which
/// other loads share. If the parts turn out to be of no use, the load asks again, for everything.
final class CompletedAnswer: DetachableExchange {
    private enum Phase {
        /// The next missing bytes were asked for, and their response has not begun.
        case asking
        /// The missing bytes arrive.
        case receiving
        /// The response is no part of the stored representation; it is passed on as the answer.
        case passing
        /// No missing bytes are asked for: stored bytes are read or looked up.
        case reading
        case ended
    }

    private struct State: Downstream {
        /// The fetch of missing bytes.
        var upstream = Upstream()
        /// The number of that fetch.
        var number = 0
        var phase = Phase.reading
        /// The stored bytes.
        var body: Answer.Body?
        /// The next byte of the representation to deliver.
        var position: Int
        /// The missing bytes that were asked for last.
        var span: Range<Int>
        /// The end of the stored bytes that are delivered next; nil if none are.
        var stop: Int?
        /// Whether a thread reads these bytes.
        var isReading = false
        var hasHead = false
        /// The bytes that have arrived meanwhile, and the end.
        var held: [Data] = []
        var heldEnd: Result<Void, any Error>?
        /// Whether the load can take no more for now.
        var isPaused = false
        /// When the missing bytes were asked for.
        var sent = Date.distantPast
        /// The number of fetches of the key that had ended before the last look-up.
        var lookedUp: UInt?
        /// Whether a first trip for the missing bytes has failed.
        var isSecondAttempt = false

        func isUnderWay(_ number: Int) -> Bool { number == self.number && phase != .ended }
    }

    /// The number of stored bytes before the first missing ones from which on a small response confirms them.
    ///
    /// While the stored bytes are delivered, what arrives waits in memory, and not every engine can pause.
    private static let longBeginning = 256 << 10
    /// The number of bytes of such a response.
    private static let confirmationLength = 64 << 10
    /// The number of bytes that are read from the disk at once.
    private static let pieceLength = 128 << 10

    private let completion: Completion
    private let plan: FetchPlan
    private let fetches: Fetches
    private let network: Network
    private let waiter: any FetchWaiter
    private let state: Mutex<State>
    /// The comparison with the digest of the whole representation, if all of it is delivered and the strategy asks for it.
    private let check = Mutex<DigestCheck?>(nil)
    private var cache: CacheAccess { fetches.cache }

    init(
        _ completion: Completion,
        of plan: FetchPlan,
        for waiter: any FetchWaiter,
        by fetches: Fetches,
        through network: Network
    ) {
        self.completion = completion
        self.plan = plan
        self.fetches = fetches
        self.network = network
        self.waiter = waiter
        state = Mutex(
            State(
                body: plan.variants.body(at: completion.index),
                position: completion.wanted.lowerBound,
                span: completion.missing.first ?? completion.wanted,
                lookedUp: plan.lookedUp
            )
        )
    }

    /// Asks for the first missing bytes.
    func begin() { ask(for: completion.missing.first ?? completion.wanted) }

    // MARK: - The load's side

    func pause() {
        state.withLock { $0.isPaused = true }
        keepPace()
    }

    func resume() {
        state.withLock { $0.isPaused = false }
        keepPace()
        read()
    }

    func cancel() { leave(.cancelling) }

    func detach() { leave(.detaching) }

    private func leave(_ leaving: Upstream.Leaving) {
        let left: Upstream.Left? = state.withLock { state in
            state.phase = .ended
            state.held = []
            return state.upstream.leave(leaving)
        }
        left?.carryOut()
    }

    /// Pauses the fetch while the load is paused, but not while stored bytes are read: those are few, and other loads may
    /// wait for the fetch.
    private func keepPace() {
        state.withLock { $0.upstream.isPaused = $0.isPaused }
        state.keepPace()
    }

    // MARK: - Missing bytes

    /// Asks for missing bytes.
    ///
    /// - Parameters:
    ///   - span: The bytes.
    ///   - isAlone: Whether no other load may share the response.
    private func ask(for span: Range<Int>, isAlone: Bool = false) {
        let isLong =
            completion.conditions(for: span).ifRange != nil
            && state.withLock { !$0.hasHead && span.lowerBound - $0.position > Self.longBeginning }
        let span = isLong ? span.lowerBound..<span.lowerBound + min(span.count, Self.confirmationLength) : span
        let (range, ifRange) = completion.conditions(for: span)
        var plan = plan
        plan.completion = nil
        plan.request = plan.request.asking(range, ifRange: ifRange)
        plan.presented = plan.presented.asking(range, ifRange: ifRange)
        plan.reason = .partial
        (plan.lookedUp, plan.isSecondAttempt) = state.withLock { ($0.lookedUp, $0.isSecondAttempt) }
        let now = cache.now()
        let (number, _): (Int?, Upstream.Left?) = state.withLock { state in
            guard state.phase != .ended else { return (nil, nil) }
            state.phase = .asking
            state.span = span
            state.sent = now
            state.number += 1
            return (state.number, state.upstream.begin(state.number))
        }
        guard let number else { return }
        let receiver = SpanReceiver(answer: self, number: number)
        switch fetches.fetch(plan, for: receiver, isAlone: isAlone, through: network) {
        case .taken(let exchange): state.take(exchange, number)
        case .outdated: lookUp()
        }
    }

    fileprivate func receive(_ head: ResponseHead, _ number: Int) {
        let response = HTTPResponse(storing: head)
        let now = cache.now()
        let (told, reason, left): (ResponseHead?, UnsharedReason?, Upstream.Left?) = state.withLock { state in
            guard state.isUnderWay(number), state.phase == .asking else { return (nil, nil, nil) }
            if !head.isCoded, completion.accepts(response, for: state.span) {
                state.phase = .receiving
                state.isSecondAttempt = false
                if state.position < state.span.lowerBound {
                    state.stop = state.span.lowerBound
                    // The stored bytes are read when the head was delivered.
                    state.isReading = true
                }
                guard !state.hasHead else { return (nil, nil, nil) }
                state.hasHead = true
                let told = self.head(updatedBy: head, response, sent: state.sent, received: now)
                return (told, nil, nil)
            }
            // These statuses answer the question about the missing bytes, and not that of the load.
            guard !state.hasHead, ![206, 304, 412, 416].contains(head.statusCode) else {
                state.phase = .ended
                return (nil, .representation, state.upstream.leave(.cancelling))
            }
            state.phase = .passing
            state.hasHead = true
            return (head, nil, nil)
        }
        if let told { waiter.transportDidReceive(told) }
        if reason != nil { return giveUp(left) }
        keepPace()
        let reads = state.withLock { $0.isUnderWay(number) && $0.phase == .receiving && $0.isReading }
        if reads { DispatchQueue.global().async { self.readOn() } }
    }

    /// Ends the answer, because the missing bytes cannot be had.
    private func giveUp(_ left: Upstream.Left?) {
        left?.carryOut()
        guard state.withLock(\.hasHead) else { return waiter.fetchIsNotShared(.representation) }
        let message = """
            the rest of a response whose beginning is stored could not be loaded; load it again: \
            \(plan.presented.key.url.shownURL)
            """
        waiter.transportDidEnd(URLError(.networkConnectionLost, failing: plan.request.url, message))
    }

    /// The head of the answer.
    private func head(
        updatedBy head: ResponseHead,
        _ response: HTTPResponse,
        sent: Date,
        received: Date
    ) -> ResponseHead {
        let selection = completion.selection(
            updatedBy: response,
            requestTime: sent,
            responseTime: received,
            rules: cache.rules
        )
        if plan.strategy.checksDigests, completion.wanted.count == completion.head.contentLength {
            check.withLock { $0 = DigestCheck(StatedDigests(ofRepresentation: selection.head.headerFields)) }
        }
        let status = CacheStatus(.forwarded(.partial, status: head.statusCode))
        guard let url = plan.request.url else { return head }
        var told = ResponseHead(selection, length: completion.wanted.count, to: url, status)
        // The store keeps neither of these fields, and the client gets both.
        for name in [CacheStatus.field, "Set-Cookie"] {
            if let value = head.value(forHTTPHeaderField: name) { told = told.setting(name, to: value) }
        }
        return told
    }

    fileprivate func receive(_ part: Data, _ number: Int) {
        let delivered: Data? = state.withLock { state in
            guard state.isUnderWay(number) else { return nil }
            switch state.phase {
            case .receiving where state.stop != nil:
                state.held.append(part)
                return nil
            case .receiving:
                // A server may send more than it was asked for.
                let part = part.prefix(max(0, state.span.upperBound - state.position))
                state.position += part.count
                return part
            case .passing: return part
            case .asking, .reading, .ended: return nil
            }
        }
        if let delivered, !delivered.isEmpty { deliver(delivered) }
    }

    private func deliver(_ part: Data) {
        check.withLock { $0?.update(part) }
        waiter.transportDidReceive(part)
    }

    fileprivate func receiveEnd(_ error: (any Error)?, _ number: Int) {
        let isHeld = state.withLock { state in
            guard state.isUnderWay(number), state.stop != nil else { return false }
            state.heldEnd = error.map { .failure($0) } ?? .success(())
            return true
        }
        if !isHeld { end(error, number) }
    }

    /// The response with missing bytes has ended, and all of its bytes were delivered.
    private func end(_ error: (any Error)?, _ number: Int) {
        let (outcome, left): (Outcome?, Upstream.Left?) = state.withLock { state in
            guard state.isUnderWay(number) else { return (nil, nil) }
            guard error == nil, state.phase == .receiving else {
                state.phase = .ended
                return (.over, state.upstream.end())
            }
            // A response without a byte would be asked for again for ever.
            let isEmpty = state.position <= state.span.lowerBound
            state.phase = isEmpty ? .ended : .reading
            return (isEmpty ? .failed : .advanced, state.upstream.end())
        }
        switch outcome {
        case nil: break
        case .over?: waiter.transportDidEnd(error)
        case .failed?: giveUp(left)
        case .advanced?: lookUp()
        }
    }

    /// The effect of the end of a response with missing bytes.
    private enum Outcome { case over, failed, advanced }

    fileprivate func askAgain(_ number: Int, because reason: UnsharedReason) {
        let (span, _): (Range<Int>?, Upstream.Left?) = state.withLock { state in
            guard state.isUnderWay(number) else { return (nil, nil) }
            state.phase = .reading
            return (state.span, state.upstream.end())
        }
        guard let span else { return }
        switch reason {
        case .response: ask(for: span, isAlone: true)
        case .failure:
            state.withLock { $0.isSecondAttempt = true }
            ask(for: span)
        case .parts, .representation: lookUp()
        }
    }

    // MARK: - Stored bytes

    /// Looks for the bytes that are stored by now, and goes on with the next ones.
    private func lookUp() {
        let ends = fetches.ends(of: plan.presented.key)
        let isOver = state.withLock { state in
            state.lookedUp = ends
            return state.position >= completion.wanted.upperBound
        }
        guard !isOver else { return finish() }
        lookUpVariants { variants in
            // The store's queue must not wait for other code.
            DispatchQueue.global().async { self.goOn(with: variants) }
        }
    }

    /// Looks up what is stored by now, with the responses to other queries that may answer the request.
    private func lookUpVariants(_ found: @escaping @Sendable (StoredVariants) -> Void) {
        let packed = plan.variants.packed
        cache.lookUp(plan.presented.key, opening: { _ in false }) { found(StoredVariants($0, over: packed)) }
    }

    private func goOn(with variants: StoredVariants) {
        let index = completion.index(among: variants.heads)
        let position = state.withLock(\.position)
        let missing = completion.missing(
            from: position,
            beside: index.map { variants.heads[$0] }
        )
        let stop = missing?.lowerBound ?? completion.wanted.upperBound
        guard stop > position else {
            return ask(for: missing ?? position..<completion.wanted.upperBound)
        }
        guard state.withLock(\.hasHead) || missing == nil else {
            // The representation is confirmed before any byte of it is delivered.
            state.withLock { $0.body = index.flatMap(variants.body(at:)) }
            return ask(for: missing ?? position..<stop)
        }
        let (isHeadDue, hasEnded) = state.withLock { state in
            guard state.phase != .ended else { return (false, true) }
            // All of it was stored meanwhile: the load finds that by itself.
            guard state.hasHead else { return (true, false) }
            state.body = index.flatMap(variants.body(at:))
            state.stop = stop
            state.phase = .reading
            return (false, false)
        }
        guard !hasEnded else { return }
        if isHeadDue { restart() } else { read() }
    }

    /// Lets the load look up its response again.
    private func restart() {
        leave(.cancelling)
        waiter.fetchIsNotShared(.parts)
    }

    private func finish() {
        let isFirst = state.withLock { state in
            defer { state.phase = .ended }
            return state.phase != .ended
        }
        guard isFirst else { return }
        guard let mismatch = check.withLock({ $0.take() })?.error(of: plan.request.url) else {
            return waiter.transportDidEnd(nil)
        }
        cache.report(mismatch)
        lookUpVariants { variants in
            let parts = self.completion.index(among: variants.heads).map(variants.rows) ?? []
            // Look-ups that begin from now on do not find them.
            self.cache.store.remove(parts) { _ in }
            // The store's queue must not wait for other code.
            DispatchQueue.global().async { self.waiter.transportDidEnd(mismatch) }
        }
    }

    /// Reads stored bytes and delivers them, as long as the load takes them.
    private func read() {
        let isFirst = state.withLock { state in
            guard state.stop != nil, !state.isReading, !state.isPaused, state.phase != .ended else { return false }
            state.isReading = true
            return true
        }
        // The disk is not read on the thread that handles the network.
        if isFirst { DispatchQueue.global().async { self.readOn() } }
    }

    private func readOn() {
        while true {
            let next: (body: Answer.Body?, bytes: Range<Int>)? = state.withLock { state in
                guard let stop = state.stop, state.phase != .ended, !state.isPaused else {
                    state.isReading = false
                    return nil
                }
                return (state.body, state.position..<state.position + min(stop - state.position, Self.pieceLength))
            }
            guard let next else { return }
            guard !next.bytes.isEmpty else { return deliverHeld() }
            do {
                guard let body = next.body else { throw StoreError(.unavailable, "the stored parts are gone") }
                let part = try body.part(.bytes(next.bytes)).contents()
                state.withLock { $0.position += part.count }
                deliver(part)
            } catch {
                leave(.cancelling)
                return waiter.transportDidEnd(error)
            }
        }
    }

    /// Delivers what has arrived while stored bytes were read, and goes on.
    private func deliverHeld() {
        while true {
            let (part, number, ended, isIdle): (Data?, Int, Result<Void, any Error>?, Bool) = state.withLock { state in
                guard state.phase != .ended else { return (nil, 0, nil, false) }
                if !state.held.isEmpty {
                    let part = state.held.removeFirst().prefix(max(0, state.span.upperBound - state.position))
                    state.position += part.count
                    state.stop = state.position
                    return (part, state.number, nil, false)
                }
                state.stop = nil
                state.isReading = false
                return (nil, state.number, state.heldEnd.take(), state.phase == .reading)
            }
            if let part {
                if !part.isEmpty { deliver(part) }
                continue
            }
            keepPace()
            switch ended {
            case .success?: end(nil, number)
            case .failure(let error)?: end(error, number)
            case nil: if isIdle { lookUp() }
            }
            return
        }
    }
}

/// Receives missing bytes for an answer, from one of its fetches.
private struct SpanReceiver: FetchWaiter {
    let answer: CompletedAnswer
    let number: Int

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(answer), number: number) }

    func transportDidReceive(_ head: ResponseHead) { answer.receive(head, number) }
    func transportDidReceive(_ part: Data) { answer.receive(part, number) }
    func transportDidEnd(_ error: (any Error)?) { answer.receiveEnd(error, number) }
    func fetchIsNotShared(_ reason: UnsharedReason) { answer.askAgain(number, because: reason) }

    func fetchDidAnswer(_ stored: Answer) {
        answer.receive(stored.head, number)
        do {
            answer.receive(try stored.body.contents(), number)
            answer.receiveEnd(nil, number)
        } catch {
            answer.receiveEnd(error, number)
        }
    }
}

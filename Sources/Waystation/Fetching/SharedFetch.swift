import Dispatch
import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// One trip to the network for all loads that wait for the same response.
///
/// It revalidates the stored response if there is one, stores the response as it arrives, and delivers it to every
/// waiter. A waiter that leaves does not affect the others. When the last one leaves, the traffic stops; of a response with
/// a strong validator, the part that has arrived is stored. A failure before the head is final for the first waiter only: the others share a second trip, and
/// the result of that is final for all of them. So a hundred waiters do not make a hundred trips to a server that is
/// down.
final class SharedFetch: TransportReceiver {
    enum Phase {
        case waiting
        /// The response is dropped; the request is sent again at the end of the exchange.
        case repeating
        case streaming
        /// A 304 or a HEAD response confirmed the stored response, and the waiters have it; no content follows, and the
        /// exchange ends by itself, so that its connection can be used again.
        case confirmed
        case ended
    }

    struct State: Downstream {
        var phase = Phase.waiting
        var question: Question
        var audience = FetchAudience()
        var upstream = Upstream()
        /// The number of exchanges that were started.
        var started = 0
        /// Whether the store's disk is too far behind.
        var isDiskFull = false
        var times: Times
        /// Whether the fetch ended without a whole response, or with one that renews nothing.
        var hasFailed = false
        /// The server's advice about later requests, if it has answered with one.
        var advice: RenewalAdvice?
        /// The stored responses that this response replaces, once it has arrived complete.
        var outdated: [Int] = []
        /// The right to store the response in the shared tier.
        var claim: SharedClaim?
        /// The head of the response that is to be shared.
        var shared: StoredHead?
        /// The loads that wait until bytes of this response are stored, each with the number of the first byte of the fetch
        /// that it needs.
        var followers: [(load: any FetchWaiter, first: Int)] = []
        /// The number of the present pause of the fetch's own loads, if others wait for its bytes meanwhile.
        var pause: Int?
        var pauseCount = 0
        /// Whether this pause has lasted so long that no load waits for these bytes any more.
        var isStuck: Bool { pause.map { $0 == stuckPause } ?? false }
        var stuckPause = 0
        /// Whether other loads may wait: the response has not begun, or is stored as a part.
        var mayBeFollowed = true
        /// The number of bytes of the body that have arrived.
        var received = 0
        /// When the response began, and when its last bytes arrived; nil before it begins.
        var arrivals: (first: Date, last: Date)?
    }

    struct Times {
        var sent = Date.distantPast
        var received = Date.distantPast
        /// The point in the order of the store's invalidations at which the request was sent.
        var moment: StoreMoment
    }

    enum Question {
        case everything
        case conditional(Revalidation)
        case head(Revalidation)
    }

    let plan: FetchPlan
    let cache: CacheAccess
    private let network: Network
    let recorder: ResponseRecorder
    let state: Mutex<State>
    /// The comparison of the body with the digests that the response states, if the strategy asks for it.
    let check = Mutex<DigestCheck?>(nil)
    /// Called when no more waiters may join, and when the fetch ends.
    let closed: @Sendable (SharedFetch) -> Void

    init(
        _ plan: FetchPlan,
        in cache: CacheAccess,
        through network: Network,
        closed: @escaping @Sendable (SharedFetch) -> Void
    ) {
        self.plan = plan
        self.cache = cache
        self.network = network
        self.closed = closed
        recorder = ResponseRecorder(cache.store)
        let question: Question =
            switch (plan.presented.takesConditions ? plan.revalidation : nil, plan.strategy.kind) {
            // A HEAD is not about the response to another method.
            case (let revalidation?, .revalidate(.head))
            where plan.presented.message.method == .get && plan.presented.key.method == "GET":
                .head(revalidation)
            case (let revalidation?, _): .conditional(revalidation)
            case (nil, _): .everything
            }
        state = Mutex(State(question: question, times: Times(moment: cache.store.moment())))
    }

    // MARK: - Waiters

    /// The result of joining a fetch.
    enum Joining {
        case joined
        /// The response cannot be shared with this waiter.
        case tooLate
        /// The fetch has ended, and the response that it stored can be looked up.
        case ended
    }

    /// Adds a waiter, if it is not too late.
    ///
    /// It is also too late when the key has been invalidated since the request was sent: a load that starts after a
    /// change must not get a response from before it (RFC 9111 §4.4). The load that has made the fetch always joins,
    /// because it begins the fetch only after that: loads that joined earlier would otherwise wait for ever.
    ///
    /// - Parameters:
    ///   - waiter: The waiter.
    ///   - asMaker: Whether the waiter's load has made the fetch and begins it afterwards.
    /// - Returns: Whether the waiter gets the response of the fetch, or why not.
    func join(_ waiter: any FetchWaiter, asMaker: Bool = false) -> Joining {
        let joining: Joining = state.withLock { state in
            guard !state.hasEnded else { return .ended }
            guard state.audience.isOpen,
                asMaker || !cache.store.hasInvalidated(plan.presented.key, since: state.times.moment)
            else { return .tooLate }
            state.audience.join(waiter)
            return .joined
        }
        makeCalls()
        // All other loads of the fetch may be paused, and the load that joins is not.
        keepPace()
        return joining
    }

    /// Adds a load that needs some of the bytes of this fetch, and that is told when they are stored.
    ///
    /// - Parameters:
    ///   - follower: The load.
    ///   - bytes: The bytes that it needs.
    /// - Returns: Whether the load waits; it must not wait for a fetch that stores nothing, whose loads take no more, that
    ///   needs long until it has those bytes, or whose key was invalidated since its request was sent.
    func follow(_ follower: any FetchWaiter, needing bytes: Range<Int>?) -> Joining {
        let now = cache.now()
        let joining: Joining = state.withLock { state in
            guard !state.hasEnded else { return .ended }
            guard state.mayBeFollowed, !state.isStuck, let own = plan.bytes, let bytes else { return .tooLate }
            let first = max(bytes.lowerBound, own.lowerBound) - own.lowerBound
            guard isSoon(first, state, now), !cache.store.hasInvalidated(plan.presented.key, since: state.times.moment)
            else {
                return .tooLate
            }
            state.followers.append((follower, first))
            return .joined
        }
        guard joining == .joined else { return joining }
        // The loads of the fetch may all be paused.
        keepPace()
        reconsider(follower.id)
        return joining
    }

    /// Whether a byte can be looked up soon: it is near, or comes within two seconds at the pace so far.
    ///
    /// Bytes can be looked up when their part is stored. While the pace is not known, any byte may be near: a second
    /// request would wait for the same server.
    ///
    /// - Parameters:
    ///   - byte: The number of the byte among those of the fetch.
    ///   - state: The state of the fetch.
    ///   - now: The present time.
    /// - Returns: Whether it comes soon.
    private func isSoon(_ byte: Int, _ state: State, _ now: Date) -> Bool {
        guard let arrivals = state.arrivals else { return true }
        guard now.timeIntervalSince(arrivals.last) < Self.longestStall else { return false }
        let elapsed = now.timeIntervalSince(arrivals.first)
        guard elapsed >= Self.patience.inSeconds, let own = plan.bytes else { return true }
        let rest = ResponseRecorder.partLength - byte % ResponseRecorder.partLength
        let end = own.count - byte <= rest ? own.count : byte + rest
        let distance = end - state.received
        return distance <= Self.nearby || Double(distance) <= Double(state.received) / elapsed * 2
    }

    /// Lets a load go after a while if the byte that it needs is still far away.
    private func reconsider(_ follower: FetchWaiterID) {
        cache.schedule(Self.patience) { [weak self] in
            guard let self else { return }
            let now = cache.now()
            let (isWaiting, left): (Bool, (any FetchWaiter)?) = state.withLock { state in
                guard let index = state.followers.firstIndex(where: { $0.load.id == follower }) else {
                    return (false, nil)
                }
                guard !isSoon(state.followers[index].first, state, now) else { return (true, nil) }
                return (false, state.followers.remove(at: index).load)
            }
            left?.fetchIsNotShared(.parts)
            if isWaiting { reconsider(follower) }
        }
    }

    /// Removes a load that waits until bytes are stored.
    fileprivate func leave(asFollower follower: any FetchWaiter) {
        // The end of a waiter may call out, so it is released outside of the lock.
        _ = state.withLock { state in
            let followers = state.followers
            state.followers.removeAll { $0.load.id == follower.id }
            return followers.map(\.load)
        }
    }

    /// Lets the loads go that wait until bytes are stored.
    ///
    /// - Parameters:
    ///   - reason: Why they get no bytes of the fetch itself.
    ///   - isStored: Whether only those are let go whose first byte has arrived, because it is stored.
    func releaseFollowers(because reason: UnsharedReason = .parts, ifStored isStored: Bool = false) {
        let followers = state.withLock { state in
            let (present, received) = (state.followers, state.received)
            state.followers.removeAll { !isStored || $0.first < received }
            return present.filter { !isStored || $0.first < received }
        }
        for follower in followers { follower.load.fetchIsNotShared(reason) }
    }

    /// Removes a waiter; when it was the last one, the traffic stops.
    fileprivate func leave(_ waiter: any FetchWaiter) {
        let (isLast, left): (Bool, Upstream.Left?) = state.withLock { state in
            guard state.audience.leave(waiter), !state.hasEnded else { return (false, nil) }
            return (true, state.end(.cancelling))
        }
        // The waiters that are left may all be paused.
        guard isLast else { return keepPace() }
        // A look-up that counts this end finds the part that has arrived.
        recorder.end(isComplete: false)
        closed(self)
        left?.carryOut()
        makeCalls()
        releaseFollowers()
    }

    /// Counts a waiter as a renewal in the background, because its load has got another answer.
    fileprivate func detach(_ waiter: any FetchWaiter) {
        state.withLock { $0.audience.detach(waiter.id) }
        // The loads that are left may all be paused.
        keepPace()
    }

    /// The number of waiters.
    var waiterCount: Int { state.withLock(\.audience.count) }

    /// Whether a load waits, and not just a renewal in the background.
    var hasLoads: Bool { state.withLock(\.audience.hasLoads) }

    /// Whether the fetch has ended without a whole response, or with one that renews nothing, such as a 503.
    var hasFailed: Bool { state.withLock(\.hasFailed) }

    /// The server's advice about later requests, if it has answered with one.
    var advice: RenewalAdvice? { state.withLock(\.advice) }

    // MARK: - The trip

    /// Asks the network, without the shared tier.
    ///
    /// Call it on any queue.
    func askNetwork() { network.leavingQueue(for: plan.request) { self.start() } }

    /// Sends the request.
    ///
    /// A renewal in the background needs no other waiter. Do not call it on the loading queue, where a transport may not
    /// be started.
    func start() {
        let now = cache.now()
        let moment = cache.store.moment()
        // The end of a moment calls the store, so the earlier one is released outside of the lock.
        let (request, number, _, _): (URLRequest?, Int, Upstream.Left?, Times?) = state.withLock { state in
            guard !state.hasEnded else { return (nil, 0, nil, nil) }
            let times = state.times
            state.started += 1
            let ended = state.upstream.begin(state.started)
            state.phase = .waiting
            state.times = Times(sent: now, moment: moment)
            state.advice = nil
            switch state.question {
            case .everything: return (plan.request, state.started, ended, times)
            case .conditional(let revalidation):
                return (plan.request.taking(conditionsOf: revalidation.request), state.started, ended, times)
            case .head:
                var request = plan.request
                request.httpMethod = "HEAD"
                return (request, state.started, ended, times)
            }
        }
        guard var request else { return }
        if plan.strategy.checksDigests { request = request.wantingDigest }
        if !cache.storesCodedBodies || plan.strategy.checksDigests { request = request.withoutCodings }
        state.take(network.send(request, for: self, under: plan.span), number)
    }

    // MARK: - Arrivals

    func transportDidReceive(_ head: ResponseHead) {
        let received = cache.now()
        let advice = RenewalAdvice(head, now: received)
        let (question, sent, hasEnded) = state.withLock { state in
            if !state.hasEnded { state.advice = advice }
            return (state.question, state.times, state.hasEnded)
        }
        guard !hasEnded else { return }
        var times = sent
        times.received = received
        switch question {
        case .everything:
            let replacement = Replacement(
                by: head.statusCode,
                Validators(HTTPFields(head.rawFields)),
                to: plan.presented.message,
                among: plan.variants.heads
            )
            let decision = replacement.mayBeStored ? decision(head, times) : .refuse(.notMarkedStorable)
            receive(head, decision, times, outdated: replacement.outdated)
        case .conditional(let revalidation): validated(head, revalidation, times)
        case .head(let revalidation): compared(head, revalidation, times)
        }
    }

    func transportDidReceive(_ part: Data) {
        check.withLock { $0?.update(part) }
        let progress = recorder.append(part)
        let isStored = progress != .none
        if cache.shared != nil, !recorder.isCopying { stopSharing() }
        if isStored, cache.store.unwrittenBytes > Self.unwrittenLimit { waitForDisk() }
        let now = cache.now()
        let (isUnneeded, left): (Bool, Upstream.Left?) = state.withLock { state in
            state.received += part.count
            state.arrivals?.last = now
            if !isStored { state.mayBeFollowed = false }
            switch state.phase {
            // No load waits, and the store takes nothing more: a body without an end would go on for ever.
            case .streaming where !isStored && !state.audience.hasLoads:
                state.hasFailed = true
                return (true, state.giveUp())
            case .streaming: state.audience.callAll(delivering: part.count) { $0.transportDidReceive(part) }
            // No waiter would notice if this content had no end.
            case .confirmed: return (false, state.end(.cancelling))
            case .waiting, .repeating, .ended: break
            }
            return (false, nil)
        }
        if isUnneeded {
            endRecording(isComplete: true)
            closed(self)
        }
        left?.carryOut()
        makeCalls()
        keepPace()
        if progress != .recorded { releaseFollowers(ifStored: progress == .stored) }
    }

    /// Stores a complete response, and drops the older responses that it replaces.
    private func endRecording(isComplete: Bool) {
        let outdated = state.withLock(\.outdated)
        let share = sharing()
        recorder.end(isComplete: isComplete) { [self] result, copy in
            switch result {
            case .success(let count):
                effects.drop(outdated)
                share?(copy)
                cache.events.emit(LoadEvent(kind: .stored(bytes: count), url: plan.request.url))
            // A machine that may have missed a message invalidates all of its own responses. Whether other machines may
            // use this one is decided by its roots in the tier.
            case .failure(let error) where error.code == .invalidated: share?(copy)
            // The body was too large. It shows all the same that the older responses are outdated.
            case .failure(let error) where [.abandoned, .tooLarge].contains(error.code): effects.drop(outdated)
            case .failure: break
            }
        }
    }

    func transportDidEnd(_ error: (any Error)?) {
        let mismatch = error == nil ? check.withLock { $0.take() }?.error(of: plan.request.url) : nil
        if let mismatch {
            recorder.discard()
            cache.report(mismatch)
        }
        let error = error ?? mismatch
        // The response is committed before the waiters get the end, so that their next load finds it.
        endRecording(isComplete: error == nil)
        let (isOver, _): (Bool, Upstream.Left?) = state.withLock { state in
            switch state.phase {
            case .ended, .confirmed: return (false, state.end())
            case .repeating where error == nil:
                state.question = .everything
                return (false, state.upstream.end())
            case .waiting, .repeating:
                state.hasFailed = true
                let error = error ?? URLError.missingHead(of: plan.request.url)
                if !plan.isSecondAttempt { state.audience.keepOne(because: .failure) }
                state.audience.callAll { $0.transportDidEnd(error) }
            case .streaming:
                state.hasFailed = state.hasFailed || error != nil
                state.audience.callAll { $0.transportDidEnd(error) }
            }
            return (true, state.end())
        }
        guard isOver else { return repeatIfDue() }
        closed(self)
        makeCalls()
        releaseFollowers()
    }

    /// Sends the request again, without conditions.
    private func repeatIfDue() {
        guard state.withLock({ state in if case .repeating = state.phase { true } else { false } }) else { return }
        start()
    }

    /// Makes the pending calls, in order.
    ///
    /// If another thread is making calls, that thread makes these too.
    func makeCalls() {
        while let call = state.withLock({ $0.audience.nextCall() }) {
            call()
            state.withLock { $0.audience.callEnded() }
        }
    }

    /// The changes that an answer makes to the stored responses.
    var effects: StoredEffects {
        StoredEffects(plan: plan, cache: cache, moment: state.withLock(\.times.moment))
    }
}

extension SharedFetch.State {
    /// Whether the waiters have got all that they get.
    var hasEnded: Bool {
        switch phase {
        case .confirmed, .ended: true
        case .waiting, .repeating, .streaming: false
        }
    }

    /// Answers all waiters with the stored response, which the origin has confirmed.
    mutating func confirm(_ answer: Answer) {
        audience.callAll { $0.fetchDidAnswer(answer) }
        audience.close()
        phase = .confirmed
    }

    /// Drops the response; the request is sent again at the end of the exchange.
    mutating func repeatAtEnd() {
        if !hasEnded { phase = .repeating }
    }

    /// Ends the fetch early, because no load waits for it and its response is not stored.
    ///
    /// The renewals in the background get the end, by which they leave their login.
    mutating func giveUp() -> Upstream.Left? {
        audience.callAll { $0.transportDidEnd(URLError(.cancelled)) }
        return end(.cancelling)
    }

    /// Ends the fetch; calls that are already pending are still made.
    ///
    /// - Parameter leaving: The way in which the exchange is left; nil if it has ended.
    /// - Returns: The exchange.
    mutating func end(_ leaving: Upstream.Leaving? = nil) -> Upstream.Left? {
        phase = .ended
        audience.close()
        return leaving.map { upstream.leave($0) } ?? upstream.end()
    }
}

/// The pace of a fetch: its exchange is paused while no load can take more, and while the store's disk is too far behind.
extension SharedFetch {
    /// The time for which loads wait for the bytes of a fetch whose own loads take no more, or whose pace is not known.
    private static let patience = Duration.seconds(1)
    /// The number of bytes for which a load waits at any pace, as long as some bytes arrive.
    private static let nearby = 1 << 20
    /// The seconds without any bytes after which the bytes of a fetch do not count as near.
    private static let longestStall = 10.0

    /// The number of bytes that may wait for the store's disk; a kill of the process loses them.
    private static let unwrittenLimit = 512 << 10

    /// Records whether a waiter can take more; when no waiter can, the exchange is paused.
    fileprivate func pause(_ waiter: any FetchWaiter, _ isPaused: Bool) {
        state.withLock { $0.audience.pause(waiter.id, isPaused) }
        keepPace()
    }

    /// Pauses the exchange until the store has written the bytes that it was given.
    private func waitForDisk() {
        let isFirst = state.withLock { state in
            defer { state.isDiskFull = true }
            return !state.isDiskFull && !state.hasEnded
        }
        guard isFirst else { return }
        keepPace()
        cache.store.afterWrites { [weak self] in
            // The store's queue must not wait for a transport.
            DispatchQueue.global().async { [weak self] in self?.diskHasWritten() }
        }
    }

    private func diskHasWritten() {
        state.withLock { $0.isDiskFull = false }
        keepPace()
    }

    func keepPace() {
        let pause: Int? = state.withLock { state in
            let isPaused = state.audience.isPaused
            state.upstream.isPaused = state.isDiskFull || isPaused
            guard isPaused else {
                state.pause = nil
                return nil
            }
            guard state.pause == nil, !state.followers.isEmpty else { return nil }
            state.pauseCount += 1
            state.pause = state.pauseCount
            return state.pause
        }
        state.keepPace()
        guard let pause else { return }
        cache.schedule(Self.patience) { [weak self] in self?.end(pause) }
    }

    /// Lets the loads go that wait for bytes, if the fetch's own loads have taken nothing since a pause began.
    ///
    /// A load that is read slowly is paused again and again; one that is suspended may stay so.
    private func end(_ pause: Int) {
        let isStuck = state.withLock { state in
            if state.pause == pause { state.stuckPause = pause }
            return state.isStuck
        }
        if isStuck { releaseFollowers() }
    }
}

/// The part of a load that waits until a fetch has stored bytes that the load needs.
struct FollowedFetch: DetachableExchange {
    let fetch: SharedFetch
    let waiter: any FetchWaiter

    func detach() { fetch.leave(asFollower: waiter) }
    func cancel() { fetch.leave(asFollower: waiter) }
}

/// One waiter's part in a fetch: in its place, the waiter has an exchange of its own.
struct SharedExchange: DetachableExchange {
    let fetch: SharedFetch
    let waiter: any FetchWaiter

    func pause() { fetch.pause(waiter, true) }
    func resume() { fetch.pause(waiter, false) }
    func detach() { fetch.detach(waiter) }
    func cancel() { fetch.leave(waiter) }
}

import WaystationFoundation
import WaystationStorage

/// The waiters of a shared fetch, and the calls that they have yet to get: a state machine without side effects.
///
/// Every waiter gets the same calls in the same order, whenever it joins. Pending calls are made outside of the fetch's
/// lock, by one thread at a time.
struct FetchAudience: Sendable {
    typealias Call = @Sendable (any FetchWaiter) -> Void

    /// The number of bytes of a body that are kept for waiters that join while it arrives.
    private static let replayLimit = 1 << 20
    /// The number of bytes that are delivered to a load that can take no more, because others can.
    private static let waitingLimit = 8 << 20

    private var waiters: [any FetchWaiter] = []
    /// The waiters that can take no more for now, each with the number of bytes that were delivered before.
    private var paused: [(id: FetchWaiterID, since: Int)] = []
    /// The number of bytes that were delivered.
    private var delivered = 0
    /// The waiters whose loads have got another answer.
    private var detached: [FetchWaiterID] = []
    /// The calls that later waiters must get first; nil when no more waiters may join.
    private var replay: [Call]? = []
    private var replayBytes = 0
    /// The pending calls, in order; the thread that makes the first one makes all of them.
    private var calls: Queue<@Sendable () -> Void> = []
    private var isCalling = false

    /// The number of waiters.
    var count: Int { waiters.count }

    /// Whether a waiter may still join.
    var isOpen: Bool { replay != nil }

    /// Whether a load waits, and not just a renewal in the background.
    var hasLoads: Bool { waiters.contains(where: isLoad) }

    private func isLoad(_ waiter: any FetchWaiter) -> Bool { waiter.isLoad && !detached.contains(waiter.id) }

    /// Adds a waiter, which gets all calls that were made before.
    mutating func join(_ waiter: any FetchWaiter) {
        waiters.append(waiter)
        for call in replay ?? [] { calls.append { call(waiter) } }
    }

    /// Removes a waiter.
    ///
    /// - Returns: Whether it was the last one.
    mutating func leave(_ waiter: any FetchWaiter) -> Bool {
        guard let index = waiters.firstIndex(where: { $0.id == waiter.id }) else { return false }
        waiters.remove(at: index)
        paused.removeAll { $0.id == waiter.id }
        detached.removeAll { $0 == waiter.id }
        return waiters.isEmpty
    }

    /// Records that a waiter's load has got another answer.
    ///
    /// From now on, the waiter counts as a renewal in the background.
    mutating func detach(_ waiter: FetchWaiterID) {
        guard waiters.contains(where: { $0.id == waiter }) else { return }
        detached.append(waiter)
    }

    /// Records whether a waiter can take more.
    mutating func pause(_ waiter: FetchWaiterID, _ isPaused: Bool) {
        paused.removeAll { $0.id == waiter }
        if isPaused { paused.append((waiter, since: delivered)) }
    }

    /// Whether the exchange is to stop reading: no load can take more, or too many bytes wait in one of them.
    ///
    /// A load that is a little slower does not delay the others. One that is much slower, or suspended, does, because
    /// what it has not taken is in memory.
    var isPaused: Bool {
        guard !paused.isEmpty else { return false }
        let loads = waiters.filter(isLoad)
        let pausedLoads = loads.compactMap { load in paused.first { $0.id == load.id } }
        return !loads.isEmpty
            && (pausedLoads.count == loads.count || pausedLoads.contains { delivered - $0.since > Self.waitingLimit })
    }

    /// Calls all present waiters, and later ones when they join.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes that the call delivers; after too many, no more waiters may join.
    ///   - call: The call.
    mutating func callAll(delivering bytes: Int = 0, _ call: @escaping Call) {
        delivered += bytes
        replayBytes += bytes
        if replayBytes > Self.replayLimit { endReplay() }
        replay?.append(call)
        for waiter in waiters { calls.append { call(waiter) } }
    }

    /// Keeps one waiter; the others must ask again by themselves, and no more waiters may join.
    ///
    /// It keeps the first waiter, or, for a response that is meant for one request, the first load: otherwise a renewal
    /// in the background could receive the response, and a load would have to ask again.
    mutating func keepOne(because reason: UnsharedReason) {
        endReplay()
        let load = reason == .response ? waiters.first(where: isLoad) : nil
        guard let kept = load ?? waiters.first else { return }
        for waiter in waiters where waiter.id != kept.id { calls.append { waiter.fetchIsNotShared(reason) } }
        waiters = [kept]
        paused.removeAll { $0.id != kept.id }
    }

    /// Lets all waiters go; calls that are already pending are still made.
    ///
    /// The end of a waiter may call out. So the waiters are released by a pending call, and not here, within the lock.
    mutating func close() {
        if !waiters.isEmpty { calls.append { [waiters] in withExtendedLifetime(waiters) {} } }
        waiters = []
        paused = []
        detached = []
        endReplay()
    }

    /// Lets no more waiters join.
    ///
    /// The values in the calls for later waiters come from a transport, so they too are released by a pending call.
    private mutating func endReplay() {
        if let replay, !replay.isEmpty { calls.append { withExtendedLifetime(replay) {} } }
        replay = nil
    }

    /// The next pending call; nil if no call is pending, or if another thread is making one and will make this one too.
    ///
    /// The caller makes the call, and then calls ``callEnded()``.
    mutating func nextCall() -> (@Sendable () -> Void)? {
        guard !isCalling, let call = calls.popFirst() else { return nil }
        isCalling = true
        return call
    }

    /// The call of ``nextCall()`` has returned.
    mutating func callEnded() { isCalling = false }
}

/// The recipient of a fetch's result: at most one head, parts and one end, or one answer instead of all of them.
///
/// Calls are made one at a time and in order, on any thread.
protocol FetchWaiter: TransportReceiver {
    /// Names the waiter among those of its fetch.
    var id: FetchWaiterID { get }
    /// Whether it is a load, and not a renewal in the background.
    var isLoad: Bool { get }
    /// A stored response is the answer: the origin confirmed it, or it replaces a failed exchange.
    func fetchDidAnswer(_ answer: Answer)
    /// The result of the fetch cannot be shared with this waiter, which must ask again.
    func fetchIsNotShared(_ reason: UnsharedReason)
}

extension FetchWaiter {
    var isLoad: Bool { true }
}

/// The name of a waiter: an object, and a number for each time that the object asks.
struct FetchWaiterID: Equatable, Sendable {
    let object: ObjectIdentifier
    let number: Int
}

/// The reason why a waiter must ask again.
enum UnsharedReason: Sendable {
    /// The response was meant for one request alone; the next one is expected to be as well.
    case response
    /// The trip failed; the next may be shared.
    case failure
}

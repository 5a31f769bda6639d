import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The fetches that are under way: at most one for each plan.
final class Fetches: Sendable {
    private struct Identity: Hashable {
        let network: ObjectIdentifier
        let plan: FetchPlan.Identity
    }

    /// The result of asking for a fetch.
    enum Participation {
        case taken(any DetachableExchange)
        /// A fetch has ended since the key was looked up: the response that it stored may be the answer.
        case outdated
    }

    /// A fetch for a plan.
    private enum Found {
        /// It asks the same.
        case same(SharedFetch, isNew: Bool)
        /// It asks for some of the bytes that the plan needs.
        case overlapping(SharedFetch)
    }

    private struct State {
        var running: [Identity: SharedFetch] = [:]
        /// The number of ended fetches, in slots that many keys share, so that the array does not grow.
        var ends = [UInt](repeating: 0, count: 256)
        /// The renewals that failed last, in the same slots, with the time of failure.
        var failures: [Int: (identity: Identity, time: Date)] = [:]
        /// The longer pauses that servers have asked for.
        var pauses = RequestedPauses()

        /// A fetch that asks for some of the bytes of a range, with the same request apart from the range.
        func fetch(
            of identity: Identity,
            overlapping bytes: Range<Int>?,
            except excluded: Set<ObjectIdentifier>
        ) -> SharedFetch? {
            guard let bytes else { return nil }
            return running.first { other, fetch in
                fetch.plan.bytes?.overlaps(bytes) ?? false && other.network == identity.network
                    && other.plan.isForSameBytes(as: identity.plan) && !excluded.contains(ObjectIdentifier(fetch))
            }?.value
        }
    }

    /// The number of seconds after a failed renewal in which no other is tried, so that a failing server is not asked
    /// at each hit.
    ///
    /// A renewal has also failed when its response neither confirms nor replaces the stored one: an error, a refusal, or
    /// a response that is not stored.
    private static let pauseAfterFailure: TimeInterval = 10

    let cache: CacheAccess
    private let state = Mutex(State())

    init(_ cache: CacheAccess) { self.cache = cache }

    /// The number of waiters of all fetches that are under way.
    var waiterCount: Int { state.withLock { Array($0.running.values) }.reduce(0) { $0 + $1.waiterCount } }

    /// The number of ended fetches that may have changed the stored responses of a key; read it before the look-up.
    func ends(of key: RequestKey) -> UInt {
        let place = place(of: key)
        return state.withLock { $0.ends[place] }
    }

    private func place(of key: RequestKey) -> Int { Int(UInt(bitPattern: key.hashValue) % 256) }

    /// Adds a waiter to the running fetch of a plan, or starts one.
    ///
    /// - Parameters:
    ///   - plan: The plan of the fetch.
    ///   - waiter: The recipient of the result.
    ///   - isAlone: Whether the waiter needs a trip of its own.
    ///   - network: The network of the waiter's session.
    /// - Returns: The fetch, or that the plan is outdated.
    func fetch(
        _ plan: FetchPlan,
        for waiter: any FetchWaiter,
        isAlone: Bool,
        through network: Network
    ) -> Participation {
        if let completion = plan.completion {
            let answer = CompletedAnswer(completion, of: plan, for: waiter, by: self, through: network)
            answer.begin()
            return .taken(answer)
        }
        guard !isAlone else {
            let fetch = SharedFetch(plan, in: cache, through: network) { _ in }
            _ = fetch.join(waiter, asMaker: true)
            fetch.askNetwork()
            return .taken(SharedExchange(fetch: fetch, waiter: waiter))
        }
        let identity = Identity(network: ObjectIdentifier(network), plan: plan.identity)
        let place = place(of: plan.presented.key)
        var unfollowed: Set<ObjectIdentifier> = []
        while true {
            let (found, isPresent): (Found?, Bool) = state.withLock { state in
                let isPresent = plan.lookedUp == nil || plan.lookedUp == state.ends[place]
                if let fetch = state.running[identity] { return (.same(fetch, isNew: false), isPresent) }
                guard isPresent else { return (nil, false) }
                if waiter.isLoad, let fetch = state.fetch(of: identity, overlapping: plan.bytes, except: unfollowed) {
                    return (.overlapping(fetch), true)
                }
                let fetch = SharedFetch(plan, in: cache, through: network) {
                    [weak self, now = cache.now] in self?.close($0, identity, place, now())
                }
                state.running[identity] = fetch
                return (.same(fetch, isNew: true), true)
            }
            guard let found else { return .outdated }
            guard case .same(let fetch, let isNew) = found else {
                guard case .overlapping(let fetch) = found else { continue }
                switch fetch.follow(waiter, needing: plan.bytes) {
                case .joined: return .taken(FollowedFetch(fetch: fetch, waiter: waiter))
                case .ended where plan.lookedUp != nil: return .outdated
                case .ended, .tooLate: unfollowed.insert(ObjectIdentifier(fetch))
                }
                continue
            }
            // It may renew a response that was stored after the look-up, and that can answer the load at once.
            if !isNew, !isPresent, waiter.isLoad, !fetch.hasLoads { return .outdated }
            switch fetch.join(waiter, asMaker: isNew) {
            case .joined:
                if isNew { fetch.begin() }
                return .taken(SharedExchange(fetch: fetch, waiter: waiter))
            // The end of that fetch is about to be counted.
            case .ended where plan.lookedUp != nil: return .outdated
            // The bytes that have arrived are no longer at hand, but they are stored.
            case .tooLate where waiter.isLoad && !unfollowed.contains(ObjectIdentifier(fetch)):
                guard case .joined = fetch.follow(waiter, needing: plan.bytes) else {
                    unfollowed.insert(ObjectIdentifier(fetch))
                    continue
                }
                return .taken(FollowedFetch(fetch: fetch, waiter: waiter))
            case .ended, .tooLate:
                // Removes the fetch, so that the next pass of the loop starts a new one.
                state.withLock { if $0.running[identity] === fetch { $0.running[identity] = nil } }
            }
        }
    }

    private func close(_ fetch: SharedFetch, _ identity: Identity, _ place: Int, _ now: Date) {
        let (key, hasFailed, advice) = (fetch.plan.presented.key, fetch.hasFailed, fetch.advice)
        state.withLock { state in
            state.ends[place] &+= 1
            if hasFailed {
                state.failures[place] = (identity, now)
            } else if state.failures[place]?.identity == identity {
                state.failures[place] = nil
            }
            if let advice { state.pauses.take(advice, about: key) }
            // Another fetch may have replaced it when it became too late to join it.
            if state.running[identity] === fetch { state.running[identity] = nil }
        }
    }

    /// Whether a renewal may begin: none is under way here, none has just failed, and the server wants no pause.
    func isDue(_ plan: FetchPlan, through network: Network) -> Bool {
        let identity = Identity(network: ObjectIdentifier(network), plan: plan.identity)
        let now = cache.now()
        let key = plan.presented.key
        let place = place(of: key)
        return state.withLock { state in
            guard state.running[identity] == nil, !state.pauses.contains(key, now: now) else { return false }
            guard let failure = state.failures[place], failure.identity == identity else { return true }
            return !(0..<Self.pauseAfterFailure).contains(now.timeIntervalSince(failure.time))
        }
    }
}

/// A request to the network on behalf of the cache.
struct FetchPlan: Sendable {
    /// The app's request, without conditions that the cache adds.
    var request: URLRequest
    var presented: CacheRequest
    /// The stored responses at the time of the decision.
    var variants: StoredVariants
    var strategy: CacheStrategy
    /// The tags of the response, if it is stored.
    var tags: [String] = []
    /// The conditional request about the stored response; nil loads the whole response again.
    var revalidation: Revalidation?
    var reason = CacheStatus.ForwardReason.stale
    /// Whether a stored response may be served instead of a server error, as RFC 9111 and RFC 5861 allow it.
    var mayStandIn = false
    /// The number of fetches of the key that had ended before the look-up; nil when that does not matter.
    var lookedUp: UInt?
    /// The login whose cookies a renewal in the background has; a log-out ends that renewal.
    var ticket: LoginTicket?
    /// The span of the load that makes the fetch.
    var span: LoadSpan?
    /// The plan by which only the bytes are asked for that are not stored.
    var completion: Completion?
    /// Whether a first trip failed.
    ///
    /// Loads that ask the origin again share one second trip, and a failure of that trip is final for all of them.
    var isSecondAttempt = false

    /// Plans with equal identities share one trip: the same request to the byte, asked in the same way.
    var identity: Identity {
        Identity(
            key: [
                presented.key.url, presented.key.partition, request.url?.absoluteString ?? "", request.httpMethod ?? "",
            ],
            fields: request.allHTTPHeaderFields ?? [:],
            policy: request.cachePolicy.rawValue,
            timeout: request.timeoutInterval,
            strategy: strategy,
            isSecondAttempt: isSecondAttempt
        )
    }

    /// The bytes that are asked for; nil unless the request is for one range of bytes that may be shared with other loads.
    ///
    /// Nil for a range from the end of a representation whose length is not known.
    var bytes: Range<Int>? {
        guard completion == nil, reason != .request, !isSecondAttempt,
            let range = presented.message.headerFields.firstValue(.range), length != nil || !range.contains("=-"),
            case .part(let bytes) = ByteRange(range, length: length ?? .max)
        else { return nil }
        return bytes
    }

    /// The length of the whole representation, if a part of it is stored.
    private var length: Int? {
        variants.heads.last { $0.held != nil && presented.mayBeAnswered(by: $0) }?.contentLength
    }

    struct Identity: Hashable, Sendable {
        let key: [String]
        let fields: [String: String]
        let policy: UInt
        let timeout: TimeInterval
        let strategy: CacheStrategy
        let isSecondAttempt: Bool

        /// Whether plans differ in nothing but the range of bytes.
        fileprivate func isForSameBytes(as other: Identity) -> Bool {
            guard key == other.key, strategy == other.strategy, policy == other.policy else { return false }
            func isOther(_ field: (key: String, value: String)) -> Bool {
                !field.key.equalsIgnoringCase("Range") && !field.key.equalsIgnoringCase("If-Range")
            }
            return fields.filter(isOther) == other.fields.filter(isOther)
        }
    }
}

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
    /// Bytes for which the load has waited are stored now, or will not be.
    case parts
    /// The stored parts of the response are of no use: the load needs all of it.
    case representation
}

import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import WaystationStorage

/// The fetches that are under way: for each plan one at a time.
final class Fetches: Sendable {
    private struct Identity: Hashable {
        let network: ObjectIdentifier
        let plan: FetchPlan.Identity
    }

    /// Who asks about something finds its fetch under way, or what that has left behind.
    enum Participation {
        case taken(SharedFetch)
        /// A fetch has ended since the key was looked up: what it stored may be the answer.
        case outdated
    }

    private struct State {
        var running: [Identity: SharedFetch] = [:]
        /// How many fetches have ended, in places shared by many keys, so that it does not grow.
        var ends = [UInt](repeating: 0, count: 256)
        /// The renewals that failed last, in the same places, and when.
        var failures: [Int: (identity: Identity, time: Date)] = [:]
    }

    /// For how many seconds after a failed renewal no other is tried: a server that is down is not asked at each hit.
    private static let pauseAfterFailure: TimeInterval = 10

    private let state = Mutex(State())

    /// How many wait for what is under way.
    var waiterCount: Int { state.withLock { Array($0.running.values) }.reduce(0) { $0 + $1.waiterCount } }

    /// How many fetches have ended that may have changed what is stored for a key; read before it is looked up.
    func ends(of key: RequestKey) -> UInt {
        let place = place(of: key)
        return state.withLock { $0.ends[place] }
    }

    private func place(of key: RequestKey) -> Int { Int(UInt(bitPattern: key.hashValue) % 256) }

    /// Lets a waiter take part in the fetch of a plan that is under way, or starts one; not on the loading queue.
    ///
    /// - Parameters:
    ///   - plan: What to ask.
    ///   - waiter: Who waits.
    ///   - isAlone: Whether it wants a trip of its own.
    ///   - engine: The interceptor's.
    ///   - network: The network of its session.
    /// - Returns: The fetch, or that the plan is outdated; nil without a cache.
    func fetch(
        _ plan: FetchPlan,
        for waiter: any FetchWaiter,
        isAlone: Bool,
        engine: Engine,
        through network: Network
    ) -> Participation? {
        guard let store = engine.cache?.store else { return nil }
        guard !isAlone else {
            let fetch = SharedFetch(plan, engine: engine, store: store, through: { network.transport }) { _ in }
            _ = fetch.join(waiter)
            fetch.start()
            return .taken(fetch)
        }
        let identity = Identity(network: ObjectIdentifier(network), plan: plan.identity)
        let place = place(of: plan.entry.key)
        while true {
            let found: (fetch: SharedFetch, isNew: Bool)? = state.withLock { state in
                if let fetch = state.running[identity] { return (fetch, false) }
                guard plan.lookedUp == nil || plan.lookedUp == state.ends[place] else { return nil }
                let fetch = SharedFetch(plan, engine: engine, store: store, through: { network.transport }) {
                    [weak self, now = engine.configuration.now] in self?.close($0, identity, place, now())
                }
                state.running[identity] = fetch
                return (fetch, true)
            }
            guard let (fetch, isNew) = found else { return .outdated }
            switch fetch.join(waiter) {
            case .joined:
                if isNew { fetch.start() }
                return .taken(fetch)
            // Its end is about to be counted.
            case .ended where plan.lookedUp != nil: return .outdated
            case .ended, .tooLate:
                // For a trip of our own.
                state.withLock { if $0.running[identity] === fetch { $0.running[identity] = nil } }
            }
        }
    }

    private func close(_ fetch: SharedFetch, _ identity: Identity, _ place: Int, _ now: Date) {
        let hasFailed = fetch.hasFailed
        state.withLock { state in
            state.ends[place] &+= 1
            if hasFailed {
                state.failures[place] = (identity, now)
            } else if state.failures[place]?.identity == identity {
                state.failures[place] = nil
            }
            // Another may have taken its place when it became too late to join.
            if state.running[identity] === fetch { state.running[identity] = nil }
        }
    }

    /// Renews what was served already, unless that is under way or has just failed; nobody is told.
    func renew(_ plan: FetchPlan, engine: Engine, through network: Network) {
        let identity = Identity(network: ObjectIdentifier(network), plan: plan.identity)
        let now = engine.configuration.now()
        let place = place(of: plan.entry.key)
        let isDue = state.withLock { state in
            guard state.running[identity] == nil else { return false }
            guard let failure = state.failures[place], failure.identity == identity else { return true }
            return !(0..<Self.pauseAfterFailure).contains(now.timeIntervalSince(failure.time))
        }
        guard isDue else { return }
        // Making a task on the loading queue, where hits are answered, would kill the process.
        DispatchQueue.global().async {
            _ = self.fetch(plan, for: Renewal.shared, isAlone: false, engine: engine, through: network)
        }
    }
}

/// Waits for a renewal on nobody's behalf, and never leaves.
final class Renewal: FetchWaiter {
    static let shared = Renewal()

    func fetchDidReceive(_: HTTPURLResponse) {}
    func fetchDidReceive(_: Data) {}
    func fetchDidAnswer(_: Answer) {}
    func fetchDidEnd(_: (any Error)?) {}
    func fetchIsNotShared(_: UnsharedReason) {}
}

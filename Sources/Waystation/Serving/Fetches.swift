import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// The fetches that are under way: for each plan one at a time.
final class Fetches: Sendable {
    private struct Identity: Hashable {
        let network: ObjectIdentifier
        let plan: FetchPlan.Identity
    }

    private let running = Mutex<[Identity: SharedFetch]>([:])

    /// Lets a waiter take part in the fetch of a plan that is under way, or starts one.
    ///
    /// - Parameters:
    ///   - plan: What to ask.
    ///   - waiter: Who waits.
    ///   - isAlone: Whether it wants a trip of its own.
    ///   - engine: The interceptor's.
    ///   - network: The network of its session.
    /// - Returns: The fetch; nil without a cache.
    func fetch(
        _ plan: FetchPlan,
        for waiter: any FetchWaiter,
        isAlone: Bool,
        engine: Engine,
        through network: Network
    ) -> SharedFetch? {
        guard let store = engine.cache?.store else { return nil }
        guard !isAlone else {
            let fetch = SharedFetch(plan, engine: engine, store: store, through: { network.transport }) {}
            _ = fetch.join(waiter)
            start(fetch)
            return fetch
        }
        let identity = Identity(network: ObjectIdentifier(network), plan: plan.identity)
        while true {
            let (fetch, isNew) = running.withLock { running in
                if let fetch = running[identity] { return (fetch, false) }
                let fetch = SharedFetch(plan, engine: engine, store: store, through: { network.transport }) {
                    [weak self] in
                    self?.running.withLock { _ = $0.removeValue(forKey: identity) }
                }
                running[identity] = fetch
                return (fetch, true)
            }
            if fetch.join(waiter) {
                if isNew { start(fetch) }
                return fetch
            }
            // It has just become too late to join; what it leaves behind is for a trip of our own.
            running.withLock { if $0[identity] === fetch { $0[identity] = nil } }
        }
    }

    /// Renews what was served already, unless that is under way; nobody is told.
    func renew(_ plan: FetchPlan, engine: Engine, through network: Network) {
        _ = fetch(plan, for: Renewal.shared, isAlone: false, engine: engine, through: network)
    }

    private func start(_ fetch: SharedFetch) {
        // Making a task on the loading queue, where hits are answered, would kill the process.
        DispatchQueue.global().async { fetch.start() }
    }
}

/// Waits for a renewal on nobody's behalf, and never leaves.
private final class Renewal: FetchWaiter {
    static let shared = Renewal()

    func fetchDidReceive(_: HTTPURLResponse) {}
    func fetchDidReceive(_: Data) {}
    func fetchDidAnswer(_: Answer) {}
    func fetchDidEnd(_: (any Error)?) {}
    func fetchIsNotShared() {}
}

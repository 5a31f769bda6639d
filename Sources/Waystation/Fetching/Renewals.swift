import Dispatch
import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Renewals in the background of responses that were served (RFC 5861 §3).
extension Fetches {
    /// Renews a response that was already served, unless that is under way, here or in another process with the same
    /// directory, or has just failed, or the server wants no request yet.
    ///
    /// The result is not reported. A log-out of the login whose cookies the request has ends the renewal.
    func renew(_ plan: FetchPlan, through network: Network) {
        guard isDue(plan, through: network), let renewal = Renewal(under: plan.ticket) else { return }
        let vary = plan.variants.heads.first(where: plan.presented.mayBeAnswered)?.vary ?? .none
        cache.store.claimRenewal(of: plan.presented.key, vary) { claim in
            // The store's queue must not wait for other code.
            DispatchQueue.global().async {
                // One that has just ended may have failed.
                guard let claim, self.isDue(plan, through: network) else { return renewal.conclude() }
                renewal.hold(claim)
                self.begin(renewal, plan, network)
            }
        }
    }

    /// Begins a renewal, if the responses of its plan are still those that are stored.
    ///
    /// Another process may have renewed them since the look-up, and so may fetches of this one, as many may end while a long
    /// body is delivered.
    private func begin(_ renewal: Renewal, _ plan: FetchPlan, _ network: Network) {
        guard plan.lookedUp != nil else { return begin(renewal, byFetchOf: plan, network) }
        let ends = ends(of: plan.presented.key)
        lookUpUnchanged(plan) { isUnchanged in
            guard isUnchanged else { return renewal.conclude() }
            var plan = plan
            plan.lookedUp = ends
            // The store's queue must not wait for other code.
            DispatchQueue.global().async { [plan] in self.begin(renewal, byFetchOf: plan, network) }
        }
    }

    private func begin(_ renewal: Renewal, byFetchOf plan: FetchPlan, _ network: Network) {
        switch fetch(plan, for: renewal, isAlone: false, through: network) {
        case .taken(let exchange): renewal.joined(exchange)
        // Many keys are counted together, so the fetch that has ended may have been one of another key.
        case .outdated: begin(renewal, plan, network)
        }
    }

    /// Finds out whether the responses of a plan are still those that are stored, with or without those to other queries.
    private func lookUpUnchanged(_ plan: FetchPlan, _ completion: @escaping @Sendable (Bool) -> Void) {
        let key = plan.presented.key
        let isUnchanged: @Sendable ([StoredResponse]) -> Bool = { responses in
            StoredVariants(responses, over: plan.variants.packed).heads == plan.variants.heads
        }
        cache.store.lookup(key, opening: { _ in false }) { responses in
            let responses = self.cache.usable(responses)
            guard !isUnchanged(responses) else { return completion(true) }
            self.cache.searched(key, opening: { _ in false }) { others in
                completion(!others.isEmpty && isUnchanged((responses + others).newestFirst))
            }
        }
    }
}

/// The waiter of a renewal in the background: it ignores the result.
final class Renewal: FetchWaiter {
    private struct State: Downstream {
        var upstream = Upstream()
        /// The right to renew, until the fetch has a result.
        var claim: RenewalClaim?
        var hasEnded = false

        mutating func end() -> RenewalClaim? {
            hasEnded = true
            return claim.take()
        }
    }

    private let state = Mutex(State())
    private let place = LoginPlace()

    /// Begins a renewal among the loads of its login, so that a log-out ends it; nil when the user has logged out since
    /// the request got its cookies.
    init?(under ticket: LoginTicket?) {
        _ = state.withLock { $0.upstream.begin(1) }
        guard let ticket else { return }
        guard place.enter(ticket, end: { [weak self] _ in self?.end() ?? false }) else { return nil }
    }

    /// Records the fetch that the renewal waits for.
    func joined(_ exchange: any DetachableExchange) { state.take(exchange, 1) }

    /// Keeps the right to renew until the renewal ends.
    func hold(_ claim: RenewalClaim) {
        state.withLock { state in if !state.hasEnded { state.claim = claim } }
    }

    /// Ends the renewal, because of a log-out.
    private func end() -> Bool {
        let (left, _): (Upstream.Left?, RenewalClaim?) = state.withLock { ($0.upstream.leave(.cancelling), $0.end()) }
        left?.carryOut()
        return place.leave()
    }

    /// Ends the renewal, because its fetch has ended, or because nothing is fetched; a result is ignored.
    func conclude() {
        // The end of a claim calls the store, so it is released outside of the lock.
        _ = state.withLock { ($0.upstream.end(), $0.end()) }
        place.leave()
    }

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(self), number: 0) }
    var isLoad: Bool { false }

    func transportDidReceive(_: ResponseHead) {}
    func transportDidReceive(_: Data) {}
    func transportDidEnd(_: (any Error)?) { conclude() }
    func fetchDidAnswer(_: Answer) { conclude() }
    func fetchIsNotShared(_: UnsharedReason) { conclude() }
}

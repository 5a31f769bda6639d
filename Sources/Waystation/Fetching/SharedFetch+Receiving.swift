import Foundation
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationStorage
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The handling of a full response's head: whether the response is stored, and which waiters get it.
extension SharedFetch {
    func decision(_ head: ResponseHead, _ times: Times) -> StoringDecision {
        let decision = plan.strategy.storing(
            head,
            to: plan.presented.message,
            requestTime: times.sent,
            responseTime: times.received,
            rules: cache.rules
        )
        // The load renews its refused token and asks again; only the server may answer that request.
        if head.statusCode == 401, LoginPartitions.contains(plan.presented.key.partition) {
            return .refuse(.notMarkedStorable)
        }
        if case .store = decision, let doubt = head.doubt(storesCodedBodies: cache.storesCodedBodies) {
            return .refuse(doubt)
        }
        return decision
    }

    /// Handles a full response: it is stored if allowed, and delivered to all waiters that may share it.
    func receive(_ head: ResponseHead, _ decision: StoringDecision, _ times: Times, outdated: [Int]) {
        store(head, decision, times, outdated: outdated)
        let isStored = recorder.isRecording
        // A response that may not be stored was meant for one request alone; a redirect is the same for all.
        let isShared = isStored || (RedirectPolicy.statuses.contains(head.statusCode) && !decision.isPrivate)
        let reason = plan.reason
        // A HEAD is never stored, but its response renews the stored one.
        let isFreshening = plan.presented.message.method == .head && head.statusCode == 200
        let (isAlone, exchange): (Bool, (any TransportExchange)?) = state.withLock { state in
            // The last waiter may have left meanwhile.
            guard !state.hasEnded else { return (true, nil) }
            state.hasFailed = plan.revalidation != nil && !isStored && !isFreshening
            // A response without waiters that is not stored need not be received.
            guard isStored || state.audience.hasLoads else { return (true, state.end()) }
            state.phase = .streaming
            let isCollapsed = isShared && state.audience.count > 1
            let status = CacheStatus(
                .forwarded(reason, status: head.statusCode, isStored: isStored, isCollapsed: isCollapsed),
                detail: decision.detail
            )
            let told = head.adding(status)
            if !isShared { state.audience.keepOne(because: .response) }
            state.audience.callAll { $0.transportDidReceive(told) }
            return (!isShared, nil)
        }
        if isAlone { closed(self) }
        if state.withLock(\.hasEnded) { recorder.end(isComplete: false) }
        exchange?.cancel()
        makeCalls()
    }

    /// Begins to store a response if that is allowed; otherwise makes the changes that it requires.
    private func store(_ head: ResponseHead, _ decision: StoringDecision, _ times: Times, outdated: [Int]) {
        if case .store(let stored) = decision {
            state.withLock { $0.outdated = outdated }
            recorder.begin(
                stored,
                under: plan.presented.key,
                length: head.statedLength,
                asOf: times.moment,
                copyingUpTo: copyLimit(of: stored, as: head)
            )
            // The store takes no body of this size. The older responses are outdated all the same. While the disk is
            // full they stay, so that they can still be used without a network.
            if let length = head.statedLength, length > cache.store.largestBody { effects.drop(outdated) }
            return
        }
        doNotShare(head.statusCode)
        if plan.presented.message.method == .get {
            effects.drop(outdated)
        } else {
            effects.apply(
                StoredChange.changes(
                    byHead: validation(head),
                    to: plan.presented.message,
                    stored: plan.variants.heads,
                    requestTime: times.sent,
                    responseTime: times.received,
                    rules: cache.rules
                )
            )
        }
    }
}

import Foundation
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answers to a revalidation: by a conditional request, or by a HEAD request (RFC 9111 §4.3).
extension SharedFetch {
    func validated(_ head: ResponseHead, _ revalidation: Revalidation, _ times: Times) {
        let outcome = ValidationOutcome(
            of: validation(head),
            to: revalidation,
            requestTime: times.sent,
            responseTime: times.received
        )
        switch outcome {
        case .freshened(let selection, let changes):
            effects.apply(changes)
            share(selection, confirmedBy: head)
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
                state.hasFailed = true
                state.audience.callAll { $0.fetchDidAnswer(answer) }
                return state.end()
            }
            closed(self)
            exchange?.cancel()
            makeCalls()
        case .reload: state.withLock { $0.repeatAtEnd() }
        case .replaced(_, let outdated):
            receive(head, decision(head, times), times, outdated: outdated)
        case .passOn(let changes):
            // The changes of a HEAD request are made in `receive`, as for every HEAD.
            if plan.presented.message.method == .get { effects.apply(changes) }
            receive(head, .refuse(.conditional), times, outdated: [])
        case .standIn:
            receive(head, .refuse(.notMarkedStorable), times, outdated: [])
        }
    }

    /// Handles the HEAD of a revalidation: equal validators confirm the stored response; otherwise the response is
    /// loaded.
    func compared(_ head: ResponseHead, _ revalidation: Revalidation, _ times: Times) {
        let response = validation(head)
        var question = plan.presented.message
        question.method = .head
        let changes = StoredChange.changes(
            byHead: response,
            to: question,
            stored: plan.variants.heads,
            requestTime: times.sent,
            responseTime: times.received,
            rules: cache.rules
        )
        let hasValidator = response.headerFields.contains(.eTag) || response.headerFields.contains(.lastModified)
        for case .update(let index, let stored) in changes
        where hasValidator && !stored.needsValidation && stored.hasValidator {
            effects.apply([.update(index: index, stored)])
            let selection = StoredSelection(
                of: stored,
                at: index,
                for: plan.presented.message,
                now: times.received,
                isValidated: true,
                rules: cache.rules
            )
            return settle(selection, head)
        }
        state.withLock { $0.repeatAtEnd() }
    }

    /// The head as the answer to a question about the stored responses.
    func validation(_ head: ResponseHead) -> HTTPResponse {
        HTTPResponse(validating: head, plan.variants.heads, storesCodedBodies: cache.storesCodedBodies)
    }

    /// Answers with the stored response at once: no content follows the head.
    private func settle(_ selection: StoredSelection, _ head: ResponseHead) {
        let status = CacheStatus(
            .forwarded(plan.reason, status: head.statusCode),
            timeToLive: plan.strategy.obeysHTTP ? selection.freshness.timeToLive : plan.strategy.limit
        )
        guard let answer = plan.variants.answer(selection, to: plan.request, status) else {
            // The stored body was dropped meanwhile, so the response is loaded again.
            return state.withLock { $0.repeatAtEnd() }
        }
        let isConfirmed = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.confirm(answer)
            return true
        }
        guard isConfirmed else { return }
        closed(self)
        makeCalls()
    }
}

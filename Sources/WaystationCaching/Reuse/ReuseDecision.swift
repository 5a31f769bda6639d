public import Foundation
public import HTTPTypes

/// What stored responses may do for a request, and the next step (RFC 9111 §4).
///
/// A fresh hit reads the request's fields once and is arithmetic from there.
public enum ReuseDecision: Sendable {
    /// Why a stale response may be served (RFC 9111 §4.2.4).
    public enum StaleReason: Hashable, Sendable {
        /// The response has `stale-while-revalidate` (RFC 5861 §3).
        case staleWhileRevalidate
        /// The request has `max-stale` (RFC 9111 §5.2.1.2).
        case maxStale
    }

    /// Answer with this.
    case fresh(StoredSelection)
    /// Answer with this although it is stale; where there is a revalidation, do it in the background.
    case stale(StoredSelection, because: StaleReason, revalidation: Revalidation?)
    /// Send the revalidation's request, and make a ``ValidationOutcome`` of the response.
    case revalidate(Revalidation)
    /// Send the request as it is; nothing stored can help.
    case forward(CacheStatus.ForwardReason)
    /// Answer 504: the request has `only-if-cached`, and nothing stored will do (RFC 9111 §5.2.1.7).
    case gatewayTimeout

    /// Decides.
    ///
    /// Among several that match, the most recent of the most usable is chosen: a fresh variant is found behind an
    /// expired one. One with a `Vary` field goes before one without (§4.1).
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: All that is stored for its target URI, whatever the variant.
    ///   - now: The present.
    ///   - rules: The choices.
    /// - Complexity: O(*n*) in the number of stored exchanges.
    public init(
        for request: HTTPRequest,
        among stored: [StoredExchange],
        now: Date,
        rules: CachingRules = .standard
    ) {
        guard request.method == .get || request.method == .head else {
            // §4: what is unsafe is written through.
            self = .forward(.method)
            return
        }
        let demands = RequestDemands(request.headerFields)
        guard !demands.hasOriginPrecondition else {
            self = .miss(.request, demands)
            return
        }
        guard let best = Candidate.best(among: stored, for: request, demands.cacheControl, now: now, rules) else {
            self = .missAllVariants(of: stored, request, demands, rules)
            return
        }
        let answer: StoredAnswer =
            demands.isConditional
            ? StoredAnswer(of: stored[best.index], for: request) : request.method == .head ? .head : .whole
        let selection = StoredSelection(index: best.index, stored[best.index], best.freshness, answer: answer)
        switch best.standing {
        case .fresh:
            self = .fresh(selection)
        case .staleForRequest:
            self = .stale(selection, because: .maxStale, revalidation: nil)
        case .staleWhileRevalidate:
            let revalidation =
                demands.cacheControl.onlyIfCached
                ? nil : Revalidation(of: best.index, among: stored, for: request.forWhole, reason: .stale, rules)
            self = .stale(selection, because: .staleWhileRevalidate, revalidation: revalidation)
        case .needsValidation(let reason):
            guard !demands.cacheControl.onlyIfCached else {
                self = .gatewayTimeout
                return
            }
            self = .revalidate(Revalidation(of: best.index, among: stored, for: request, reason: reason, rules))
        }
    }

    private static func miss(_ reason: CacheStatus.ForwardReason, _ demands: RequestDemands) -> ReuseDecision {
        demands.cacheControl.onlyIfCached ? .gatewayTimeout : .forward(reason)
    }

    /// Nothing matches: ask with the tags of the other variants, so that the origin may choose one (§4.1).
    private static func missAllVariants(
        of stored: [StoredExchange],
        _ request: HTTPRequest,
        _ demands: RequestDemands,
        _ rules: CachingRules
    ) -> ReuseDecision {
        guard stored.contains(where: \.isComplete) else { return miss(.uriMiss, demands) }
        if demands.cacheControl.onlyIfCached { return .gatewayTimeout }
        let revalidation = Revalidation(of: nil, among: stored, for: request, reason: .varyMiss, rules)
        return revalidation.isConditional ? .revalidate(revalidation) : .forward(.varyMiss)
    }
}

extension HTTPRequest {
    /// The request for all of the content, without conditions of its own.
    var forWhole: HTTPRequest {
        var whole = self
        whole.headerFields = headerFields.without([.range, .ifRange, .ifNoneMatch, .ifModifiedSince])
        return whole
    }
}

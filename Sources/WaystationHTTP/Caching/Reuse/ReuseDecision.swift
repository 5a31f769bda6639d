public import Foundation
public import HTTPTypes

/// How stored responses may be used for a request, and the next step (RFC 9111 §4).
///
/// For a fresh hit, the decision reads the request's fields once; the rest is arithmetic.
public enum ReuseDecision: Sendable {
    /// Why a stale response may be served (RFC 9111 §4.2.4).
    public enum StaleReason: Hashable, Sendable {
        /// The response has `stale-while-revalidate` (RFC 5861 §3).
        case staleWhileRevalidate
        /// The request has `max-stale` (RFC 9111 §5.2.1.2).
        case maxStale
    }

    /// Answer with this selection.
    case fresh(StoredSelection)
    /// Answer with this selection although it is stale; if there is a revalidation, do it in the background.
    case stale(StoredSelection, because: StaleReason, revalidation: Revalidation?)
    /// Send the revalidation's request, and make a ``ValidationOutcome`` of the response.
    case revalidate(Revalidation)
    /// Send the request as it is; no stored response can help.
    case forward(CacheStatus.ForwardReason)
    /// Answer 504: the request has `only-if-cached`, and no stored response is usable (RFC 9111 §5.2.1.7).
    case gatewayTimeout

    /// Decides how a request is answered.
    ///
    /// If several stored responses match, the decision selects the most usable ones and, among those, the most recent:
    /// a fresh variant is found even if an expired one is more recent. A response with a `Vary` field is preferred to
    /// one without (§4.1).
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: All stored responses of the request's target URI, of every variant.
    ///   - now: The current time.
    ///   - rules: The caching rules.
    /// - Complexity: O(*n*) in the number of stored responses.
    public init(
        for request: HTTPRequest,
        among stored: [StoredHead],
        now: Date,
        rules: CachingRules = .standard
    ) {
        guard request.method == .get || request.method == .head else {
            // §4: requests with unsafe methods are written through to the origin.
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

    /// If no variant matches, asks the origin with the tags of the other variants, so that it may select one (§4.1).
    private static func missAllVariants(
        of stored: [StoredHead],
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
    /// The request for the whole content, without the client's range and conditions.
    var forWhole: HTTPRequest {
        var whole = self
        whole.headerFields = headerFields.without([.range, .ifRange, .ifNoneMatch, .ifModifiedSince])
        return whole
    }
}

/// The request fields that concern stored responses, read in one pass.
struct RequestDemands {
    private(set) var cacheControl = RequestCacheControl()
    /// `If-Match` or `If-Unmodified-Since`, which only the origin evaluates (RFC 9111 §4.3.2).
    private(set) var hasOriginPrecondition = false
    /// `If-None-Match`, `If-Modified-Since` or `Range`: the answer may differ from the whole response.
    private(set) var isConditional = false

    init(_ fields: HTTPFields) {
        var hasDirectives = false
        for field in fields {
            let name = field.name.canonicalName
            // The length alone rules out most other fields.
            switch name.utf8.count {
            case 5 where name == "range": isConditional = true
            case 6 where name == "pragma": hasDirectives = true
            case 8 where name == "if-match": hasOriginPrecondition = true
            case 13 where name == "cache-control": hasDirectives = true
            case 13 where name == "if-none-match": isConditional = true
            case 17 where name == "if-modified-since": isConditional = true
            case 19 where name == "if-unmodified-since": hasOriginPrecondition = true
            default: break
            }
        }
        if hasDirectives { cacheControl = RequestCacheControl(fields) }
    }
}

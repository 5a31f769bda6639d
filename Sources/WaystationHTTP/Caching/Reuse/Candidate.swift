import Foundation
import HTTPTypes

/// A stored response that matches a request.
struct Candidate {
    var index: Int
    var standing: Standing
    var freshness: Freshness

    /// The most usable candidate; among equally usable ones, one with `Vary` first, then the most recent (§4, §4.1).
    static func best(
        among stored: [StoredHead],
        for request: HTTPRequest,
        _ demands: RequestCacheControl,
        now: Date,
        _ rules: CachingRules
    ) -> Candidate? {
        var best: Candidate?
        for index in stored.indices where stored[index].mayAnswer(request) {
            let freshness = stored[index].freshness(now: now, rules: rules)
            let standing = Standing(of: stored[index], freshness, for: demands)
            if let current = best {
                guard standing >= current.standing else { continue }
                if standing <= current.standing, !stored[index].precedes(stored[current.index]) { continue }
            }
            best = Candidate(index: index, standing: standing, freshness: freshness)
        }
        return best
    }
}

extension StoredHead {
    /// Whether the stored response could be selected for a request, apart from its freshness (§4).
    func mayAnswer(_ request: HTTPRequest) -> Bool {
        isComplete && vary.matches(request.headerFields)
    }

    /// Whether a conditional request may ask the origin about the stored response.
    ///
    /// Validators describe the selected representation (RFC 9110 §8.8). With those of a redirect or an error, a 304
    /// could refer to a page that was created since.
    var mayBeValidated: Bool { (200..<300).contains(status) }

    /// Whether the stored response's tag can be sent for a request that it does not match (§4.1).
    var mayBeAdopted: Bool {
        isComplete && facts.entityTag != nil && status == 200
    }

    /// Whether the stored response is preferred to another that also matches (§4, §4.1).
    func precedes(_ other: StoredHead) -> Bool {
        if vary.isPresent != other.vary.isPresent { return vary.isPresent }
        if facts.date != other.facts.date { return facts.date > other.facts.date }
        return responseTime > other.responseTime
    }
}

/// How one stored response may be used for one request (RFC 9111 §4, §4.2.4, §5.2).
enum Standing: Comparable {
    /// It may be used only after validation; the value is the reason for the forwarding.
    case needsValidation(CacheStatus.ForwardReason)
    /// It may be used although it is stale, because the request allows that.
    case staleForRequest
    /// It may be used although it is stale, because the response allows that.
    case staleWhileRevalidate
    /// It may be used because it is fresh.
    case fresh

    private var rank: Int {
        switch self {
        case .needsValidation: 0
        case .staleForRequest: 1
        case .staleWhileRevalidate: 2
        case .fresh: 3
        }
    }

    static func < (left: Standing, right: Standing) -> Bool { left.rank < right.rank }

    init(of head: StoredHead, _ freshness: Freshness, for request: RequestCacheControl) {
        let response = head.facts.cacheControl
        // §5.2.2.4, §4.4: such a response always needs validation.
        if head.needsValidation || response.noCache == .response {
            self = .needsValidation(.stale)
            return
        }
        // §5.2.1.4
        if request.noCache {
            self = .needsValidation(.request)
            return
        }
        let staleness = freshness.age - freshness.lifetime
        if let minFresh = request.minFresh, freshness.timeToLive < minFresh {
            // §5.2.1.3
            self = .needsValidation(freshness.isFresh ? .request : .stale)
            return
        }
        // §5.2.1.1; RFC 8246 §2: a fresh response that is immutable need not satisfy the request's max-age.
        let surplus = request.maxAge.map { freshness.age - $0 } ?? .zero
        // With max-age=0 a client asks for a response that the origin has just confirmed: the age of a response is known
        // in whole seconds, so it may be zero for one that is not.
        let isTooOld = (surplus > .zero || request.maxAge == .zero) && !(head.facts.isImmutable && freshness.isFresh)
        if freshness.isFresh, !isTooOld {
            self = .fresh
            return
        }
        let canBeStale = freshness.isFresh || !response.mustRevalidate
        if canBeStale, staleness >= .zero, !request.wantsFresh,
            staleness.inSeconds <= head.facts.staleWhileRevalidate, head.facts.staleWhileRevalidate > 0
        {
            // RFC 5861 §3
            self = .staleWhileRevalidate
        } else if canBeStale, let maxStale = request.maxStale,
            maxStale.covers(max(staleness, isTooOld ? surplus : .zero))
        {
            // §5.2.1.2; with the request's max-age, staleness also counts from there.
            self = freshness.isFresh ? .fresh : .staleForRequest
        } else {
            self = .needsValidation(freshness.isFresh ? .request : .stale)
        }
    }
}

extension RequestCacheControl.MaxStale {
    fileprivate func covers(_ staleness: Duration) -> Bool {
        switch self {
        case .any: true
        case .upTo(let limit): staleness <= limit
        }
    }
}

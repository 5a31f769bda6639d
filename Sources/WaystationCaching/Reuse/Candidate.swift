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

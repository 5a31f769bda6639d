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
        guard stored.contains(where: { $0.isComplete && $0.status != 206 }) else { return miss(.uriMiss, demands) }
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
        guard isSelected(by: request.headerFields), !facts.isUnconfirmed else { return false }
        guard isComplete else { return holdsRange(of: request) }
        // A part answers the same request for a range again, unless the client has another representation.
        return status != 206
            || (request.method == .get
                && request.headerFields.firstValue(.ifRange).map { facts.isSame(as: $0) } ?? true)
    }

    /// Whether the response is the one that the request's fields select (§4.1).
    package func isSelected(by request: HTTPFields) -> Bool {
        vary.matches(request) || vary.matches(request, in: headerFields.firstValue(.contentLanguage))
    }

    /// Whether a conditional request may ask the origin about the stored response.
    ///
    /// Validators describe the selected representation (RFC 9110 §8.8). With those of a redirect or an error, a 304
    /// could refer to a page that was created since.
    var mayBeValidated: Bool { (200..<300).contains(status) }

    /// Whether the stored response's tag can be sent for a request that it does not match (§4.1).
    var mayBeAdopted: Bool {
        isComplete && facts.entityTag != nil && status == 200 && !facts.isUnconfirmed
    }

    /// Whether the stored response is preferred to another that also matches (§4, §4.1).
    func precedes(_ other: StoredHead) -> Bool {
        // A part has fewer fields than the parts that were joined, if it was asked for under a condition (RFC 9110 §15.3.7).
        if (status == 206) != (other.status == 206) { return other.status == 206 }
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
        // §5.2.1.4. A client that forbids storing its response (§5.2.1.5) does not want one that is only stored either, as in
        // a browser's mode "no-store".
        if request.noCache || request.noStore {
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
        let isTooOld = (surplus > .zero || request.maxAge == .zero) && !head.isImmutable(at: freshness)
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

/// Reuse that a user or a rule requests outside the protocol: RFC 9111 §4.2.4 calls it "configuration in accordance with
/// an out-of-band contract".
extension StoredSelection {
    /// Selects the stored response that answers a request, however old it is, and even if its use is forbidden.
    ///
    /// This is for a client that is configured to prefer stored responses. Nil when no complete response matches (RFC
    /// 9111 §4.1), or when the request is not for a cache: a method other than GET and HEAD, `If-Match`, or
    /// `If-Unmodified-Since`.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: All stored responses of its target URI.
    ///   - now: The current time.
    ///   - rules: The caching rules.
    public init?(
        ignoringFreshnessFor request: HTTPRequest,
        among stored: [StoredHead],
        now: Date,
        rules: CachingRules = .standard
    ) {
        guard let best = Candidate.best(ofAnyAge: stored, for: request, now: now, rules) else { return nil }
        let answer = StoredAnswer(of: stored[best.index], for: request)
        self.init(index: best.index, stored[best.index], best.freshness, answer: answer)
    }
}

extension Revalidation {
    /// The validation of the stored response that answers a request, fresh or not.
    ///
    /// This is for a client that is configured to ask the origin every time. The request gets no directive that says
    /// so, so a stored response can still be used when there is no network. Nil in the same cases as
    /// ``StoredSelection/init(ignoringFreshnessFor:among:now:rules:)``.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: All stored responses of its target URI.
    ///   - now: The current time.
    ///   - rules: The caching rules.
    public init?(
        alwaysFor request: HTTPRequest,
        among stored: [StoredHead],
        now: Date,
        rules: CachingRules = .standard
    ) {
        guard let best = Candidate.best(ofAnyAge: stored, for: request, now: now, rules) else { return nil }
        self.init(of: best.index, among: stored, for: request, reason: .request, rules)
    }
}

extension Candidate {
    fileprivate static func best(
        ofAnyAge stored: [StoredHead],
        for request: HTTPRequest,
        now: Date,
        _ rules: CachingRules
    ) -> Candidate? {
        guard request.method == .get || request.method == .head else { return nil }
        let demands = RequestDemands(request.headerFields)
        guard !demands.hasOriginPrecondition else { return nil }
        return best(among: stored, for: request, demands.cacheControl, now: now, rules)
    }
}

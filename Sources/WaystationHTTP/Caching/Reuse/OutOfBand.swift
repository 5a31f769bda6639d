public import Foundation
public import HTTPTypes

// Reuse that a user or a rule requests outside the protocol: RFC 9111 §4.2.4 calls it "configuration in accordance with
// an out-of-band contract".

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

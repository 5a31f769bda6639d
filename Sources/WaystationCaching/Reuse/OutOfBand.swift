public import Foundation
public import HTTPTypes

// What a user or a rule may ask for beside the protocol: RFC 9111 §4.2.4 calls it "configuration in accordance with an
// out-of-band contract".

extension StoredSelection {
    /// The stored response that a request would be answered by, however old it is, and whatever forbids its use.
    ///
    /// For a client that was told to prefer what is stored. Nil when nothing complete matches (RFC 9111 §4.1), or when
    /// the request is not for a cache: another method than GET and HEAD, `If-Match`, `If-Unmodified-Since`.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: All that is stored for its target URI.
    ///   - now: The present.
    ///   - rules: The choices.
    public init?(
        ignoringFreshnessFor request: HTTPRequest,
        among stored: [StoredExchange],
        now: Date,
        rules: CachingRules = .standard
    ) {
        guard let best = Candidate.best(ofAnyAge: stored, for: request, now: now, rules) else { return nil }
        let answer = StoredAnswer(of: stored[best.index], for: request)
        self.init(index: best.index, stored[best.index], best.freshness, answer: answer)
    }
}

extension Revalidation {
    /// The validation of the stored response that a request would be answered by, fresh or not.
    ///
    /// For a client that was told to ask always. The request gets no directive that says so, and therefore what is
    /// stored can stand in when there is no network. Nil where ``StoredSelection/init(ignoringFreshnessFor:among:now:rules:)``
    /// is.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: All that is stored for its target URI.
    ///   - now: The present.
    ///   - rules: The choices.
    public init?(
        alwaysFor request: HTTPRequest,
        among stored: [StoredExchange],
        now: Date,
        rules: CachingRules = .standard
    ) {
        guard let best = Candidate.best(ofAnyAge: stored, for: request, now: now, rules) else { return nil }
        self.init(of: best.index, among: stored, for: request, reason: .request, rules)
    }
}

extension Candidate {
    fileprivate static func best(
        ofAnyAge stored: [StoredExchange],
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

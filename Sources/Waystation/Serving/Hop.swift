import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request of a load: the first one, or one after a redirect, with credentials, or with a renewed token.
struct Hop: Sendable {
    var request: URLRequest
    /// The request in canonical form, and the rule that decides; nil when no rule does, and when the URL is not absolute.
    ///
    /// Without it the request is only sent to the network.
    private(set) var match: RequestMatcher.Match?
    /// The index of the rule in events.
    private(set) var rule: Int?
    /// Whether the rule matches this request, and not one before it.
    private(set) var isOwnMatch = true
    /// The login under which the request got its cookies.
    var ticket: LoginTicket?
    /// The number of the hop within its load.
    private(set) var number = 0
    /// Whether stored responses are ignored, because one of them may be the refusal of the token that was renewed.
    private(set) var ignoresStored = false
    /// Whether the request differs from the app's own, which is the one that Foundation's own loader would send.
    var isChanged = false

    /// Makes the first request of a load; without a match it is only sent to the network.
    init(_ request: URLRequest, _ match: RequestMatcher.Match? = nil, rule: Int? = nil) {
        self.request = request
        self.match = match
        self.rule = match?.rule ?? rule
    }

    /// The condition of the request's own rule under which it needs a login.
    var requirement: LoginRequirement? { isOwnMatch ? match?.step.requirement : nil }

    /// The hop that follows this one with another request.
    ///
    /// The first rule that matches the request decides about it. If no rule matches, the rule of this hop still
    /// applies, so an archive keeps the page behind a redirect.
    ///
    /// - Parameters:
    ///   - request: The next request.
    ///   - match: The rule that takes it; nil when none does.
    ///   - ignoresStored: Whether stored responses are ignored.
    /// - Returns: The next hop.
    func followed(
        by request: URLRequest,
        _ match: RequestMatcher.Match?,
        ignoresStored: Bool = false
    ) -> Hop {
        var next = self
        next.request = request
        next.match = match ?? self.match?.carried(to: request)
        next.rule = match?.rule ?? rule
        next.isOwnMatch = match != nil
        next.ticket = nil
        next.number += 1
        next.isChanged = true
        next.ignoresStored = ignoresStored
        return next
    }

    /// Whether Foundation's own loader can load the request as the app wants it.
    ///
    /// It would send the app's own request, and would end a request whose interval is below a second at once.
    var canBeHandedBack: Bool {
        number == 0 && !isChanged && (!request.hasTimeoutBelowOneSecond || request.httpBodyStream != nil)
    }
}

extension RequestMatcher.Match {
    /// The same rule for another request, which it does not match; nil when the request's URL is not absolute.
    fileprivate func carried(to request: URLRequest) -> RequestMatcher.Match? {
        CanonicalRequest(request).map { RequestMatcher.Match(canonical: $0, step: step, rule: rule) }
    }
}

import Foundation
import FoundationNetworking

/// One request of a load: the first one, or one after a redirect, with credentials, or with a renewed token.
struct Hop: Sendable {
    var request: URLRequest
    /// Nil when the URL is not absolute; such a request is only sent to the network.
    private(set) var canonical: CanonicalRequest?
    /// The index of the rule that decides; nil when no rule does.
    private(set) var rule: Int?
    private(set) var route: CompiledRules.Step
    /// The condition of the request's own rule under which it needs a login.
    private(set) var requirement: LoginRequirement?
    /// The login under which the request got its cookies.
    var ticket: LoginTicket?
    /// The number of the hop within its load.
    private(set) var number = 0
    /// Whether stored responses are ignored, because one of them may be the refusal of the token that was renewed.
    private(set) var ignoresStored = false
    /// Whether the request differs from the app's own, which is the one that Foundation's own loader would send.
    var isChanged = false
    /// Whether Foundation may add cookies that the request does not show, as it does after a redirect to another
    /// origin.
    private(set) var mayHideCookies = false

    /// Makes the first request of a load; without a match it is only sent to the network.
    init(_ request: URLRequest, _ match: RequestMatcher.Match? = nil, rule: Int? = nil) {
        self.request = request
        canonical = match?.canonical
        self.rule = match?.rule ?? rule
        route = match?.step ?? .network
        requirement = match?.step.requirement
    }

    /// The hop that follows this one with another request.
    ///
    /// The first rule that matches the request decides about it. If no rule matches, the rule of this hop still
    /// applies, so an archive keeps the page behind a redirect.
    ///
    /// - Parameters:
    ///   - request: The next request.
    ///   - match: The rule that takes it; nil when none does.
    ///   - mayHideCookies: Whether Foundation may add cookies to it.
    ///   - ignoresStored: Whether stored responses are ignored.
    /// - Returns: The next hop.
    func followed(
        by request: URLRequest,
        _ match: RequestMatcher.Match?,
        mayHideCookies: Bool,
        ignoresStored: Bool = false
    ) -> Hop {
        var next = self
        next.request = request
        next.canonical = match?.canonical ?? CanonicalRequest(request)
        next.rule = match?.rule ?? rule
        next.route = match?.step ?? route
        next.requirement = match?.step.requirement
        next.ticket = nil
        next.number += 1
        next.isChanged = true
        next.mayHideCookies = mayHideCookies
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

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
    /// Whether the request is the first one of its load, the only one that Foundation's own loader can take.
    private(set) var isFirst = true
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
    func followed(by request: URLRequest, _ match: RequestMatcher.Match?, mayHideCookies: Bool) -> Hop {
        var next = self
        next.request = request
        next.canonical = match?.canonical ?? CanonicalRequest(request)
        next.rule = match?.rule ?? rule
        next.route = match?.step ?? route
        next.requirement = match?.step.requirement
        next.ticket = nil
        next.isFirst = false
        next.isChanged = true
        next.mayHideCookies = mayHideCookies
        return next
    }

    /// The same request on its second way past the stations.
    var again: Hop {
        var hop = self
        hop.isFirst = false
        return hop
    }

    /// Whether Foundation's own loader can load the request as the app wants it.
    ///
    /// It would send the app's own request, and would end a request whose interval is below a second at once.
    var canBeHandedBack: Bool {
        isFirst && !isChanged && (!request.hasTimeoutBelowOneSecond || request.httpBodyStream != nil)
    }
}

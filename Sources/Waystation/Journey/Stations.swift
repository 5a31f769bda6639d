import Synchronization
import WaystationFoundation
import WaystationTransport

/// The stations of the hops of a load, in their order.
///
/// external links → rules → header body → login → cookies → sources → network
///
/// A hop that visits them again, because its token was renewed or the stored responses have changed, begins at the login.
///
/// A station changes the hop, or ends its way with a verdict. Cookies are chosen before the sources are asked, because
/// `Vary` and the part of the store depend on them.
final class Stations: Sendable {
    let links: ExternalLinks?
    let matcher: RequestMatcher
    let login: LoginSession?
    let sources: AnswerSources
    private let headerBody: HeaderBody?
    /// The cookies of the session's requests; nil when Foundation chooses them.
    private let cookies: SessionCookies?
    /// Chooses the cookies of a request after the first one, as Foundation has done for the first one.
    private let cookieField: CookieField
    /// The syncs of the storages whose changes a request must wait for.
    private let storages: [CookieSync]

    init(
        links: ExternalLinks?,
        matcher: RequestMatcher,
        headerBody: HeaderBody?,
        login: LoginSession?,
        cookies: SessionCookies?,
        cookieField: CookieField,
        storages: [CookieSync],
        sources: AnswerSources
    ) {
        self.links = links
        self.matcher = matcher
        self.headerBody = headerBody
        self.login = login
        self.cookies = cookies
        self.cookieField = cookieField
        self.storages = storages
        self.sources = sources
    }

    /// Sends a load's first request past the stations; nil when no rule takes it, or when it is an external link.
    ///
    /// The caller checks the first request of a task for external links by ``isExternalLink(_:)``.
    func first(_ request: URLRequest) -> Visit? {
        guard !isExternalLink(request), let match = matcher.match(request) else { return nil }
        return takeHeaderBody(Hop(request, match))
    }

    /// Whether a request is passed to the app's handler of external links.
    func isExternalLink(_ request: URLRequest) -> Bool { links?.contain(request.url) ?? false }

    /// Sends the request that follows a hop past the stations.
    func next(_ request: URLRequest, after hop: Hop) -> Visit {
        if let links, links.contain(request.url) {
            return Visit(Hop(request, rule: hop.rule), .open(links))
        }
        // The request still has the cookies of the one before, and the response in between may have changed them.
        let request = cookieField.adding(to: request)
        return takeHeaderBody(hop.followed(by: request, matcher.match(request)))
    }

    /// Sends a hop past the stations once more, because another load may have changed the stored responses.
    func again(_ hop: Hop) -> Visit { logIn(hop) }

    /// Sends a hop past the stations once more when its refused token has been renewed.
    ///
    /// The token is renewed once for all requests that were refused with it.
    func renewing(_ token: String, of login: LoginSession, for hop: Hop) -> Visit {
        let next = hop.followed(by: hop.request, matcher.match(hop.request), ignoresStored: true)
        return wait(for: login, refused: token, next)
    }

    private func takeHeaderBody(_ hop: Hop) -> Visit {
        var hop = hop
        switch headerBody?.take(from: hop.request) {
        case nil: return logIn(hop)
        case .request(let changed):
            hop.request = changed
            hop.isChanged = true
            return logIn(hop)
        case .failure(let changed, let error):
            hop.request = changed
            hop.isChanged = true
            return Visit(hop, .fail(error))
        }
    }

    private func logIn(_ hop: Hop) -> Visit {
        guard let login, let match = hop.match, let requirement = hop.requirement,
            requirement.isMet(by: hop.request, match.canonical)
        else { return takeTicket(hop) }
        guard login.covers(hop.request.url) else {
            return Visit(hop, .fail(login.outOfDomain(hop.request.url)))
        }
        return login.mustWait ? wait(for: login, refused: nil, hop) : takeTicket(hop)
    }

    private func wait(for login: LoginSession, refused: String?, _ hop: Hop) -> Visit {
        // The ticket is taken before the wait, so that a request that outlasts its login does not continue under the
        // next one.
        let ticket = LoginTicket(login)
        return Visit(
            hop,
            .wait(
                Wait { completion in
                    let waiting = login.wait(refused: refused, url: hop.request.url) { result in
                        switch result {
                        case .success: completion(self.synchronize(hop.under(ticket)))
                        case .failure(let error): completion(Visit(hop, .fail(error)))
                        }
                    }
                    return { waiting?.stop() }
                }
            )
        )
    }

    private func takeTicket(_ hop: Hop) -> Visit {
        synchronize(login.map { hop.under(LoginTicket($0)) } ?? hop)
    }

    /// Waits for the changes of those storages that must be waited for.
    private func synchronize(_ hop: Hop) -> Visit {
        guard let cookies else { return ask(hop) }
        guard !storages.isEmpty else { return choose(hop, cookies) }
        // A request belongs to a login only if it carries the cookies of the login.
        return Visit(
            hop.under(nil),
            .wait(
                Wait { completion in
                    self.flush(self.storages[...]) { completion(self.choose(hop, cookies)) }
                    return {}
                }
            )
        )
    }

    private func flush(_ storages: ArraySlice<CookieSync>, _ completion: @escaping @Sendable () -> Void) {
        guard let first = storages.first else { return completion() }
        first.flush { self.flush(storages.dropFirst(), completion) }
    }

    private func choose(_ hop: Hop, _ cookies: SessionCookies) -> Visit {
        var hop = hop
        hop.request = cookies.choosing(for: hop.request)
        hop.isChanged = true
        // A request without cookies of the login's domain does not belong to the login.
        if let ticket = hop.ticket, !ticket.login.covers(hop.request) { hop.ticket = nil }
        return ask(hop)
    }

    /// Asks the sources of the hop's rule.
    private func ask(_ hop: Hop) -> Visit {
        guard let match = hop.match else { return Visit(hop, .send) }
        var request = hop.request
        // The policy is not set in the hop itself, because it does not apply to the requests that follow.
        if hop.ignoresStored { request.cachePolicy = .reloadIgnoringLocalCacheData }
        let serving = Serving(
            sources: sources,
            request: request,
            canonical: match.canonical,
            ticket: hop.ticket
        )
        return Visit(hop, serving.verdict(match.step))
    }
}

extension Hop {
    fileprivate func under(_ ticket: LoginTicket?) -> Hop {
        var hop = self
        hop.ticket = ticket
        return hop
    }
}

extension LoginSession {
    /// Whether a request that needs a login must wait for it.
    fileprivate var mustWait: Bool { token == nil || state.withLock { $0.login.isAsking } }

    /// The error of a load whose host may not get the token.
    fileprivate func outOfDomain(_ url: URL?) -> URLError {
        let message = """
            the rule for \(url?.host ?? "the host") requires a login, but the token of \(account) is only for hosts of \
            \(cookie.domain)
            """
        return URLError(
            .userAuthenticationRequired,
            failing: url,
            message,
            underlying: WaystationError(.loginOutOfDomain, message)
        )
    }
}

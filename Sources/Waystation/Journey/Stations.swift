import Synchronization
import WaystationFoundation

/// One step on the way of each request of a load.
protocol Station: Sendable {
    /// Changes a hop, or ends its way with a verdict.
    ///
    /// It needs no I/O: reading from the disk is returned as a look-up, and anything that may take long as a wait.
    ///
    /// - Parameter hop: The hop, which may be changed.
    /// - Returns: The verdict; ``Verdict/declined`` if the next station decides. The hop of a wait is the one to show while
    ///   it lasts; the wait ends with the hop for the next station.
    func pass(_ hop: inout Hop) -> Verdict
}

/// The stations of the hops of a load, in their order.
///
/// First requests, redirects, requests with credentials or with a renewed token, and second look-ups pass all of them.
/// Cookies are chosen before the sources are asked, because `Vary` and the part of the store depend on them.
final class Stations: Sendable {
    let links: ExternalLinks?
    let matcher: RequestMatcher
    let login: LoginSession?
    let sources: SourceEnvironment
    /// Chooses the cookies of a request after the first one, as Foundation has done for the first one.
    private let cookieField: CookieField
    private let order: [any Station]

    /// - Parameters:
    ///   - links: The links that belong to other apps.
    ///   - matcher: The rules.
    ///   - headerBody: The form in which pages send bodies in header fields.
    ///   - login: The login of the requests.
    ///   - cookies: The cookies of the session's requests; nil when Foundation chooses them.
    ///   - cookieField: The cookies of the requests after the first one, when Foundation chooses them.
    ///   - storages: The syncs of the storages whose changes a request must wait for.
    ///   - sources: The values that the sources share.
    init(
        links: ExternalLinks?,
        matcher: RequestMatcher,
        headerBody: HeaderBody?,
        login: LoginSession?,
        cookies: SessionCookies?,
        cookieField: CookieField,
        storages: [CookieSync],
        sources: SourceEnvironment
    ) {
        self.links = links
        self.matcher = matcher
        self.login = login
        self.cookieField = cookieField
        self.sources = sources
        let order: [(any Station)?] = [
            links,
            matcher,
            headerBody,
            login,
            cookies.map { ChosenCookies(cookies: $0, storages: storages) },
            AskedSources(environment: sources),
        ]
        self.order = order.compactMap(\.self)
    }

    /// Sends a load's first request past the stations; nil when no rule takes it and it is no external link.
    ///
    /// The strategy is that of the cache in place of that of the rule; nil for the rule's own.
    func first(_ request: URLRequest, by strategy: CacheStrategy? = nil) -> Visit? {
        var hop = Hop(request)
        hop.strategy = strategy
        let visit = visit(hop)
        if visit.hop.match == nil, case .send = visit.verdict { return nil }
        return visit
    }

    /// Whether a request is passed to the app's handler of external links.
    func isExternalLink(_ request: URLRequest) -> Bool { links?.contain(request.url) ?? false }

    /// Sends the request that follows a hop past the stations.
    func next(_ request: URLRequest, after hop: Hop) -> Visit {
        // The app's handler gets an external link without cookies. No request is sent to it, so a recorder records the
        // hop before as the last one.
        if let links, links.contain(request.url) { return Visit(Hop(request, rule: hop.rule), .open(links)) }
        // The request still has the cookies of the one before, and the response in between may have changed them.
        return visit(hop.followed(by: cookieField.adding(to: request)))
    }

    /// Sends a hop past the stations once more, because another load may have changed the stored responses.
    func again(_ hop: Hop) -> Visit { visit(hop) }

    /// Sends a hop past the stations once more when its token was refused.
    ///
    /// The token is renewed once for all requests that were refused with it.
    func renewing(_ token: String, for hop: Hop) -> Visit {
        visit(hop.followed(by: hop.request, withoutToken: token))
    }

    /// Sends a hop past the stations from one of them on.
    private func visit(_ hop: Hop, from first: Int = 0) -> Visit {
        var hop = hop
        for index in first..<order.count {
            switch order[index].pass(&hop) {
            case .declined: continue
            case .wait(let wait):
                let goingOn = Wait { completion in
                    wait.begin { visit in
                        guard case .declined = visit.verdict else { return completion(visit) }
                        completion(self.visit(visit.hop, from: index + 1))
                    }
                }
                return Visit(hop, .wait(goingOn))
            case let verdict: return Visit(hop, verdict)
            }
        }
        return Visit(hop, .send)
    }
}

extension ExternalLinks: Station {
    func pass(_ hop: inout Hop) -> Verdict { contain(hop.request.url) ? .open(self) : .declined }
}

extension RequestMatcher: Station {
    /// Finds the rule of a hop.
    ///
    /// A request that no rule takes, and that follows no other, is only sent.
    func pass(_ hop: inout Hop) -> Verdict {
        if !hop.isDecided { hop.decide(match(hop.request)) }
        return hop.match == nil && hop.number == 0 ? .send : .declined
    }
}

extension HeaderBody: Station {
    func pass(_ hop: inout Hop) -> Verdict {
        guard let outcome = take(from: hop.request) else { return .declined }
        hop.isChanged = true
        switch outcome {
        case .request(let changed):
            hop.request = changed
            return .declined
        case .failure(let changed, let error):
            hop.request = changed
            return .fail(error)
        }
    }
}

extension LoginSession: Station {
    /// Waits for the login if the hop's rule needs one, or if the hop's token was refused.
    func pass(_ hop: inout Hop) -> Verdict {
        if hop.refusedToken == nil {
            guard let match = hop.match, hop.requirement?.isMet(by: hop.request, match.canonical) ?? false else {
                hop.ticket = LoginTicket(self)
                return .declined
            }
            guard covers(hop.request.url) else { return .fail(outOfDomain(hop.request.url)) }
            guard mustWait else {
                hop.ticket = LoginTicket(self)
                return .declined
            }
        }
        // The ticket is taken before the wait, so that a request that outlasts its login does not continue under the
        // next one.
        var next = hop
        next.ticket = LoginTicket(self)
        next.refusedToken = nil
        return .wait(
            Wait { [hop, next] completion in
                let waiting = self.wait(refused: hop.refusedToken, url: hop.request.url) { result in
                    switch result {
                    case .success: completion(Visit(next, .declined))
                    case .failure(let error): completion(Visit(hop, .fail(error)))
                    }
                }
                return { waiting?.stop() }
            }
        )
    }

    /// Whether a request that needs a login must wait for it.
    private var mustWait: Bool { token == nil || state.withLock { $0.login.isAsking } }

    /// The error of a load whose host may not get the token.
    private func outOfDomain(_ url: URL?) -> URLError {
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

/// The station that chooses the cookies of a request from the store.
private struct ChosenCookies: Station {
    let cookies: SessionCookies
    let storages: [CookieSync]

    func pass(_ hop: inout Hop) -> Verdict {
        guard !storages.isEmpty else {
            choose(&hop)
            return .declined
        }
        let waiting = hop
        // A request belongs to a login only if it carries the cookies of the login.
        hop.ticket = nil
        return .wait(
            Wait { completion in
                flush(storages[...]) {
                    var hop = waiting
                    choose(&hop)
                    completion(Visit(hop, .declined))
                }
                return {}
            }
        )
    }

    /// Waits for the changes of the storages.
    private func flush(_ storages: ArraySlice<CookieSync>, _ completion: @escaping @Sendable () -> Void) {
        guard let first = storages.first else { return completion() }
        first.flush { flush(storages.dropFirst(), completion) }
    }

    private func choose(_ hop: inout Hop) {
        hop.request = cookies.choosing(for: hop.request)
        hop.isChanged = true
        // A request without cookies of the login's domain does not belong to the login.
        if let ticket = hop.ticket, !ticket.login.covers(hop.request) { hop.ticket = nil }
    }
}

/// The last station, which asks the sources of a hop's rule.
private struct AskedSources: Station {
    let environment: SourceEnvironment

    func pass(_ hop: inout Hop) -> Verdict {
        guard let match = hop.match else { return .send }
        var request = hop.request
        // The policy is not set in the hop itself, because it does not apply to the requests that follow.
        if hop.ignoresStored { request.cachePolicy = .reloadIgnoringLocalCacheData }
        return SourceRequest(request, match.canonical, hop.ticket, hop.strategy, environment)
            .verdict(of: match.rule.sources[...])
    }
}

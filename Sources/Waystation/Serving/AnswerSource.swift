import WaystationCaching
import WaystationFields
import WaystationFoundation
import WaystationStorage
import WaystationTransport

/// The order in which the sources of a rule are asked about a request.
struct Serving: Sendable {
    let sources: AnswerSources
    let request: URLRequest
    let canonical: CanonicalRequest
    /// The login under which the request got its cookies.
    var ticket: LoginTicket?

    /// The verdict of the sources on a route.
    ///
    /// It needs no I/O; reading from the disk is returned as a look-up.
    func verdict(_ route: CompiledRules.Step) -> Verdict {
        switch route {
        case .block:
            return .fail(refusal(.blocked, "a rule blocks \(canonical.url.string.shownURL)"))
        case .nowhere:
            return .fail(
                refusal(
                    .notFound,
                    "no source of its rule has \(canonical.url.string.shownURL), and the rule names no other"
                )
            )
        case .network:
            return network
        case .carried(let transport):
            return .carry(transport, spoolingInto: request.httpBodyStream == nil ? nil : sources.bodySpool)
        case .files(let mounted, let otherwise):
            return files(mounted) { verdict(otherwise) }
        case .pack(let packs, nil, let otherwise):
            return pack(packs) { verdict(otherwise) }
        case .pack(let packs, let overlay?, let otherwise):
            return self.overlay(overlay, packs) { verdict(otherwise) }
        case .cache(let strategy):
            return cache(strategy)
        case .login(_, let then):
            return verdict(then)
        }
    }

    /// The verdict when the network is to answer, and there is nothing to store.
    ///
    /// If nothing has to be changed on the way either, Foundation's own loader runs the task, because it is the most
    /// faithful and the quickest way.
    ///
    /// A redirect that Foundation follows takes credentials to another origin and loses the body of a 307 or 308. So a
    /// request with credentials or a body is sent through the transport, which handles both correctly.
    var network: Verdict {
        let carriesBody = !(request.httpBody?.isEmpty ?? true)
        let carriesCredentials = CredentialFields.names.contains { request.value(forHTTPHeaderField: $0) != nil }
        // An unsafe request invalidates stored responses, so it must pass the cache.
        let changesStored = sources.fetches != nil && !canonical.isSafe
        if request.httpBodyStream != nil {
            return sources.bodySpool.map(Verdict.spool) ?? (sources.hasOwnTransport ? .send : .handBack)
        }
        guard carriesBody || carriesCredentials || changesStored || sources.forwardsAll || hasSchemeInCapitals else {
            return .handBack
        }
        return .send
    }

    /// Whether the URL's scheme has capitals: Foundation's loader does not recognise `HTTP://…`; a forwarded request
    /// has the scheme in lower case.
    private var hasSchemeInCapitals: Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return request.url?.absoluteString.utf8.prefix { $0 != UInt8(ascii: ":") }.contains(where: capitals.contains)
            ?? false
    }

    func refusal(_ code: WaystationError.Code, _ message: String) -> URLError {
        URLError(
            .resourceUnavailable,
            failing: request.url,
            message,
            underlying: WaystationError(code, message)
        )
    }
}

extension URLError {
    /// Whether a rule blocked the request.
    var isBlocked: Bool { (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked }
}

/// The decision of the stations about a hop.
enum Verdict: Sendable {
    /// The request is answered.
    case answer(Answer)
    /// The network is asked on behalf of the cache.
    case fetch(CacheFinding, CacheDecision.Fetch)
    /// The request is sent to the network, without the cache.
    case send
    /// The request is sent through the transport of its rule; a body that is a stream is read first if there is a spool.
    case carry(any Transport, spoolingInto: BodySpool?)
    /// Foundation's own loader runs the request, on the same task.
    case handBack
    /// The body of the request is a stream, which is read first; then the request is sent to the network.
    case spool(BodySpool)
    /// The request is passed to the app's handler of external links.
    case open(ExternalLinks)
    /// The load fails.
    case fail(URLError)
    /// Data must be read first, away from the loading queue.
    case lookUp(LookUp)
    /// The load must wait for something that may take long, such as a login.
    ///
    /// A load that waits can be cancelled.
    case wait(Wait)
}

/// A look-up that ends in the verdict about the same hop.
struct LookUp: Sendable {
    /// Makes the look-up on the calling thread if it need not wait for a disk; otherwise returns nil.
    ///
    /// If it may not read, it only finds out that nothing is stored.
    var inMemory: @Sendable (_ mayRead: Bool) -> Verdict? = { _ in nil }
    /// Starts the look-up; the completion is called once, on any thread.
    let run: @Sendable (_ completion: @escaping @Sendable (Verdict) -> Void) -> Void
}

/// A wait, after which the hop may have changed.
struct Wait: Sendable {
    /// Begins to wait; the completion is called once, on any thread.
    ///
    /// The returned closure ends the wait early.
    let begin: @Sendable (_ completion: @escaping @Sendable (Visit) -> Void) -> @Sendable () -> Void
}

/// A hop, and the verdict of the stations about it.
struct Visit: Sendable {
    let hop: Hop
    let verdict: Verdict

    init(_ hop: Hop, _ verdict: Verdict) {
        self.hop = hop
        self.verdict = verdict
    }
}

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

/// The values that the sources of all rules share.
final class AnswerSources: Sendable {
    /// The fetches on behalf of the cache; nil without a cache.
    let fetches: Fetches?
    let events: EventBroadcaster
    /// The login whose responses have a part of the store of their own.
    private let login: LoginSession?
    /// How body streams are stored so that they can be sent again; nil to send them once.
    let bodySpool: BodySpool?
    /// Whether the app's own transport gets every load; Foundation's loader would bypass it.
    let hasOwnTransport: Bool
    /// Whether no load may be left to Foundation's own loader.
    ///
    /// The loader would choose the cookies itself, and follow redirects without asking the rules and without noticing
    /// the links that belong to other apps.
    let forwardsAll: Bool

    init(
        fetches: Fetches?,
        events: EventBroadcaster,
        login: LoginSession?,
        bodySpool: BodySpool?,
        hasOwnTransport: Bool,
        forwardsAll: Bool
    ) {
        self.fetches = fetches
        self.events = events
        self.login = login
        self.bodySpool = bodySpool
        self.hasOwnTransport = hasOwnTransport
        self.forwardsAll = forwardsAll
    }

    /// The same sources, for the clients of a server, each of which has credentials of its own.
    var forSeveralUsers: AnswerSources {
        AnswerSources(
            fetches: fetches.map { Fetches($0.cache.forSeveralUsers) },
            events: events,
            login: login,
            bodySpool: bodySpool,
            hasOwnTransport: hasOwnTransport,
            forwardsAll: forwardsAll
        )
    }

    /// The key under which a response to a request is looked up, in the part of the store that belongs to its login.
    func cacheKey(_ request: URLRequest, _ canonical: CanonicalRequest) -> RequestKey {
        let key = CacheRequest.key(of: request, canonical: canonical.url.string)
        guard let part = login?.partition(of: request), !part.isEmpty else { return key }
        return RequestKey(method: key.method, url: key.url, partition: part + key.partition)
    }

    /// The cache's view of a request, in the part of the store that belongs to its login.
    func cacheRequest(_ request: URLRequest, _ canonical: CanonicalRequest) -> CacheRequest? {
        guard let presented = CacheRequest(request, canonical: canonical.url.string) else { return nil }
        guard let part = login?.partition(of: request), !part.isEmpty else { return presented }
        return presented.within(part)
    }
}

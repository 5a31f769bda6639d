import WaystationCaching
import WaystationFields
import WaystationFoundation
import WaystationStorage
import WaystationTransport

/// The network, without the cache.
struct NetworkSource: AnswerSource {
    let name = "network"

    func answer(to request: SourceRequest) -> SourceAnswer { SourceAnswer(request.network) }
}

/// A transport that answers in place of the network.
struct TransportSource: AnswerSource {
    let transport: any Transport
    let name: String

    func answer(to request: SourceRequest) -> SourceAnswer {
        let spool = request.request.httpBodyStream == nil ? nil : request.environment.bodySpool
        return SourceAnswer(.carry(transport, spoolingInto: spool))
    }
}

/// Fails each request, because a rule blocks it.
struct BlockingSource: AnswerSource {
    let name = "block"

    func answer(to request: SourceRequest) -> SourceAnswer {
        SourceAnswer(.fail(request.refusal(.blocked, "a rule blocks \(request.canonical.url.string.shownURL)")))
    }
}

extension URLError {
    /// Whether a rule blocked the request.
    var isBlocked: Bool { (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked }
}

extension SourceRequest {
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
        let changesStored = environment.fetches != nil && !canonical.isSafe
        if request.httpBodyStream != nil {
            return environment.bodySpool.map(Verdict.spool) ?? (environment.hasOwnTransport ? .send : .handBack)
        }
        guard carriesBody || carriesCredentials || changesStored || environment.forwardsAll || hasSchemeInCapitals
        else { return .handBack }
        return .send
    }

    /// Whether the URL's scheme has capitals: Foundation's loader does not recognise `HTTP://…`; a forwarded request
    /// has the scheme in lower case.
    private var hasSchemeInCapitals: Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return request.url?.absoluteString.utf8.prefix { $0 != UInt8(ascii: ":") }.contains(where: capitals.contains)
            ?? false
    }
}

/// The values that the sources of all rules share.
final class SourceEnvironment: Sendable {
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
    var forSeveralUsers: SourceEnvironment {
        SourceEnvironment(
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
        let key = CacheRequest.key(of: request, canonical: canonical.url)
        guard let part = login?.partition(of: request), !part.isEmpty else { return key }
        return RequestKey(method: key.method, url: key.url, partition: part + key.partition)
    }

    /// The cache's view of a request, in the part of the store that belongs to its login.
    func cacheRequest(_ request: URLRequest, _ canonical: CanonicalRequest) -> CacheRequest? {
        guard let presented = CacheRequest(request, canonical: canonical.url) else { return nil }
        guard let part = login?.partition(of: request), !part.isEmpty else { return presented }
        return presented.within(part)
    }
}

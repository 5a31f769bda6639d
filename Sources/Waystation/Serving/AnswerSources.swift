import Foundation
import WaystationStorage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

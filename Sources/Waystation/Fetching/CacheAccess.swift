import HTTPTypes
import WaystationCaching
import WaystationFoundation
import WaystationStorage

/// The store of a response cache, and the settings by which its responses are stored and reused.
final class CacheAccess: Sendable {
    let store: ResponseStore
    /// The responses that the cache shares with other machines; nil if it shares none.
    let shared: SharedResponses?
    /// The choices that the RFCs leave to a cache.
    let rules: CachingRules
    /// Whether bodies that arrive in a content coding are stored.
    let storesCodedBodies: Bool
    let now: @Sendable () -> Date
    let events: EventBroadcaster

    init(
        _ store: ResponseStore,
        shared: SharedResponses?,
        rules: CachingRules,
        storesCodedBodies: Bool,
        now: @escaping @Sendable () -> Date,
        events: EventBroadcaster
    ) {
        self.store = store
        self.shared = shared
        self.rules = rules
        self.storesCodedBodies = storesCodedBodies
        self.now = now
        self.events = events
    }

    /// The same store, for the clients of a server, each of which has credentials of its own.
    var forSeveralUsers: CacheAccess {
        var rules = rules
        rules.servesSeveralUsers = true
        return CacheAccess(
            store,
            shared: shared,
            rules: rules,
            storesCodedBodies: storesCodedBodies,
            now: now,
            events: events
        )
    }

    /// The stored responses that may be used: not those for one user, which the app's own sessions have stored, if there
    /// are several users.
    func usable(_ responses: [StoredResponse]) -> [StoredResponse] {
        guard rules.servesSeveralUsers else { return responses }
        return responses.filter { $0.head.cacheControl.private == .nothing }
    }
}

extension CacheAccess {
    /// The action for the head of a request's response: it drops the stored responses that the response invalidates
    /// (RFC 9111 §4.4).
    ///
    /// The action is run before the app gets the head, so that its next load does not get an outdated response.
    ///
    /// - Returns: The action; nil for a safe method, whose response invalidates nothing.
    func invalidation(after request: URLRequest) -> (@Sendable (ResponseHead) -> Void)? {
        guard let canonical = CanonicalRequest(request), !canonical.isSafe,
            let message = HTTPRequest(request, canonical: canonical)
        else { return nil }
        return { self.invalidate(after: message, $0) }
    }

    /// Drops the stored responses that a response invalidates.
    func invalidate(after request: HTTPRequest, _ head: ResponseHead) {
        for url in Invalidation(after: request, response: HTTPResponse(head)).urls {
            // Invalidates for every login, because the resource has changed for all of them.
            let url = URL(string: url).map(CanonicalRequest.storedURL(of:)) ?? url
            shared?.invalidate(.url(url))
            store.invalidate(.url(url))
        }
    }
}

import Foundation
import WaystationCaching
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

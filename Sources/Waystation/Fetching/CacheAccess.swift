import Foundation
import WaystationCaching
import WaystationStorage

/// The store of a response cache, and the settings by which its responses are stored and reused.
final class CacheAccess: Sendable {
    let store: ResponseStore
    /// The choices that the RFCs leave to a cache.
    let rules: CachingRules
    /// Whether bodies that arrive in a content coding are stored.
    let storesCodedBodies: Bool
    let now: @Sendable () -> Date
    let events: EventBroadcaster

    init(
        _ store: ResponseStore,
        rules: CachingRules,
        storesCodedBodies: Bool,
        now: @escaping @Sendable () -> Date,
        events: EventBroadcaster
    ) {
        self.store = store
        self.rules = rules
        self.storesCodedBodies = storesCodedBodies
        self.now = now
        self.events = events
    }
}

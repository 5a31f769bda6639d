import WaystationCollections
import WaystationSharing

/// The entries whose last response could not be shared.
///
/// The next loads of such an entry neither ask the tier nor wait for other machines. Varnish calls this hit-for-miss.
///
/// A response that can be shared again removes its entry; each entry is forgotten after a minute in any case.
struct UnsharedEntries: Sendable {
    static let lifetime = Duration.seconds(60)
    /// The number of entries; more replace the ones that were added first.
    static let limit = 4_096

    private var ends = LeastRecentlyUsed<TierKey, ContinuousClock.Instant>()

    var isEmpty: Bool { ends.count == 0 }

    func contains(_ entry: TierKey, at now: ContinuousClock.Instant) -> Bool {
        ends.position(of: entry).flatMap { ends[$0] }.map { now < $0 } ?? false
    }

    mutating func insert(_ entry: TierKey, at now: ContinuousClock.Instant) {
        ends.insert(now + Self.lifetime, for: entry, cost: 1)
        if ends.count > Self.limit { ends.removeOldest() }
    }

    mutating func remove(_ entry: TierKey) { ends.remove(entry) }
}

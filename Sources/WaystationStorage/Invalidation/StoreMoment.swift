/// A point in the order of a store's invalidations.
///
/// Take one with ``ResponseStore/moment()`` when a request is sent, and give it to
/// ``ResponseStore/begin(_:asOf:)`` when its response comes: what was invalidated in between is not stored then.
/// It costs little, but the store remembers invalidations for as long as a moment before them lives.
public final class StoreMoment: Sendable {
    let count: Int
    private let log: InvalidationLog

    init(_ log: InvalidationLog) {
        self.log = log
        count = log.enter()
    }

    deinit { log.leave(count) }
}

/// A point in the order of a store's invalidations.
///
/// Take one with ``ResponseStore/moment()`` when a request is sent, and pass it to ``ResponseStore/begin(_:asOf:)``
/// when the response arrives: a response that was invalidated in between is not stored then. A moment costs little, but
/// as long as it exists, the store remembers all later invalidations.
public final class StoreMoment: Sendable {
    let count: Int
    private let log: InvalidationLog

    init(_ log: InvalidationLog) {
        self.log = log
        count = log.enter()
    }

    deinit { log.leave(count) }
}

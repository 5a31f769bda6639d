#if Gateway
import NIOCore

/// Whether the other side of a connection takes the bytes that are sent to it.
///
/// Bytes count as taken when the other side's system has acknowledged them. A connection is stuck when bytes wait and no
/// byte was taken for a time. A client that reads slowly takes some bytes again and again, and one to which nothing is
/// sent has no bytes that wait; neither is stuck.
struct DeliveryProgress {
    enum Finding: Equatable {
        /// No bytes wait.
        case idle
        /// Bytes wait, and some were taken within the limit.
        case moving
        /// Bytes wait, and none was taken within the limit.
        case stuck
    }

    /// The longest time in which no byte is taken.
    let limit: TimeAmount
    private var taken: Int
    private var since: NIODeadline

    /// Begins with bytes that were just written.
    ///
    /// - Parameters:
    ///   - limit: The longest time in which no byte is taken.
    ///   - taken: The number of bytes of this connection that were taken so far.
    ///   - now: The present time.
    init(limit: TimeAmount, taken: Int, now: NIODeadline) {
        (self.limit, self.taken, since) = (limit, taken, now)
    }

    /// Looks again.
    ///
    /// - Parameters:
    ///   - written: The number of bytes that were written to the connection so far.
    ///   - waiting: The number of these that were not taken yet.
    ///   - now: The present time.
    /// - Returns: The state of the delivery.
    mutating func look(written: Int, waiting: Int, now: NIODeadline) -> Finding {
        guard waiting > 0 else { return .idle }
        if written - waiting > taken {
            taken = written - waiting
            since = now
        }
        return now - since < limit ? .moving : .stuck
    }
}
#endif

#if Redis
import NIOCore

/// The pauses between attempts to connect: 100 ms after the first failure, then twice as long each time, up to 10 s.
struct Backoff {
    static let shortest = TimeAmount.milliseconds(100)
    static let longest = TimeAmount.seconds(10)

    private var pause = shortest
    private var end: NIODeadline?

    /// Whether an attempt may be made.
    func allows(at now: NIODeadline) -> Bool { end.map { now >= $0 } ?? true }

    /// An attempt has failed.
    ///
    /// - Returns: The time of the next attempt.
    @discardableResult
    mutating func failed(at now: NIODeadline) -> NIODeadline {
        let next = now + pause
        end = next
        pause = min(pause * 2, Self.longest)
        return next
    }

    /// Begins again with the shortest pause, because an attempt has worked.
    mutating func worked() { self = Backoff() }
}
#endif

#if NIO
import NIOCore

/// The one time at which a transport looks for passed deadlines.
///
/// An arrival moves the deadline of its exchange but not the wake-up; so the wake-up may find nothing to do, and then
/// moves to the earliest deadline. That is cheaper than a scheduled task for each arrival.
struct WakeUp {
    /// The shortest time between two wake-ups, so that close deadlines are found together.
    static let tick = TimeAmount.milliseconds(10)

    /// The time of the wake-up that is scheduled.
    private(set) var time: NIODeadline?

    /// A deadline is running.
    ///
    /// - Returns: The time for which a wake-up must be scheduled instead of the present one, if any.
    mutating func add(_ deadline: NIODeadline, now: NIODeadline) -> NIODeadline? {
        let wanted = max(deadline, now + Self.tick)
        if let time, time <= wanted { return nil }
        time = wanted
        return wanted
    }

    /// The scheduled wake-up takes place.
    mutating func fired() { time = nil }
}
#endif

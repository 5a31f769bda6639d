/// Decides when the transfers of a session must rest: a state machine without side effects.
///
/// While a body has more to read, libcurl asks to be called again at once, and Foundation does so on the loading queue.
/// Other sessions then get no turn there: bytes that have arrived for their tasks wait in memory, and their cancels
/// wait too. So the transfers rest after some calls of their delegate, until these calls were made and the backlog of
/// the loads is small.
package struct TransferPace {
    /// The number of delegate calls that end a turn: 1 MiB in parts of 16 KiB.
    package static let turn = 64
    /// The number of calls that may wait when a turn begins.
    package static let waitingLimit = 32
    /// The number of bytes that may wait for their tasks when a turn begins.
    package static let backlogLimit = 1 << 20

    private var waiting = 0
    private var rest = Self.turn

    package private(set) var isResting = false

    package init() {}

    /// Records that a call was queued; returns true when the transfers must rest from now on.
    package mutating func callQueued() -> Bool {
        waiting += 1
        rest -= 1
        guard !isResting, rest <= 0 else { return false }
        isResting = true
        return true
    }

    /// Records that a call was made.
    package mutating func callMade() { waiting -= 1 }

    /// Lets the transfers continue, if it is time.
    ///
    /// - Parameters:
    ///   - backlog: The number of bytes that wait for their tasks.
    ///   - isOverdue: Whether the transfers have rested for as long as they may. If they have, the transfers continue
    ///     for one call, because their time-outs run meanwhile, and a load whose delegate is slow must not stop the
    ///     others.
    /// - Returns: Whether the transfers continue.
    package mutating func goesOn(backlog: Int, isOverdue: Bool) -> Bool {
        let isDue = waiting <= Self.waitingLimit && backlog <= Self.backlogLimit
        guard isDue || isOverdue else { return false }
        isResting = false
        rest = isDue ? Self.turn : 1
        return true
    }
}

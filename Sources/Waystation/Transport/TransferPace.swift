/// When the transfers of a session must rest: a state machine without side effects.
///
/// While a body has more to read, libcurl asks to be called again at once, and Foundation does so on the loading queue.
/// Other sessions then get no turn there: what has arrived for their tasks waits in memory, and their cancels wait too.
/// So the transfers rest after some calls of their delegate, until these were made and the backlog of the loads is small.
struct TransferPace {
    /// How many calls of the delegate end a turn: in parts of 16 KiB, a mebibyte.
    static let turn = 64
    /// How many calls may wait when a turn begins.
    static let waitingLimit = 32
    /// How many bytes may wait for their tasks when a turn begins.
    static let backlogLimit = 1 << 20

    private var waiting = 0
    private var rest = Self.turn

    private(set) var isResting = false

    /// A call was queued; true when the transfers must rest from now on.
    mutating func callQueued() -> Bool {
        waiting += 1
        rest -= 1
        guard !isResting, rest <= 0 else { return false }
        isResting = true
        return true
    }

    /// A call was made.
    mutating func callMade() { waiting -= 1 }

    /// Lets the transfers go on, if it is time.
    ///
    /// - Parameters:
    ///   - backlog: How many bytes wait for their tasks.
    ///   - isOverdue: Whether they have rested for as long as they may. Then they go on for one call: their time-outs run
    ///     meanwhile, and a load whose delegate is slow must not stop the others.
    /// - Returns: Whether they go on.
    mutating func goesOn(backlog: Int, isOverdue: Bool) -> Bool {
        let isDue = waiting <= Self.waitingLimit && backlog <= Self.backlogLimit
        guard isDue || isOverdue else { return false }
        isResting = false
        rest = isDue ? Self.turn : 1
        return true
    }
}

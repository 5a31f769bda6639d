package import Dispatch
import Synchronization
import WaystationFoundation

/// Slows the transfers of a session down to the speed at which their loads take the bytes.
///
/// Foundation cannot pause a transfer: suspending its task drops the connection, and loads again when it is resumed.
/// But all transfers of a session run on one queue. While that queue is suspended, nothing is read from their sockets,
/// nothing is lost, and TCP's own flow control makes the server wait. Tasks can be made, cancelled and time out
/// meanwhile.
package final class TransferPacer: Sendable {
    private static let interval = DispatchTimeInterval.microseconds(250)

    private struct State {
        var pace = TransferPace()
        var longestRest = DispatchTimeInterval.milliseconds(100)
        /// Nil until the session is known, and when its queue is not found: then the transfers never rest.
        var queue: DispatchQueue?
        var backlog: (@Sendable () -> Int)?
    }

    private let state = Mutex(State())
    /// A queue of its own, because the global queues may be full of work that waits for these very transfers.
    private let clock = DispatchQueue(label: "waystation.transport.pace")

    /// Paces the transfers of a session from now on.
    func begin(_ session: URLSession) {
        let queue = FoundationInternals.transferQueue(of: session)
        state.withLock { $0.queue = queue }
    }

    /// Makes the transfers rest while too many bytes wait for their loads; `backlog` returns their number.
    func watch(_ backlog: @escaping @Sendable () -> Int) {
        state.withLock { $0.backlog = backlog }
    }

    /// Sets the longest time that the transfers rest; 100 ms by default.
    package func rest(atMost longestRest: DispatchTimeInterval) {
        state.withLock { $0.longestRest = longestRest }
    }

    /// Records that a call of the session's delegate was queued.
    ///
    /// Call it on the loading queue.
    func callQueued() {
        let (queue, longestRest) = state.withLock { ($0.pace.callQueued() ? $0.queue : nil, $0.longestRest) }
        guard let queue else { return }
        // The suspension begins after the work that runs on the queue now. Each suspension ends, so the queue is never
        // released while it is suspended.
        queue.suspend()
        let end = DispatchTime.now() + longestRest
        clock.async { self.goOn(queue, notAfter: end) }
    }

    /// Records that a call of the session's delegate was made.
    func callMade() {
        state.withLock { $0.pace.callMade() }
    }

    private func goOn(_ queue: DispatchQueue, notAfter end: DispatchTime) {
        let goesOn = state.withLock { state in
            state.pace.goesOn(backlog: state.backlog?() ?? 0, isOverdue: DispatchTime.now() >= end)
        }
        if goesOn { return queue.resume() }
        clock.asyncAfter(deadline: .now() + Self.interval) { self.goOn(queue, notAfter: end) }
    }
}

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

import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// Slows the transfers of a session down to what their loads take.
///
/// Foundation cannot pause a transfer: suspending its task drops the connection, and loads again when it is resumed. But
/// all transfers of a session run on one queue, and while that queue is suspended nothing is read from their sockets,
/// nothing is lost, and the server waits by TCP's own flow control. Tasks can be made, cancelled and time out meanwhile.
final class TransferPacer: Sendable {
    /// For how long the transfers rest at most.
    private static let longestRest = DispatchTimeInterval.milliseconds(100)
    private static let interval = DispatchTimeInterval.microseconds(250)

    private struct State {
        var pace = TransferPace()
        /// Nil until the session is known, and where its queue is not found: then nothing rests.
        var queue: DispatchQueue?
        var backlog: LoadBacklog?
    }

    private let state = Mutex(State())
    /// A queue of its own: global ones may be full of work that waits for these very transfers.
    private let clock = DispatchQueue(label: "waystation.transport.pace")

    /// Paces the transfers of a session from now on.
    func begin(_ session: URLSession) {
        let queue = FoundationInternals.transferQueue(of: session)
        state.withLock { $0.queue = queue }
    }

    /// Lets the transfers rest while too much of a backlog waits.
    func watch(_ backlog: LoadBacklog) {
        state.withLock { $0.backlog = backlog }
    }

    /// A call of the session's delegate was queued.
    ///
    /// To be called on the loading queue.
    func callQueued() {
        let queue: DispatchQueue? = state.withLock { $0.pace.callQueued() ? $0.queue : nil }
        guard let queue else { return }
        // Counts from the end of what runs on the queue now; it goes on in any case, so it is never let go of suspended.
        queue.suspend()
        let end = DispatchTime.now() + Self.longestRest
        clock.async { self.goOn(queue, notAfter: end) }
    }

    /// A call of the session's delegate was made.
    func callMade() {
        state.withLock { $0.pace.callMade() }
    }

    private func goOn(_ queue: DispatchQueue, notAfter end: DispatchTime) {
        let goesOn = state.withLock { state in
            state.pace.goesOn(backlog: state.backlog?.bytes ?? 0, isOverdue: DispatchTime.now() >= end)
        }
        if goesOn { return queue.resume() }
        clock.asyncAfter(deadline: .now() + Self.interval) { self.goOn(queue, notAfter: end) }
    }
}

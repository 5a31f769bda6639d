import Synchronization
import WaystationSharing

/// A wait for one event, which also notices the event before the wait begins.
final class Expectation: Sendable {
    private struct State {
        var isOver = false
        var waiter: Race<Void>?
    }

    private let state = Mutex(State())

    /// Ends the wait.
    func end() {
        let waiter: Race<Void>? = state.withLock { state in
            state.isOver = true
            return state.waiter.take()
        }
        waiter?.finish(())
    }

    /// Returns when the wait has been ended; only one caller may wait.
    func wait() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let race = Race(continuation)
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = race }
                return state.isOver
            }
            if isOver { race.finish(()) }
        }
    }
}

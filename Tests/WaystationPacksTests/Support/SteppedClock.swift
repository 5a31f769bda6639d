import Synchronization

/// A clock that a test moves, and whose sleeping tasks the test wakes.
final class SteppedClock: Clock {
    private struct State {
        var now = ContinuousClock.now
        var sleepers: [(deadline: ContinuousClock.Instant, waiter: CheckedContinuation<Void, any Error>)] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    /// Moves the clock without waking a sleeping task.
    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper in
                let watchers = state.withLock { state in
                    state.sleepers.append((deadline, sleeper))
                    defer { state.watchers = [] }
                    return state.watchers
                }
                for watcher in watchers { watcher.resume() }
                if Task.isCancelled { end(throwing: CancellationError()) }
            }
        } onCancel: {
            end(throwing: CancellationError())
        }
    }

    /// Returns when a task sleeps, with the remaining time of its sleep.
    @discardableResult
    func waitForSleeper() async -> Duration {
        await withCheckedContinuation { watcher in
            let isSleeping = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(watcher) }
                return !state.sleepers.isEmpty
            }
            if isSleeping { watcher.resume() }
        }
        return state.withLock { state in state.sleepers.last.map { $0.deadline - state.now } ?? .zero }
    }

    /// Moves the clock to the latest deadline, and wakes all sleeping tasks.
    func wake() { end(throwing: nil) }

    private func end(throwing error: CancellationError?) {
        let sleepers = state.withLock { state in
            if error == nil { state.now = ([state.now] + state.sleepers.map(\.deadline)).max() ?? state.now }
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers {
            if let error { sleeper.waiter.resume(throwing: error) } else { sleeper.waiter.resume() }
        }
    }
}

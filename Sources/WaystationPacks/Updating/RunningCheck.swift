import Synchronization

/// A check that is running, and the calls that wait for it.
final class RunningCheck: Sendable {
    typealias Outcome = Result<UpdateReport, PackError>

    /// The end of the check; the outcome is nil if the check was abandoned.
    private struct Ending {
        let outcome: Outcome?
    }

    private struct State {
        var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
        var lastWaiter = 0
        var ending: Ending?
        /// Whether the last waiting call has left: the check is cancelled, and its outcome is of no use to other calls.
        var isAbandoned = false
    }

    private let task: Task<Outcome, Never>
    private let state = Mutex(State())

    init(_ work: @escaping @Sendable () async -> Outcome) { task = Task { await work() } }

    /// Waits for the check's end, and returns its outcome.
    func end() async -> Outcome { await task.value }

    /// Passes the outcome to all waiting calls.
    func finish(_ outcome: Outcome) {
        let (waiters, ending) = state.withLock { state in
            let ending = Ending(outcome: state.isAbandoned ? nil : outcome)
            state.ending = ending
            defer { state.waiters = [:] }
            return (state.waiters.values.map(\.self), ending)
        }
        for waiter in waiters { waiter.resume(returning: ending.outcome) }
    }

    /// Waits for the outcome.
    ///
    /// A cancelled caller stops waiting; when the last caller is cancelled, so is the check.
    ///
    /// - Returns: The outcome; nil if the check had been cancelled before this call, and has ended now.
    func value() async -> Outcome? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let ending = state.withLock { state in
                    if state.ending == nil { state.waiters[id] = waiter }
                    return state.ending
                }
                if let ending { waiter.resume(returning: ending.outcome) }
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: Int) {
        let (waiter, isLast) = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            let isLast = waiter != nil && state.waiters.isEmpty
            if isLast { state.isAbandoned = true }
            return (waiter, isLast)
        }
        if isLast { task.cancel() }
        waiter?.resume(
            returning: .failure(PackError(.cancelled, "the check was cancelled; the next check continues it"))
        )
    }
}

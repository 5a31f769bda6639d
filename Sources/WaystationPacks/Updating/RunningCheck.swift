import Synchronization

/// A check that is running, and the calls that wait for it.
final class RunningCheck: Sendable {
    typealias Outcome = Result<UpdateReport, PackError>

    private struct State {
        var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
        var lastWaiter = 0
        var outcome: Outcome?
        /// Whether the last waiting call has left: the check is cancelled, and its outcome is of no use to other calls.
        var isAbandoned = false
    }

    private let task: Task<Outcome, Never>
    private let state = Mutex(State())

    init(_ work: @escaping @Sendable () async -> Outcome) { task = Task { await work() } }

    /// Waits for the check's end, and returns its outcome.
    func end() async -> Outcome { await task.value }

    /// Passes the outcome to all waiting calls.
    func tell(_ outcome: Outcome) {
        let (waiters, isAbandoned) = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            return (state.waiters.values.map(\.self), state.isAbandoned)
        }
        for waiter in waiters { waiter.resume(returning: isAbandoned ? nil : outcome) }
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
                let ended = state.withLock { state -> Outcome?? in
                    guard let outcome = state.outcome else {
                        state.waiters[id] = waiter
                        return nil
                    }
                    return .some(state.isAbandoned ? nil : outcome)
                }
                if let ended { waiter.resume(returning: ended) }
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

import Synchronization

/// A check that is running, and the calls that wait for it.
final class RunningCheck: Sendable {
    typealias Outcome = Result<UpdateReport, PackError>

    private struct State {
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var lastWaiter = 0
        var outcome: Outcome?
    }

    private let task: Task<Outcome, Never>
    private let state = Mutex(State())

    init(_ work: @escaping @Sendable () async -> Outcome) { task = Task { await work() } }

    /// Whether the check was cancelled.
    var isCancelled: Bool { task.isCancelled }

    /// Waits for the check's end, and returns its outcome.
    func end() async -> Outcome { await task.value }

    /// Passes the outcome to all waiting calls.
    func tell(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Waits for the outcome.
    ///
    /// A cancelled caller stops waiting; when the last caller is cancelled, so is the check.
    func value() async -> Outcome {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let outcome = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.waiters[id] = waiter }
                    return state.outcome
                }
                if let outcome { waiter.resume(returning: outcome) }
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: Int) {
        let (waiter, isLast) = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            return (waiter, waiter != nil && state.waiters.isEmpty)
        }
        if isLast { task.cancel() }
        waiter?.resume(
            returning: .failure(PackError(.cancelled, "the check was cancelled; the next check continues it"))
        )
    }
}

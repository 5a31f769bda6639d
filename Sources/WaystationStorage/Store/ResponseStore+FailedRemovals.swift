import Dispatch
import Synchronization

/// A removal that fails leaves responses on disk that must not be returned any more.
///
/// Until such a removal is completed, look-ups treat its responses as not stored, and the store makes no other change:
/// so every change that succeeds comes after all removals that were requested before it. The removal is tried again
/// before each change, when the store opens, every 30 s, and before the process exits.
extension ResponseStore {
    /// Makes the removals that have failed before.
    ///
    /// Call it on the write queue.
    func completeFailedRemovals(in opened: Opened) throws {
        for scope in resident.failedRemovals {
            _ = try removeRows(.scope(scope), in: opened)
            resident.didRemove(scope)
        }
    }

    /// Schedules another attempt to make the removals that have failed.
    func scheduleFailedRemovals() {
        let isFirst = state.withLock { state in
            defer { state.awaitsRemovals = true }
            return !state.awaitsRemovals
        }
        guard isFirst else { return }
        environment.afterDelay(writeQueue, Self.retryInterval) { [weak self] in
            guard let self else { return }
            writeQueue.async {
                self.state.withLock { $0.awaitsRemovals = false }
                self.attemptFailedRemovals()
            }
        }
    }

    /// Makes the removals that have failed before, and schedules another attempt if they fail again.
    ///
    /// Call it on the write queue.
    func attemptFailedRemovals() {
        guard !resident.failedRemovals.isEmpty else { return }
        // Every change begins with them.
        if case .failure = attempt("removing", { _ in 0 }) { scheduleFailedRemovals() }
    }
}

import Dispatch
import Synchronization
import WaystationCaching

/// Small writes are gathered, so that many share a transaction.
///
/// Gathered writes are not on the write queue yet. Every job that must come after them is queued with ``enqueue(_:)``,
/// which first takes the gathered writes and makes them part of the job. So everything happens in the order in which it
/// was requested.
extension ResponseStore {
    /// Makes a write soon, together with others.
    func handOver(_ write: GatheredWrite) {
        gather { $0.add(write, bytes: write.bytes) }
    }

    /// Runs a job on the write queue, after all work that was requested before.
    func enqueue(_ job: @escaping @Sendable () -> Void) {
        gathering.withLock { gathering in
            let due = gathering.take()
            gathering.jobWasQueued()
            // The job is queued under the lock; otherwise it could run before a write that was handed over earlier and
            // that another job took.
            writeQueue.async { [self] in
                _ = self.gathering.withLock { $0.jobBegins() }
                write(due, givesWay: false)
                job()
            }
        }
    }

    /// Makes the gathered writes at once, for a caller that waits for one of them.
    func writeGathered() {
        enqueue {}
    }

    private func gather(_ change: (inout WriteGathering<GatheredWrite>) -> WriteGathering<GatheredWrite>.Step) {
        let startsInterval = gathering.withLock { gathering in
            let step = change(&gathering)
            if step.due.isEmpty { return step.startsInterval }
            gathering.jobWasQueued()
            // The job is queued under the lock, so that jobs run in the order of the writes.
            writeQueue.async { [self] in
                let isLast = self.gathering.withLock { $0.jobBegins() }
                // A job that waits must not wait longer, and the writes of a busy process must not fall behind.
                write(step.due, givesWay: isLast)
            }
            return step.startsInterval
        }
        guard startsInterval else { return }
        // The closure retains the store, so the store lives until no gathered writes are left.
        environment.afterDelay(writeQueue, environment.writeInterval) { [self] in gather { $0.endInterval() } }
    }

    /// Makes writes in one transaction and passes each its result, in order.
    ///
    /// Call it on the write queue.
    ///
    /// - Parameters:
    ///   - writes: The writes.
    ///   - givesWay: Whether threads that wait for the processor run in between.
    private func write(_ writes: [GatheredWrite], givesWay: Bool) {
        guard !writes.isEmpty else { return }
        let attempts = writes.map(Attempt.init)
        for (write, result) in zip(writes, make(attempts, givesWay: givesWay)) { write.finish(result) }
    }

    /// A write with its change of the index, or the error with which it was refused.
    private struct Attempt {
        let write: GatheredWrite
        let change: Result<RowChange, StoreError>

        init(_ write: GatheredWrite) {
            self.write = write
            change = Result { () throws(StoreError) in try write.prepare() }
        }

        var isAccepted: Bool { if case .success = change { true } else { false } }

        /// About the bytes that the change adds to the index: a body takes whole pages of it.
        var size: Int {
            switch change {
            case .success(.insert(let row, _, _)): row.size + StoreIndex.pageSize / 2
            case .success(.update): StoreIndex.pageSize / 2
            case .failure: 0
            }
        }

        /// The key that gets a new row.
        var addedKey: RequestKey? { if case .success(.insert) = change { write.key } else { nil } }

        /// The result for an error of the transaction; a write that was refused before keeps its refusal.
        func failed(_ error: @autoclosure () -> StoreError) -> Result<Int64?, StoreError> {
            change.flatMap { _ in .failure(error()) }
        }
    }

    private func make(_ attempts: [Attempt], givesWay: Bool = false) -> [Result<Int64?, StoreError>] {
        guard let opened = openedInPlace(), attempts.contains(where: \.isAccepted) else {
            return attempts.map { $0.failed(isUnavailable) }
        }
        do {
            try completeFailedRemovals(in: opened)
            try makeRoom(for: attempts.reduce(0) { $0 + $1.size }, in: opened)
            let written = try opened.index.write(
                attempts.map(\.change),
                maximumVariants: limits.maximumVariants,
                givesWay: givesWay
            )
            finish(written, of: Set(attempts.compactMap(\.addedKey)), in: opened)
            return written.result
        } catch  where attempts.count > 1 && StoreFailure(error) != .busy {
            // One of the gathered writes alone may be the cause of the failure. A transaction that waited for another
            // process in vain is not split, since each of its writes would wait again.
            return attempts.flatMap { make([$0]) }
        } catch {
            return attempts.map { $0.failed(handle(error, in: opened, while: $0.write.task, key: $0.write.key)) }
        }
    }
}

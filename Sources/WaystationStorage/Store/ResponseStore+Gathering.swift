import Dispatch
import Synchronization

/// Small writes are gathered, so that many share a transaction.
///
/// What is gathered has no place on the write queue yet. All that must come after it takes it along: ``enqueue(_:)``
/// gives it to its own job. So everything happens in the order in which it was asked for.
extension ResponseStore {
    /// Makes a write soon, together with others.
    func handOver(_ write: GatheredWrite) {
        gather { $0.add(write, bytes: write.bytes) }
    }

    /// Runs a job on the write queue, behind all that was asked for before.
    func enqueue(_ job: @escaping @Sendable () -> Void) {
        gathering.withLock { gathering in
            let due = gathering.take()
            // Under the lock, or a job could come before a write that was handed over earlier and taken by another job.
            writeQueue.async { [self] in
                write(due)
                job()
            }
        }
    }

    /// Makes the gathered writes at once, for whoever waits for one of them.
    func writeGathered() {
        gather { WriteGathering.Step(due: $0.take()) }
    }

    private func gather(_ change: (inout WriteGathering<GatheredWrite>) -> WriteGathering<GatheredWrite>.Step) {
        let startsInterval = gathering.withLock { gathering in
            let step = change(&gathering)
            // Under the lock, as above.
            if !step.due.isEmpty { writeQueue.async { [self] in write(step.due) } }
            return step.startsInterval
        }
        guard startsInterval else { return }
        // It holds the store, which so stays until nothing is gathered any more.
        environment.afterDelay(writeQueue, environment.writeInterval) { [self] in gather { $0.endInterval() } }
    }

    /// Makes writes in one transaction and tells each what came of it, in order.
    ///
    /// On the write queue.
    private func write(_ writes: [GatheredWrite]) {
        guard !writes.isEmpty else { return }
        for (write, result) in zip(writes, make(writes.map(Attempt.init))) { write.finish(result) }
    }

    /// A write and what is to be made of it, or why it was refused.
    private struct Attempt {
        let write: GatheredWrite
        let change: Result<RowChange, StoreError>

        init(_ write: GatheredWrite) {
            self.write = write
            change = Result { () throws(StoreError) in try write.prepare() }
        }

        var isAccepted: Bool { if case .success = change { true } else { false } }

        /// The key that gets a row.
        var addedKey: RequestKey? { if case .success(.insert) = change { write.key } else { nil } }

        /// The result of an error, which is asked for only where the write was not refused before.
        func failed(_ error: @autoclosure () -> StoreError) -> Result<[Int64], StoreError> {
            change.flatMap { _ in .failure(error()) }
        }
    }

    private func make(_ attempts: [Attempt]) -> [Result<[Int64], StoreError>] {
        guard let opened = opened(), attempts.contains(where: \.isAccepted) else {
            return attempts.map { $0.failed(isUnavailable) }
        }
        do {
            let written = try opened.index.write(attempts.map(\.change), maximumVariants: limits.maximumVariants)
            finish(written, of: Set(attempts.compactMap(\.addedKey)), in: opened)
            return written.result
        } catch  where attempts.count > 1 && StoreFailure(error) != .busy {
            // One of them may be to blame alone. Who waited for another process in vain need not do so for each.
            return attempts.flatMap { make([$0]) }
        } catch {
            return attempts.map { $0.failed(handle(error, in: opened, while: $0.write.task, key: $0.write.key)) }
        }
    }
}

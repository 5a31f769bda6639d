import Foundation
import Synchronization
public import WaystationHTTP

/// Purges by tag and by group: what they select is marked, not removed, so that their time does not depend on its number.
extension ResponseStore {
    /// Purges the responses with any of some labels.
    ///
    /// Returns at once. Look-ups of this process that begin after this call find no response from before it that a hard
    /// purge selects; one that a soft purge selects is stale (``WaystationHTTP/StoredHead/staleFrom``). Other processes on
    /// the same directory see the purge when it was written, and return what they have in memory for at most a second more.
    /// A response whose writer began before the call is not stored: its commit fails with
    /// ``StoreError/Code/invalidated``. A purge that cannot be written keeps its effect within this process, and is tried
    /// again before any other change of the store.
    ///
    /// The rows that a hard purge selects are removed in the background; ``flush()`` waits for that.
    ///
    /// - Parameters:
    ///   - labels: The labels.
    ///   - kind: The effect on the responses.
    ///   - completion: Called on the store's write queue when the purge was written.
    public func purge(
        _ labels: some Collection<ResponseLabel>,
        as kind: PurgeKind,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        // As the index will have it.
        let time = Date(microseconds: now().microseconds)
        // As for an invalidation, the log comes first, then the queue.
        for label in labels { invalidations.append(.label(label)) }
        let begun = labels.map { purges.begin(Purge.Order(label: $0, kind: kind), at: time) }
        enqueue { [self] in
            let result = attempt("purging") { opened in
                try write(begun, in: opened)
                return 0
            }
            if case .failure = result {
                purges.fail(begun)
                scheduleFailedRemovals()
            }
            completion(result.map { _ in })
        }
    }

    /// Purges the responses with any of some labels, and returns when the purge was written.
    ///
    /// - Parameters:
    ///   - labels: The labels.
    ///   - kind: The effect on the responses.
    /// - Throws: ``StoreError`` when the store does not work. The purge has its effect in this process then too, and is
    ///   tried again; other processes may find the responses until it succeeds.
    public func purge(_ labels: some Collection<ResponseLabel>, as kind: PurgeKind) async throws(StoreError) {
        _ = try await waiting { completion in
            purge(labels, as: kind) { result in completion(result.map { 0 }) }
        }
    }

    /// Writes the purges whose writing has failed before.
    ///
    /// Call it on the write queue.
    func writeFailedPurges(in opened: Opened) throws {
        let failed = purges.failed
        if !failed.isEmpty { try write(failed, in: opened) }
    }

    private func write(_ begun: [KnownPurges.Begun], in opened: Opened) throws {
        guard !begun.isEmpty else { return }
        try opened.index.write(begun.map { ($0.order, $0.time) })
        purges.end(begun)
        noteChange()
        schedule([.purged])
    }

    // MARK: - Upkeep

    /// Begins to look for rows that were purged.
    ///
    /// - Returns: The jobs to do next.
    func beginRemovingPurged() -> [Upkeep.Job] {
        guard !purges.isEmpty else { return [] }
        // Each search looks at all rows, so one must end before the next begins.
        let isUnderWay = state.withLock { state in
            state.upkeep.jobs.contains { if case .purgedStep = $0 { true } else { false } }
        }
        return isUnderWay ? [.purged] : [.purgedStep(after: 0, through: purges.last)]
    }

    /// Removes those of the next rows that were purged, and at the end the purges that select nothing any more.
    ///
    /// - Parameters:
    ///   - row: The last row that was looked at.
    ///   - purge: The last purge when the search began.
    ///   - opened: The open store.
    /// - Throws: A `SQLiteError`.
    /// - Returns: The jobs to do next.
    func removePurged(after row: Int64, through purge: Int64, in opened: Opened) throws -> [Upkeep.Job] {
        let (removal, last) = try opened.index.removePurged(after: row, limit: Self.purgeStepSize)
        finish(removal, in: opened)
        if let last { return [.purgedStep(after: last, through: purge)] }
        try opened.index.dropPurges(through: purge)
        return [.vacuum]
    }

    /// The number of rows that are looked at in one step.
    private static let purgeStepSize = 256
}

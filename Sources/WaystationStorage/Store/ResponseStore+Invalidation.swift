import Dispatch
public import WaystationCaching
import WaystationFileSystem

/// Purging and invalidation are one operation: it removes stored responses, and a response that is still on its way is
/// not stored when it arrives.
extension ResponseStore {
    /// The current moment in the order of invalidations: take one when a request is sent.
    public func moment() -> StoreMoment { StoreMoment(invalidations) }

    /// Whether a key was invalidated after a moment: a response requested before that moment must not answer a request
    /// that is made now.
    public func hasInvalidated(_ key: RequestKey, since moment: StoreMoment) -> Bool {
        invalidations.hasInvalidated(key, since: moment.count)
    }

    /// Invalidates the stored responses of a URL in a partition: all methods and variants (RFC 9111 §4.4).
    ///
    /// Returns at once. Look-ups that begin after this call do not find responses from before it. A response whose
    /// writer began before the call (or whose ``StoreMoment`` is before it) is not stored: its commit fails with
    /// ``StoreError/Code/invalidated``. This holds within this process, and also while the store does not work: a
    /// removal that fails is tried again, before any other change of the store, until it succeeds.
    /// - Parameters:
    ///   - url: The canonical URL, as in the key.
    ///   - partition: The partition, as in the key.
    ///   - completion: Called on the store's write queue with the number of responses that were removed.
    public func invalidate(
        url: String,
        partition: String,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        invalidate(.url(url, partition: partition), completion: completion)
    }

    /// Invalidates the stored responses of a partition, such as that of a login that has ended.
    ///
    /// Returns at once, and affects responses that are on their way as ``invalidate(url:partition:completion:)`` does.
    /// - Parameters:
    ///   - partition: The partition, as in the key.
    ///   - completion: Called on the store's write queue with the number of responses that were removed.
    public func invalidate(
        partition: String,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        invalidate(.partition(partition), completion: completion)
    }

    /// Removes the responses of a scope, such as `.host("shop.example")` or `.all`.
    ///
    /// It removes responses that were stored before the call, in memory and on disk. A response whose writer began before
    /// the call is not stored.
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work. Look-ups of this process do not find the responses then
    ///   either, and their removal is tried again; in other processes they may be found until it succeeds.
    @discardableResult
    public func remove(_ scope: ResponseScope) async throws(StoreError) -> Int {
        try await waiting { invalidate(scope, completion: $0) }
    }

    /// Invalidates the stored responses of a scope, as ``invalidate(url:partition:completion:)`` does for a URL.
    ///
    /// - Parameters:
    ///   - scope: The responses to remove.
    ///   - completion: Called on the store's write queue with the number of responses that were removed.
    public func invalidate(
        _ scope: ResponseScope,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        // The log comes first, then the queue: a commit either is queued before the removal, which then removes its
        // response, or finds the invalidation in the log.
        invalidations.append(scope)
        resident.beginRemoving(scope)
        enqueue { [self] in
            let result = attempt("removing") { try removeRows(.scope(scope), in: $0) }
            let hasFailed = if case .failure = result { true } else { false }
            resident.endRemoving(scope, hasFailed: hasFailed)
            if hasFailed { scheduleFailedRemovals() }
            completion(result)
        }
    }

    /// Waits until the changes that were made are on the storage medium, so that a power cut does not undo them.
    ///
    /// A change alone does not wait for that (`synchronous = NORMAL`): after a power cut the index is as it was some
    /// changes before. Call it on the write queue, as in the completion of a change.
    package func synchronize() throws(StoreError) {
        let result = attempt("writing changes to the storage medium") { _ in
            let log = layout.index + "-wal"
            // Without a log, SQLite has waited for each change.
            guard try environment.fileSystem.status(of: log) != nil else { return 0 }
            // Closing a file drops the process's locks on it, but SQLite has no locks on the log.
            try environment.fileSystem.synchronize(environment.fileSystem.openFile(log))
            return 0
        }
        _ = try result.get()
    }
}

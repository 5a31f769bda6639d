import Dispatch
public import Foundation
import Synchronization
public import WaystationHTTP

extension ResponseStore {
    /// Replaces the header fields and times of a stored response, as a 304 requires (RFC 9111 §4.3.4), without waiting
    /// for the disk.
    ///
    /// The status, the vary key and the body do not change. Look-ups that begin after this call see the new fields,
    /// and return a new instance; for a response in memory they do not wait for the disk. If the response turns out to
    /// be gone, it is not stored again. A store that does not work reports that in an event.
    ///
    /// - Parameters:
    ///   - response: The stored response; this instance does not change.
    ///   - head: The head that replaces the stored one, with the same key, status and vary key.
    ///   - completion: Called on the store's write queue with true if the response was still stored.
    public func freshen(
        _ response: StoredResponse,
        with head: StoredHead,
        completion: @escaping @Sendable (Result<Bool, StoreError>) -> Void = { _ in }
    ) {
        var head = head
        // The request may have been sent before a purge, which the response had its labels for.
        switch purges.effect(on: response.id, requestTime: head.requestTime, response.head.labels) {
        case .none: break
        case .stale(let time): head.staleFrom = time
        case .removed: return completion(.success(false))
        }
        let (freshened, row) = response.freshened(head)
        resident.beginFreshening(freshened)
        handOver(
            GatheredWrite(task: "freshening", key: nil, bytes: freshened.residentSize) {
                .update(id: freshened.id, row)
            } finish: { [self] result in
                let result = result.map { $0 != nil }
                resident.endFreshening(freshened, isWritten: (try? result.get()) ?? false)
                completion(result)
            }
        )
    }

    /// Removes these responses, but not responses that have replaced them.
    ///
    /// - Returns: How many of the responses were still stored.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(_ responses: [StoredResponse]) async throws(StoreError) -> Int {
        try await waiting { remove(responses, completion: $0) }
    }

    /// Removes these responses without waiting for the disk.
    ///
    /// Look-ups that begin after this call do not find them.
    /// - Parameters:
    ///   - responses: The responses to remove; a response that has replaced one of them stays.
    ///   - completion: Called on the store's write queue with the number of responses that were still stored.
    public func remove(
        _ responses: [StoredResponse],
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void
    ) {
        change("removing", keys: responses.map(\.head.key), completion: completion) { [self] opened in
            let removal = try opened.index.remove(ids: responses.map(\.id))
            finish(removal, in: opened)
            return removal.count
        }
    }

    /// Removes the responses whose response time is before a date.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(olderThan date: Date) async throws(StoreError) -> Int {
        try await waiting { completion in
            change("removing", keys: [], completion: completion) { try self.removeRows(.older(than: date), in: $0) }
        }
    }

    /// Removes the least recently used responses until the store has at most this size.
    ///
    /// The size limits what ``StoreLimits/maximumSize`` limits. The directory is smaller soon after; ``flush()`` waits
    /// for that.
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work; some responses may have been removed by then.
    @discardableResult
    public func trim(to size: ByteCount) async throws(StoreError) -> Int {
        try await waiting { completion in
            change("trimming", keys: [], completion: completion) { [self] opened in
                let target = DiskBudget(size)
                let used = try target.directory - countStaged().total
                var count = 0
                while true {
                    let (removal, isDone) = try opened.index.evictStep(
                        downTo: (target.responses, used),
                        limit: 512,
                        at: now()
                    )
                    finish(removal, in: opened)
                    count += removal.count
                    guard !isDone else { break }
                }
                if count > 0 { schedule([.vacuum, .rest]) }
                return count
            }
        }
    }

    func removeRows(_ selection: StoreIndex.Selection, in opened: Opened) throws -> Int {
        let removal = try opened.index.remove(selection)
        finish(removal, in: opened)
        if removal.count > 0 { schedule([.vacuum]) }
        return removal.count
    }

    /// Runs a change of some keys on the write queue, after all work that was requested before.
    func change(
        _ task: String,
        keys: [RequestKey],
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void,
        _ body: @escaping @Sendable (Opened) throws -> Int
    ) {
        for key in keys { resident.beginChanging(key) }
        enqueue { [self] in
            let result = attempt(task, body)
            for key in keys { resident.endChanging(key) }
            completion(result)
        }
    }

    /// Runs a change on the open store, after the removals that have failed before.
    ///
    /// Call it on the write queue.
    func attempt(_ task: String, _ body: (Opened) throws -> Int) -> Result<Int, StoreError> {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        guard let opened = openedInPlace() else { return .failure(isUnavailable) }
        do {
            try completeFailedRemovals(in: opened)
            return .success(try body(opened))
        } catch {
            return .failure(handle(error, in: opened, while: task))
        }
    }

    /// Starts a change and waits for its completion, without waiting for the gathering interval.
    func waiting(
        for start: (@escaping @Sendable (Result<Int, StoreError>) -> Void) -> Void
    ) async throws(StoreError) -> Int {
        let result = await withCheckedContinuation { continuation in
            start { continuation.resume(returning: $0) }
            writeGathered()
        }
        return try result.get()
    }
}

/// Purging and invalidation are one operation: it removes stored responses, and a response that is still on its way is
/// not stored when it arrives.
extension ResponseStore {
    /// The current moment in the order of invalidations: take one when a request is sent.
    public func moment() -> StoreMoment { StoreMoment(invalidations) }

    /// Whether a key was invalidated after a moment: a response requested before that moment must not answer a request
    /// that is made now.
    ///
    /// The labels of a response are not known before it arrives, so any purge by tag counts, and any purge of a group of the
    /// key's origin.
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
    /// - Returns: How many responses were removed; 0 for a tag or a group, whose responses are removed later (see
    ///   ``purge(_:as:)``).
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
        if let label = scope.label {
            return purge([label], as: .hard) { completion($0.map { 0 }) }
        }
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
        dispatchPrecondition(condition: .onQueue(writeQueue))
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

/// The invalidations that happened while responses were on their way.
///
/// A response that was requested before an invalidation shows the origin's state before it, however late it arrives
/// (RFC 9111 §4.4). The log counts invalidations instead of time: each one gets a number higher than the last. A load
/// records the number when it begins (``StoreMoment``); its response is refused if an invalidation with a higher number
/// concerns its key.
final class InvalidationLog: Sendable {
    /// When there are more scopes than this, they are replaced by one scope that covers everything, so that a load that
    /// never ends cannot make the log grow without limit.
    static let maximumScopes = 1_024

    private struct State {
        var count = 0
        /// The number of each scope's last invalidation, as far as a running load began before it.
        var scopes: [ResponseScope: Int] = [:]
        /// How many running loads began at each count.
        var moments: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    /// Records an invalidation.
    func append(_ scope: ResponseScope) {
        state.withLock { state in
            state.count += 1
            guard !state.moments.isEmpty else { return }
            if state.scopes.count >= Self.maximumScopes, state.scopes[scope] == nil {
                state.scopes = [.all: state.count]
            }
            state.scopes[scope] = state.count
        }
    }

    /// Begins a load, and returns the current count.
    func enter() -> Int {
        state.withLock { state in
            state.moments[state.count, default: 0] += 1
            return state.count
        }
    }

    /// Ends a load that began at a count.
    func leave(_ moment: Int) {
        state.withLock { state in
            guard let count = state.moments[moment] else { return }
            state.moments[moment] = count > 1 ? count - 1 : nil
            if state.moments.isEmpty { state.scopes = [:] }
        }
    }

    /// Whether a key was invalidated after a count.
    func hasInvalidated(_ key: RequestKey, since moment: Int) -> Bool {
        hasInvalidated(since: moment) { $0.contains(key) }
    }

    /// Whether a response was invalidated after a count.
    func hasInvalidated(_ head: StoredHead, since moment: Int) -> Bool {
        hasInvalidated(since: moment) { $0.contains(head) }
    }

    private func hasInvalidated(since moment: Int, _ isMeant: (ResponseScope) -> Bool) -> Bool {
        state.withLock { state in
            state.count > moment && state.scopes.contains { $1 > moment && isMeant($0) }
        }
    }
}

/// A point in the order of a store's invalidations.
///
/// Take one with ``ResponseStore/moment()`` when a request is sent, and pass it to ``ResponseStore/begin(_:asOf:)``
/// when the response arrives: a response that was invalidated in between is not stored then. A moment costs little, but
/// as long as it exists, the store remembers all later invalidations.
public final class StoreMoment: Sendable {
    let count: Int
    private let log: InvalidationLog

    init(_ log: InvalidationLog) {
        self.log = log
        count = log.enter()
    }

    deinit { log.leave(count) }
}

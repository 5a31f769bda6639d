public import Foundation
public import HTTPTypes

extension ResponseStore {
    /// Replaces the header fields and times of a stored response, as a 304 requires (RFC 9111 §4.3.4).
    ///
    /// The status and the body do not change. Look-ups return a new instance afterwards; the instance that was passed
    /// in does not change.
    /// - Returns: Whether the response was still stored.
    /// - Throws: ``StoreError`` when the store does not work.
    public func updateFields(
        of response: StoredResponse,
        headerFields: HTTPFields,
        requestTime: Date,
        responseTime: Date
    ) async throws(StoreError) -> Bool {
        let update = FieldUpdate(
            of: response,
            headerFields: headerFields,
            requestTime: requestTime,
            responseTime: responseTime
        )
        return try await updateFields([update]) == 1
    }

    /// Replaces the header fields and times of several stored responses, in one transaction.
    ///
    /// - Returns: How many of the responses were still stored.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func updateFields(_ updates: [FieldUpdate]) async throws(StoreError) -> Int {
        try await waiting { updateFields(updates, completion: $0) }
    }

    /// Replaces the header fields and times of several stored responses without waiting for the disk.
    ///
    /// Look-ups that begin after this call see the new fields. For responses in memory they get a new instance and do
    /// not wait for the disk. If a response turns out to be gone, or cannot be written, the new instance is removed
    /// from memory again.
    /// - Parameters:
    ///   - updates: The responses and their new fields and times.
    ///   - completion: Called on the store's write queue with the number of responses that were still stored.
    public func updateFields(
        _ updates: [FieldUpdate],
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void
    ) {
        let updates = updates.map(RowUpdate.init)
        for update in updates { resident.beginFreshening(update.response) }
        let bytes = updates.reduce(0) { $0 + $1.response.residentSize }
        handOver(
            GatheredWrite(task: "freshening", key: nil, bytes: bytes) {
                .update(updates)
            } finish: { [self] result in
                let written = Set((try? result.get()) ?? [])
                for update in updates {
                    resident.endFreshening(update.response, isWritten: written.contains(update.response.id))
                }
                completion(result.map(\.count))
            }
        )
    }

    /// Replaces the header fields and times of a stored response without waiting for the disk.
    ///
    /// Look-ups that begin after this call see the new fields. A response that is gone by then is not stored again; a
    /// store that does not work reports that in an event.
    public func freshen(
        _ response: StoredResponse,
        headerFields: HTTPFields,
        requestTime: Date,
        responseTime: Date
    ) {
        let update = FieldUpdate(
            of: response,
            headerFields: headerFields,
            requestTime: requestTime,
            responseTime: responseTime
        )
        updateFields([update]) { _ in }
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
        change("removing", keys: responses.map(\.key), completion: completion) { [self] opened in
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
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work; some responses may have been removed by then.
    @discardableResult
    public func trim(to size: ByteCount) async throws(StoreError) -> Int {
        try await waiting { completion in
            change("trimming", keys: [], completion: completion) { [self] opened in
                var count = 0
                while true {
                    let (removal, isDone) = try opened.index.evictStep(downTo: size.bytes, limit: 512)
                    finish(removal, in: opened)
                    count += removal.count
                    guard !isDone else { break }
                }
                if count > 0 { schedule([.vacuum]) }
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

    /// Runs a change on the open store.
    ///
    /// Call it on the write queue.
    func attempt(_ task: String, _ body: (Opened) throws -> Int) -> Result<Int, StoreError> {
        guard let opened = opened() else { return .failure(isUnavailable) }
        do {
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

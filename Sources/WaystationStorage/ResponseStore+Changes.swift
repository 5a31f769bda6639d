public import Foundation
public import HTTPTypes

extension ResponseStore {
    /// Replaces the fields and times of a stored response, as a 304 asks for (RFC 9111 §4.3.4); its body stays.
    ///
    /// Look-ups return a new instance afterwards; the one given does not change.
    /// - Returns: Whether the response was still there.
    /// - Throws: ``StoreError`` when the store does not work.
    public func updateFields(
        of response: StoredResponse,
        headerFields: HTTPFields,
        requestTime: Date,
        responseTime: Date
    ) async throws(StoreError) -> Bool {
        try await change("freshening") { [self] opened in
            let isThere = try opened.index.update(
                id: response.id,
                key: response.key,
                headerFields: headerFields,
                requestTime: requestTime,
                responseTime: responseTime
            )
            resident.invalidate([response.key])
            return isThere
        }
    }

    /// Removes every response.
    ///
    /// Like its siblings it works on what was stored before the call, in memory as on disk.
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work; part may have been removed by then.
    @discardableResult
    public func removeAll() async throws(StoreError) -> Int { try await remove(.all) }

    /// Removes the responses of a URL: all methods, variants and partitions.
    ///
    /// - Parameter url: The canonical URL, as in the key.
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(url: String) async throws(StoreError) -> Int { try await remove(.url(url)) }

    /// Removes the responses of all URLs that begin with a text, compared byte for byte.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(prefix: String) async throws(StoreError) -> Int { try await remove(.prefix(prefix)) }

    /// Removes the responses of a host, on any port, by http and https; not those of its subdomains.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(host: String) async throws(StoreError) -> Int { try await remove(.host(host)) }

    /// Removes the responses whose response time lies before a moment.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(olderThan date: Date) async throws(StoreError) -> Int { try await remove(.older(than: date)) }

    /// Removes the responses of a partition, such as those of a login that has ended.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(partition: String) async throws(StoreError) -> Int { try await remove(.partition(partition)) }

    private func remove(_ selection: StoreIndex.Selection) async throws(StoreError) -> Int {
        try await change("removing") { [self] opened in
            let removal = try opened.index.remove(selection)
            finish(removal)
            if removal.count > 0 { schedule([.vacuum]) }
            return removal.count
        }
    }

    /// Runs a change on the write queue, behind all that was asked for before.
    private func change<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable (Opened) throws -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            writeQueue.async { [self] in
                guard let opened = opened() else {
                    let error = StoreError(.unavailable, "the store does not work; its events say why")
                    return continuation.resume(returning: .failure(error))
                }
                do {
                    continuation.resume(returning: .success(try body(opened)))
                } catch {
                    continuation.resume(returning: .failure(handle(error, in: opened, while: task)))
                }
            }
        }
        return try result.get()
    }
}

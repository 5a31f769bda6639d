import Dispatch

/// Purging and invalidation are one thing: what is stored goes, and what was on its way is not stored when it arrives.
extension ResponseStore {
    /// The moment of now in the order of invalidations: take one when a request is sent.
    public func moment() -> StoreMoment { StoreMoment(invalidations) }

    /// Whether a key was invalidated after a moment: what was asked for then must not answer who asks now.
    public func hasInvalidated(_ key: RequestKey, since moment: StoreMoment) -> Bool {
        invalidations.hasInvalidated(key, since: moment.count)
    }

    /// Invalidates what is stored for a URL in a partition: all methods and variants (RFC 9111 §4.4).
    ///
    /// Returns at once. Look-ups that are asked for after this call find nothing of before, and a response whose writer
    /// had begun before it (or whose ``StoreMoment`` lies before it) is not stored: its commit fails with
    /// ``StoreError/Code/invalidated``. That holds within this process, and also while the store does not work.
    /// - Parameters:
    ///   - url: The canonical URL, as in the key.
    ///   - partition: The partition, as in the key.
    ///   - completion: Called on the store's write queue with how many responses were removed.
    public func invalidate(
        url: String,
        partition: String,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        invalidate(.url(url, partition: partition), completion: completion)
    }

    /// Invalidates what is stored in a partition, such as that of a login that has ended.
    ///
    /// Returns at once, and has the same effect on what is on its way as ``invalidate(url:partition:completion:)``.
    /// - Parameters:
    ///   - partition: The partition, as in the key.
    ///   - completion: Called on the store's write queue with how many responses were removed.
    public func invalidate(
        partition: String,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        invalidate(.partition(partition), completion: completion)
    }

    /// Removes every response.
    ///
    /// Like its siblings it works on what was stored before the call, in memory as on disk, and on what was on its way:
    /// a response whose writer had begun before the call is not stored.
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

    /// Removes the responses of a URL in one partition: all methods and variants.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(url: String, partition: String) async throws(StoreError) -> Int {
        try await remove(.url(url, partition: partition))
    }

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

    /// Removes the responses of a partition, such as those of a login that has ended.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(partition: String) async throws(StoreError) -> Int { try await remove(.partition(partition)) }

    /// Removes the responses of a scope.
    ///
    /// - Returns: How many responses were removed.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func remove(_ scope: ResponseScope) async throws(StoreError) -> Int {
        try await waiting { invalidate(scope, completion: $0) }
    }

    /// Invalidates what is stored in a scope, as ``invalidate(url:partition:completion:)`` does for a URL.
    ///
    /// - Parameters:
    ///   - scope: What goes.
    ///   - completion: Called on the store's write queue with how many responses were removed.
    public func invalidate(
        _ scope: ResponseScope,
        completion: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
    ) {
        // First the log, then the queue: a commit either stands in line before the removal, which then removes its
        // response, or finds the invalidation noted.
        invalidations.append(scope)
        resident.beginChanging(scope)
        enqueue { [self] in
            let result = attempt("removing") { try removeRows(.scope(scope), in: $0) }
            resident.endChanging(scope)
            completion(result)
        }
    }
}

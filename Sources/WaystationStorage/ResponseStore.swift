public import Foundation
public import HTTPTypes

/// HTTP responses on disk, bounded by age and bytes.
public final class ResponseStore: Sendable {
    /// Opens.
    public init(
        directory: URL,
        limits: StoreLimits = StoreLimits(),
        now: @escaping @Sendable () -> Date = { Date() },
        events: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) {}
    public func resident(_ key: RequestKey) -> [StoredResponse]? { nil }
    public func lookup(_ key: RequestKey, completion: @escaping @Sendable ([StoredResponse]) -> Void) {}
    public func lookup(_ key: RequestKey) async -> [StoredResponse] { [] }
    public func begin(_ entry: NewResponse) -> ResponseWriter? { nil }
    public func updateFields(of response: StoredResponse, headerFields: HTTPFields, requestTime: Date, responseTime: Date) async throws -> Bool { false }
    public func removeAll() async throws -> Int { 0 }
    public func remove(url: String) async throws -> Int { 0 }
    public func remove(prefix: String) async throws -> Int { 0 }
    public func remove(host: String) async throws -> Int { 0 }
    public func remove(olderThan date: Date) async throws -> Int { 0 }
    public func remove(partition: String) async throws -> Int { 0 }
    public func statistics() async -> StoreStatistics { StoreStatistics() }
    public func flush() async {}
}

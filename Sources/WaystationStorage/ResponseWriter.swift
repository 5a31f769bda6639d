public import Foundation

/// Receives the body of one new response and then makes it visible, or forgets it.
public final class ResponseWriter: Sendable {
    public func append(_ data: Data) {}
    public func commit(completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void = { _ in }) {}
    public func abandon() {}
}

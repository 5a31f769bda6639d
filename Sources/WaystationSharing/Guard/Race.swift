import Synchronization

/// A result that several parties may deliver; the first one counts.
package final class Race<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    package init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    /// Delivers a result.
    ///
    /// - Returns: Whether it was the first one.
    @discardableResult
    package func finish(_ value: Value) -> Bool {
        let first = continuation.withLock { $0.take() }
        first?.resume(returning: value)
        return first != nil
    }
}

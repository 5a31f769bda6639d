import Dispatch
import Synchronization

/// Waits for asynchronous work, since libFuzzer calls a plain function.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
    let pending = Pending<Value>()
    Task.detached {
        do { pending.end(.success(try await work())) } catch { pending.end(.failure(error)) }
    }
    return try pending.wait()
}

private final class Pending<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func end(_ outcome: Result<Value, any Error>) {
        result.withLock { $0 = outcome }
        done.signal()
    }

    func wait() throws -> Value {
        done.wait()
        guard let outcome = result.withLock({ $0 }) else { throw Finding("the work ended without a result") }
        return try outcome.get()
    }
}

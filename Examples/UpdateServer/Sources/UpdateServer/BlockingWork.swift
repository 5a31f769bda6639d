import Dispatch

/// Runs work that computes for long or waits for the disk, such as building a pack, on threads of its own.
///
/// Swift has only a few threads for tasks, which must not block, and the server answers on them.
enum BlockingWork {
    // A queue of another class than the default: on Linux, concurrent queues of the default class share the threads of
    // Swift's tasks.
    private static let queue = DispatchQueue(label: "update-server.blocking", qos: .utility, attributes: .concurrent)

    /// Runs the work.
    ///
    /// Cancelling the task does not stop the work: the task waits for its end and gets its result.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

import Dispatch

/// Work that computes or waits for the disk for long, such as building a pack, on threads of its own: Swift's few are for
/// those who never wait, and the server answers on them.
enum BlockingWork {
    // Of a class of its own: on Linux concurrent queues of the default class share the threads of Swift's tasks.
    private static let queue = DispatchQueue(label: "update-server.blocking", qos: .utility, attributes: .concurrent)

    /// Does the work.
    ///
    /// It is not cut short: a task that is cancelled meanwhile waits for its end all the same, and gets what came of it.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

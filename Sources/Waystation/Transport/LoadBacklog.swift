import Synchronization
import WaystationStorage

/// How many bytes have arrived for the loads of an interceptor, and wait for their tasks to take them or for the cache to
/// write them.
///
/// Bytes of a task that is suspended do not count: it may stay so for long, and slowing the network down for it would slow
/// all other loads down.
final class LoadBacklog: Sendable {
    private let count = Atomic(0)
    private let store: ResponseStore?

    /// Makes a backlog in which nothing waits for a task.
    ///
    /// - Parameter store: Where responses are stored; what waits there for the disk counts too.
    init(storingIn store: ResponseStore?) { self.store = store }

    /// The bytes that wait for their tasks.
    var bytesForTasks: Int { count.load(ordering: .relaxed) }

    /// The bytes that wait for their tasks or for the cache's disk.
    var bytes: Int { bytesForTasks + (store?.unwrittenBytes ?? 0) }

    func change(by difference: Int) {
        if difference != 0 { count.add(difference, ordering: .relaxed) }
    }
}

import Synchronization
import WaystationStorage

/// The bytes that have arrived for the loads of an interceptor, and wait for their tasks or for the cache to write
/// them.
///
/// Bytes of a suspended task do not count. It may stay suspended for long, and slowing the network down for it would
/// slow all other loads down.
final class LoadBacklog: Sendable {
    private let count = Atomic(0)
    private let store: ResponseStore?

    /// Makes a backlog in which no bytes wait for a task.
    ///
    /// - Parameter store: The store of the responses; bytes that wait there for the disk count too.
    init(storingIn store: ResponseStore?) { self.store = store }

    /// The bytes that wait for their tasks.
    var bytesForTasks: Int { count.load(ordering: .relaxed) }

    /// The bytes that wait for their tasks or for the cache's disk.
    var bytes: Int { bytesForTasks + (store?.unwrittenBytes ?? 0) }

    func change(by difference: Int) {
        if difference != 0 { count.add(difference, ordering: .relaxed) }
    }
}

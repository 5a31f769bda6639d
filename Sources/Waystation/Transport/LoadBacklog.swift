import Synchronization

/// How many bytes have arrived for the loads of an interceptor, and wait for their tasks to take them.
///
/// Bytes of a task that is suspended, or whose delegate has not answered to the response yet, do not count: slowing the
/// network down does not bring these on, and would slow all other loads down.
final class LoadBacklog: Sendable {
    private let count = Atomic(0)

    var bytes: Int { count.load(ordering: .relaxed) }

    func change(by difference: Int) {
        if difference != 0 { count.add(difference, ordering: .relaxed) }
    }
}

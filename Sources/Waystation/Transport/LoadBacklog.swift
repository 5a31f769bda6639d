import Synchronization

/// How many bytes have arrived for the loads of an interceptor, and wait for their tasks to take them.
///
/// Bytes of a task that is suspended do not count: it may stay so for long, and slowing the network down for it would slow
/// all other loads down.
final class LoadBacklog: Sendable {
    private let count = Atomic(0)

    var bytes: Int { count.load(ordering: .relaxed) }

    func change(by difference: Int) {
        if difference != 0 { count.add(difference, ordering: .relaxed) }
    }
}

import Synchronization

/// The tasks of a session whose protocol has not been started since the session asked its cache about them.
///
/// While there are any, the loading queue has other work.
final class VisitsUnderWay: Sendable {
    private let count = Atomic(0)
    /// The number of tasks, one after the other, that began while there was no other.
    private let calm = Atomic(0)

    /// Adds a task.
    ///
    /// - Returns: Whether the loading queue is free: this task and the three before it began while there was no other.
    ///   Many loads at a time also come to moments without another.
    func begin() -> Bool {
        guard count.add(1, ordering: .relaxed).oldValue == 0 else {
            calm.store(0, ordering: .relaxed)
            return false
        }
        return calm.add(1, ordering: .relaxed).newValue > 3
    }

    /// Removes a task: its protocol was started, or the session has dropped it.
    func end() { count.subtract(1, ordering: .relaxed) }
}

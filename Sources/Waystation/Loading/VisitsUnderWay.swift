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
    /// - Returns: The task's place, and whether the loading queue is free: this task and the three before it began
    ///   while there was no other. Many loads at a time also come to moments without another.
    func begin() -> (place: Place, isCalm: Bool) {
        guard count.add(1, ordering: .relaxed).oldValue == 0 else {
            calm.store(0, ordering: .relaxed)
            return (Place(in: self), false)
        }
        return (Place(in: self), calm.add(1, ordering: .relaxed).newValue > 3)
    }

    /// The place of a task, which ends with it: the session may drop a task without starting its protocol.
    final class Place: Sendable {
        private let visits: VisitsUnderWay
        private let hasLeft = Atomic(false)

        fileprivate init(in visits: VisitsUnderWay) { self.visits = visits }

        deinit { leave() }

        /// Records that the protocol was started; calling this again does nothing.
        func leave() {
            guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
            visits.count.subtract(1, ordering: .relaxed)
        }
    }
}

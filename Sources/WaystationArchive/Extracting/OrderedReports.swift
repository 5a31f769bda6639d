import Synchronization

/// Passes on reports from several threads, one at a time and in order, without holding a lock meanwhile.
///
/// If no other thread is passing on reports, the reporting thread passes on its own and those of other threads until
/// none waits.
final class OrderedReports<Report: Sendable>: Sendable {
    private struct State {
        var waiting: [Report] = []
        var isHandingOn = false
    }

    private let state = Mutex(State())
    private let receive: @Sendable (Report) -> Void

    init(to receive: @escaping @Sendable (Report) -> Void) { self.receive = receive }

    /// Adds a report to the queue.
    ///
    /// Call this where the order is decided, then ``handOn()`` outside of any lock.
    func enqueue(_ report: Report) { state.withLock { $0.waiting.append(report) } }

    /// Passes on the waiting reports, unless another thread is doing so.
    func handOn() {
        var isMine = false
        while let reports = next(isMine: &isMine) { reports.forEach(receive) }
    }

    private func next(isMine: inout Bool) -> [Report]? {
        state.withLock { state in
            guard isMine || !state.isHandingOn else { return nil }
            isMine = true
            state.isHandingOn = !state.waiting.isEmpty
            guard state.isHandingOn else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

import Synchronization

/// Hands on reports from several threads one at a time and in order, with no lock held meanwhile.
///
/// Whoever reports while nobody is handing on does it, for the others too, until nothing waits.
final class OrderedReports<Report: Sendable>: Sendable {
    private struct State {
        var waiting: [Report] = []
        var isHandingOn = false
    }

    private let state = Mutex(State())
    private let receive: @Sendable (Report) -> Void

    init(to receive: @escaping @Sendable (Report) -> Void) { self.receive = receive }

    /// Puts a report in line; call it where the order is decided, then ``handOn()`` outside of any lock.
    func enqueue(_ report: Report) { state.withLock { $0.waiting.append(report) } }

    /// Hands on what waits, unless another thread is at it.
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

#if NIO
import NIOCore

extension Engine {
    /// Makes sure that deadlines are looked at when this one passes.
    func wake(at deadline: NIODeadline?) {
        guard let deadline, let time = wakeUp.add(deadline, now: .now()) else { return }
        scheduledWakeUp?.cancel()
        scheduledWakeUp = loop.assumeIsolated().scheduleTask(deadline: time) { self.checkDeadlines() }
    }

    private func checkDeadlines() {
        scheduledWakeUp = nil
        wakeUp.fired()
        let now = NIODeadline.now()
        for exchange in exchanges.values { exchange.checkDeadline(now) }
        for attempt in connects.values where attempt.deadline <= now { attempt.timeOut() }
        for connection in idle.removeExpired(now) { close(connection) }
        let late = starved.filter { $0.deadline <= now }
        starved.removeAll { $0.deadline <= now }
        for connect in late { fail(connect) }
        let next = exchanges.values.compactMap(\.deadline) + connects.values.map(\.deadline) + starved.map(\.deadline)
        wake(at: (next + [idle.deadline].compactMap { $0 }).min())
    }
}
#endif

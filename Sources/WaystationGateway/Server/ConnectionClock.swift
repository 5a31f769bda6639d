#if Gateway
import NIOCore

/// The deadline of a connection, which moves with each request.
///
/// One timer serves all deadlines: it runs when the earliest may have passed, and again if a later one is set.
final class ConnectionClock {
    private var deadline: NIODeadline?
    private var late: (@Sendable () -> Void)?
    private var isScheduled = false

    /// Sets the deadline; it replaces the one before.
    ///
    /// - Parameters:
    ///   - time: The time until the deadline.
    ///   - loop: The event loop, on which this is called.
    ///   - late: Called on the event loop if the deadline passes.
    func wait(_ time: TimeAmount, on loop: any EventLoop, _ late: @escaping @Sendable () -> Void) {
        deadline = loop.now + time
        self.late = late
        guard !isScheduled else { return }
        schedule(in: time, on: loop)
    }

    /// Removes the deadline.
    func stop() {
        deadline = nil
        late = nil
    }

    private func schedule(in time: TimeAmount, on loop: any EventLoop) {
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: time) { bound.value.check(on: loop) }
    }

    private func check(on loop: any EventLoop) {
        isScheduled = false
        guard let deadline else { return }
        let now = loop.now
        guard deadline <= now else { return schedule(in: deadline - now, on: loop) }
        let late = late
        stop()
        late?()
    }
}
#endif

#if Gateway
import NIOCore
import NIOHTTP1

/// The deadline of a connection, which moves with each request.
///
/// One timer serves all later deadlines: it runs when the first may have passed, and again for the one that is set then.
final class ConnectionClock {
    private var deadline: NIODeadline?
    private var late: (@Sendable () -> Void)?
    private var timer: (runs: NIODeadline, task: Scheduled<Void>)?

    /// Sets the deadline; it replaces the one before.
    ///
    /// - Parameters:
    ///   - time: The time until the deadline.
    ///   - loop: The event loop, on which this is called.
    ///   - late: Called on the event loop if the deadline passes.
    func wait(_ time: TimeAmount, on loop: any EventLoop, _ late: @escaping @Sendable () -> Void) {
        let deadline = loop.now + time
        self.deadline = deadline
        self.late = late
        if let timer, timer.runs <= deadline { return }
        schedule(at: deadline, on: loop)
    }

    /// Removes the deadline.
    func stop() {
        deadline = nil
        late = nil
    }

    /// Removes the deadline and its timer, because the connection has ended.
    func end() {
        stop()
        timer?.task.cancel()
        timer = nil
    }

    private func schedule(at deadline: NIODeadline, on loop: any EventLoop) {
        timer?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = (deadline, loop.scheduleTask(deadline: deadline) { bound.value.check(on: loop) })
    }

    private func check(on loop: any EventLoop) {
        timer = nil
        guard let deadline else { return }
        guard deadline <= loop.now else { return schedule(at: deadline, on: loop) }
        let late = late
        stop()
        late?()
    }
}

extension NIOHTTPDecoderLimitConfiguration {
    /// The limits of heads, from clients and from the origins of web sockets.
    static var gateway: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 64 << 10
        limits.maxHeaderListSize = 256 << 10
        limits.maxHeaderFieldCount = 256
        return limits
    }
}
#endif

#if Gateway
import NIOCore

/// Passes the bytes of one channel to another, only as fast as the other one takes them.
///
/// Two of them make a tunnel; both channels are on the same event loop. When one side sends no more, the other side
/// learns this and may still send.
final class Relay: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let idle: TimeAmount
    /// The clock of the tunnel, which both ends set.
    private let clock: ConnectionClock
    private weak var other: Relay?
    private var context: ChannelHandlerContext?
    /// Whether a read waits until the other side takes bytes again.
    private var isReadDue = false
    /// Whether the handlers that speak HTTP have left the channel, so that bytes may be written to it.
    private var isOpen = false
    /// The bytes that the other side sent before the channel was open.
    private var early: [NIOAny] = []
    private var earlyEnd: CloseMode?
    private var isClosed = false

    private init(idle: TimeAmount, _ clock: ConnectionClock) {
        self.idle = idle
        self.clock = clock
    }

    /// Makes the two ends of a tunnel.
    ///
    /// - Parameter idle: The longest time in which no byte passes, in either direction; the tunnel is closed then.
    /// - Returns: The ends.
    static func pair(idle: TimeAmount) -> (Relay, Relay) {
        let clock = ConnectionClock()
        let (one, another) = (Relay(idle: idle, clock), Relay(idle: idle, clock))
        (one.other, another.other) = (another, one)
        return (one, another)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        other = nil
    }

    /// Begins to read, when both ends are in their places.
    func start() {
        isOpen = true
        // The decoder of the other side may have passed on bytes that it had read already.
        for data in early { context?.write(data, promise: nil) }
        early = []
        context?.flush()
        if let mode = earlyEnd.take() { end(mode) }
        context?.read()
        waitForBytes()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitForBytes()
        other?.write(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        other?.flush()
        context.fireChannelReadComplete()
        if isOpen { readOn() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { other?.goOn() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { other?.end(.output) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        if let other, !other.isClosed {
            other.end(.all)
            // The other side of the relay may not take what was written to it.
            other.waitForBytes()
        } else {
            clock.end()
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func write(_ data: NIOAny) {
        if isOpen { context?.write(data, promise: nil) } else { early.append(data) }
    }

    private func flush() {
        if isOpen { context?.flush() }
    }

    /// Closes the channel when what was written to it is sent.
    private func end(_ mode: CloseMode) {
        guard isOpen else {
            earlyEnd = mode
            return
        }
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { [channel = context.channel] _ in
            channel.close(mode: mode, promise: nil)
        }
    }

    private func waitForBytes() {
        guard let loop = context?.eventLoop else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        clock.wait(idle, on: loop) {
            let context = bound.value.context
            let other = bound.value.other?.context
            context?.close(promise: nil)
            other?.close(promise: nil)
        }
    }

    private func readOn() {
        guard let other = other?.context else { return }
        if other.channel.isWritable { context?.read() } else { isReadDue = true }
    }

    private func goOn() {
        guard isReadDue else { return }
        isReadDue = false
        context?.read()
    }
}
#endif

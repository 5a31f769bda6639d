#if Gateway
import NIOCore

/// Passes the bytes of one channel to another, only as fast as the other one takes them.
///
/// Two of them make a tunnel; both channels are on the same event loop. When one side sends no more, the other side is
/// told so and may still send.
final class Relay: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private weak var other: Relay?
    private var context: ChannelHandlerContext?
    /// Whether a read waits until the other side takes bytes again.
    private var isReadDue = false

    /// Makes the two ends of a tunnel.
    static func pair() -> (Relay, Relay) {
        let (one, another) = (Relay(), Relay())
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
        // The decoder before may have passed on bytes that it had read already.
        other?.context?.flush()
        context?.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { other?.context?.write(data, promise: nil) }

    func channelReadComplete(context: ChannelHandlerContext) {
        other?.context?.flush()
        context.fireChannelReadComplete()
        readOn()
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
        other?.end(.all)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Closes the channel when what was written to it is sent.
    private func end(_ mode: CloseMode) {
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { [channel = context.channel] _ in
            channel.close(mode: mode, promise: nil)
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

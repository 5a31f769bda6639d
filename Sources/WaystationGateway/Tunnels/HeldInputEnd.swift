#if Gateway
import NIOCore

/// Holds back the event that the other side sends no more.
///
/// A decoder that gets it drops the bytes that it has not decoded. A decoder that waits for its removal would so drop
/// the first bytes of another protocol.
final class HeldInputEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var isHolding = false
    private var isDue = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard isHolding, event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        isDue = true
    }

    /// Holds the event from now on.
    func hold() { isHolding = true }

    /// Passes on the event if it has come.
    func release() {
        isHolding = false
        guard isDue else { return }
        isDue = false
        context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
}
#endif

#if Gateway
import NIOCore

/// Closes a connection whose client takes no bytes of what is sent to it (``DeliveryProgress``).
///
/// It is the first handler of a connection, so that it counts the bytes as they are sent, whichever protocol they are of.
final class DeliveryWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    private let limit: TimeAmount
    private let waiting: (any Channel) -> Int
    private let clock = ConnectionClock()
    private var context: ChannelHandlerContext?
    private var written = 0
    /// The number of bytes that are known to have been taken.
    private var taken = 0
    /// Nil while no bytes wait.
    private var progress: DeliveryProgress?

    /// Makes the handler.
    ///
    /// - Parameters:
    ///   - limit: The longest time in which no byte is taken.
    ///   - waiting: Counts the bytes of a connection that were written and not taken.
    init(limit: TimeAmount, waiting: @escaping (any Channel) -> Int = SendQueue.length) {
        self.limit = limit
        self.waiting = waiting
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard progress == nil, written > taken else { return }
        progress = DeliveryProgress(limit: limit, taken: taken, now: context.eventLoop.now)
        lookLater(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        clock.end()
        context.fireChannelInactive()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        clock.end()
    }

    private func lookLater(_ channel: any Channel) {
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        // Several looks within the limit, so that a stuck connection ends soon after it.
        clock.wait(.nanoseconds(max(limit.nanoseconds / 4, 1)), on: channel.eventLoop) { bound.value.look(channel) }
    }

    private func look(_ channel: any Channel) {
        let now = channel.eventLoop.now
        switch progress?.look(written: written, waiting: waiting(channel), now: now) {
        case .idle, nil:
            taken = written
            progress = nil
        case .moving: lookLater(channel)
        // From here, so that no other handler waits for the client, such as TLS for its farewell.
        case .stuck: context?.close(promise: nil)
        }
    }
}
#endif

#if NIO
import NIOCore
import NIOPosix

/// Passes the bytes of one connection to another one on the same event loop, and ends with it.
final class ByteRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    private init(to other: any Channel) { self.other = other }

    /// Connects a channel to a port on loopback.
    static func begin(_ channel: any Channel, to port: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: channel.eventLoop).connect(host: "127.0.0.1", port: port).flatMapThrowing { behind in
            try channel.pipeline.syncOperations.addHandler(ByteRelay(to: behind))
            try behind.pipeline.syncOperations.addHandler(ByteRelay(to: channel))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    /// Nothing more is read from the other channel while this one cannot take it.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        other.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif

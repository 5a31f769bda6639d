#if NIO
import NIOCore
import NIOPosix
import Synchronization

/// An HTTP proxy on 127.0.0.1 that opens tunnels to ports of the same address, whatever the name of the host is.
final class TunnelProxy: Sendable {
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let port: Int
    private let log: Log

    init() async throws {
        let log = Log()
        let channel = try await ServerBootstrap(group: Self.group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Opening(log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.log = log
    }

    /// The heads of the requests so far.
    var requests: [String] { log.requests.withLock { $0 } }

    private final class Log: Sendable {
        let requests = Mutex<[String]>([])
    }

    /// Reads a CONNECT request, connects, and then passes all bytes on.
    private final class Opening: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let log: Log
        private var head = ""
        private var peer: (any Channel)?

        init(_ log: Log) { self.log = log }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            if let peer { return peer.writeAndFlush(bytes, promise: nil) }
            head += bytes.readString(length: bytes.readableBytes) ?? ""
            guard head.hasSuffix("\r\n\r\n") else { return }
            log.requests.withLock { $0.append(head) }
            let target = head.split(separator: " ").dropFirst().first ?? ""
            let port = target.split(separator: ":").last.flatMap { Int($0) } ?? 0
            let client = context.channel
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Back(to: client))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
                .whenComplete { result in
                    let (handler, context) = bound.value
                    handler.peer = try? result.get()
                    let answer = handler.peer == nil ? "HTTP/1.1 502 Bad Gateway\r\n\r\n" : "HTTP/1.1 200 OK\r\n\r\n"
                    context.writeAndFlush(handler.wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
    }

    private final class Back: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let client: any Channel

        init(to client: any Channel) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            client.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
    }
}
#endif

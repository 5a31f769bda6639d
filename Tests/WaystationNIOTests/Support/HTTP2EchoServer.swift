#if NIO
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// A server that speaks HTTP/2 only, by NIO's own handlers, and answers each request with its own body.
final class HTTP2EchoServer: Sendable {
    private let channel: any Channel
    private let connections: Counter

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// The TLS context must offer `h2`; without one, clients need prior knowledge.
    static func start(
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        tls: NIOSSLContext? = nil
    ) async throws -> HTTP2EchoServer {
        let connections = Counter()
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                connections.add()
                return channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                }.flatMap {
                    channel.configureHTTP2Pipeline(mode: .server) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(Handler())
                        }
                    }.map { _ in }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return HTTP2EchoServer(channel, connections)
    }

    private init(_ channel: any Channel, _ connections: Counter) {
        self.channel = channel
        self.connections = connections
    }

    var address: SocketAddress? { channel.localAddress }
    var port: Int { channel.localAddress?.port ?? 0 }

    /// The number of connections so far.
    var connectionCount: Int { connections.count }

    func stop() async throws { try await channel.close().get() }

    private final class Counter: Sendable {
        private let value = Atomic(0)

        var count: Int { value.load(ordering: .relaxed) }
        func add() { value.add(1, ordering: .relaxed) }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundOut = HTTP2Frame.FramePayload

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .headers(let request):
                var head: HPACKHeaders = [":status": "200"]
                head.add(name: "x-method", value: request.headers.first(name: ":method") ?? "")
                context.writeAndFlush(
                    wrapOutboundOut(.headers(.init(headers: head, endStream: request.endStream))),
                    promise: nil
                )
            case .data(let part): context.writeAndFlush(wrapOutboundOut(.data(part)), promise: nil)
            default: break
            }
        }
    }
}
#endif

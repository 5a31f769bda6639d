#if NIO
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// A server that offers HTTP/2 in the TLS handshake, and resets each stream with HTTP_1_1_REQUIRED (RFC 9113 §7), or
/// gives another reason for HTTP/1.1.
///
/// Over HTTP/1.1 it answers each request with the request's method and body.
final class HTTP1RequiringServer: Sendable {
    /// The form in which the server refuses a request over HTTP/2.
    enum Refusal: Sendable {
        case resetStream
        /// GOAWAY with the same code, which says that no request was processed.
        case goAway
        /// GOAWAY with the same code, which leaves open whether the request was processed; then the connection ends.
        case lateGoAway
        /// A response with a value in which the codec has replaced bytes, instead of a refusal.
        case replacedBytes
    }

    struct Counts: Equatable {
        var http2Connections = 0
        var http2Requests = 0
        var http1Requests = 0
    }

    private let channel: any Channel
    private let box: Box

    private final class Box: Sendable {
        let value = Mutex(Counts())
    }

    static func start(tls: NIOSSLContext, _ refusal: Refusal) async throws -> HTTP1RequiringServer {
        let box = Box()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                }.flatMap {
                    channel.configureHTTP2SecureUpgrade(
                        h2ChannelConfigurator: { channel in
                            box.value.withLock { $0.http2Connections += 1 }
                            return channel.configureHTTP2Pipeline(mode: .server) { stream in
                                stream.eventLoop.makeCompletedFuture {
                                    try stream.pipeline.syncOperations.addHandler(Refuser(box, refusal, channel))
                                }
                            }.map { _ in }
                        },
                        http1ChannelConfigurator: { channel in
                            channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                                try channel.pipeline.syncOperations.addHandler(Echo(box))
                            }
                        }
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return HTTP1RequiringServer(channel, box)
    }

    private init(_ channel: any Channel, _ box: Box) {
        self.channel = channel
        self.box = box
    }

    var url: String { "https://localhost:\(channel.localAddress?.port ?? 0)/" }
    var counts: Counts { box.value.withLock { $0 } }

    func stop() async throws { try await channel.close().get() }

    private final class Refuser: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundOut = HTTP2Frame.FramePayload

        private let box: Box
        private let refusal: Refusal
        private let connection: any Channel

        init(_ box: Box, _ refusal: Refusal, _ connection: any Channel) {
            self.box = box
            self.refusal = refusal
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .headers = unwrapInboundIn(data) else { return }
            box.value.withLock { $0.http2Requests += 1 }
            switch refusal {
            case .resetStream: context.writeAndFlush(wrapOutboundOut(.rstStream(.http11Required)), promise: nil)
            case .replacedBytes:
                let head = HPACKHeaders([(":status", "200"), ("etag", "\"caf\u{FFFD}\"")])
                let frame = HTTP2Frame.FramePayload.Headers(headers: head, endStream: true)
                context.writeAndFlush(wrapOutboundOut(.headers(frame)), promise: nil)
            case .goAway: _ = goAway(last: .rootStream)
            case .lateGoAway:
                // The first request of a connection.
                goAway(last: 1).whenComplete { [connection] _ in connection.close(promise: nil) }
            }
        }

        private func goAway(last: HTTP2StreamID) -> EventLoopFuture<Void> {
            let payload = HTTP2Frame.FramePayload.goAway(
                lastStreamID: last,
                errorCode: .http11Required,
                opaqueData: nil
            )
            return connection.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload))
        }
    }

    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let box: Box
        private var body = ByteBuffer()

        init(_ box: Box) { self.box = box }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                box.value.withLock { $0.http1Requests += 1 }
                body = ByteBuffer(string: "\(head.method.rawValue) ")
            case .body(var part): body.writeBuffer(&part)
            case .end:
                var head = HTTPResponseHead(version: .http1_1, status: .ok)
                head.headers.add(name: "Content-Length", value: "\(body.readableBytes)")
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
#endif

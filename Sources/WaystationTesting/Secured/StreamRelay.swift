#if NIO
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix

/// Sends the request of a stream of HTTP/2 as one of HTTP/1.1, on a connection of its own.
final class StreamRelay: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let behind: any Channel

    private init(_ behind: any Channel) { self.behind = behind }

    /// Connects a stream to a port on loopback.
    static func begin(_ stream: any Channel, to port: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: stream.eventLoop)
            .channelInitializer { $0.pipeline.addHTTPClientHandlers() }
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { behind in
                try stream.pipeline.syncOperations.addHandlers([
                    HTTP2FramePayloadToHTTP1ServerCodec(), StreamRelay(behind),
                ])
                try behind.pipeline.syncOperations.addHandler(ResponseRelay(to: stream))
            }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            head.version = .http1_1
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            behind.write(HTTPClientRequestPart.head(head), promise: nil)
        case .body(let part): behind.write(HTTPClientRequestPart.body(.byteBuffer(part)), promise: nil)
        case .end(let trailers): behind.write(HTTPClientRequestPart.end(trailers), promise: nil)
        }
        behind.flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        behind.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Passes the response back to the stream; a response that breaks off resets the stream.
private final class ResponseRelay: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let stream: any Channel
    private var isWhole = false

    init(to stream: any Channel) { self.stream = stream }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            guard head.status.code >= 200 else { return }
            // RFC 9113, section 8.2.2: fields of a connection do not belong to a stream.
            for name in ["Connection", "Keep-Alive", "Transfer-Encoding"] { head.headers.remove(name: name) }
            stream.writeAndFlush(HTTPServerResponsePart.head(head), promise: nil)
        case .body(let part): stream.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(part)), promise: nil)
        case .end(let trailers):
            isWhole = true
            stream.writeAndFlush(HTTPServerResponsePart.end(trailers), promise: nil)
        }
    }

    /// Nothing more is read of the request while its connection cannot take it.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        stream.setOption(.autoRead, value: isWritable).whenFailure { _ in }
        // A stream of HTTP/2 does not begin to read again by the option alone.
        if isWritable { stream.read() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isWhole { stream.close(promise: nil) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif

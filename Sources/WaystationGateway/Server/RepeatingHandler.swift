#if Gateway
import NIOCore
import NIOHTTP1

/// Answers requests whose bytes have arrived before, without parsing them.
///
/// Equal bytes at the beginning of a request are the same request, which passed all checks when it was parsed. The
/// stations of its load are asked each time. The handler is in front of the parser, and passes on what it does not
/// answer. So that it never takes bytes within a request for a request, it answers only when the connection waits for
/// one, and when everything that the parser has got so far were requests without a body, each of which ended with its
/// read from the socket.
final class RepeatingHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The connection, which holds this handler.
    weak var connection: ConnectionHandler?

    private let serving: GatewayServing
    /// Whether the parser waits for the first byte of a request.
    private var isBetween = true
    /// The bytes that the parser has just got, if they have the form of one request without a body.
    private var arrived: ByteBuffer?
    /// Whether all bytes of the present read were answered here.
    private var hasAnswered = false

    init(_ serving: GatewayServing) { self.serving = serving }

    /// The parser has passed on the head of a request without a body.
    ///
    /// - Parameter head: The head.
    /// - Returns: The bytes of the request, if the same bytes may be answered without the parser; otherwise nil.
    func hasRead(_ head: HTTPRequestHead) -> ByteBuffer? {
        defer { arrived = nil }
        guard let arrived, head.version == .http1_1, head.staysOpen else { return nil }
        isBetween = true
        return arrived
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if isBetween, let connection, connection.isIdle, context.channel.isWritable,
            let response = serving.repeatedResponse(to: bytes)
        {
            hasAnswered = true
            connection.didAnswer(context.channel)
            return context.writeAndFlush(NIOAny(IOData.byteBuffer(response)), promise: nil)
        }
        arrived = isBetween && connection?.isIdle == true && bytes.isWholeRequestHead ? bytes : nil
        isBetween = false
        hasAnswered = false
        context.fireChannelRead(data)
        arrived = nil
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard hasAnswered else { return context.fireChannelReadComplete() }
        hasAnswered = false
        context.read()
    }
}

extension ByteBuffer {
    /// Whether the bytes are the lines of one head, and nothing else.
    ///
    /// The only empty line is the last one, and no control character stands within a line: so no parser of HTTP finds the
    /// end of the head elsewhere.
    fileprivate var isWholeRequestHead: Bool {
        withUnsafeReadableBytes { bytes in
            guard bytes.count > 4, bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return false }
            var lineLength = 0
            var position = 0
            while position < bytes.count {
                switch bytes[position] {
                case 0x0d:
                    guard position + 1 < bytes.count, bytes[position + 1] == 0x0a else { return false }
                    position += 2
                    if lineLength == 0 { return position == bytes.count && position > 4 }
                    lineLength = 0
                case 0x09, 0x20...0x7e, 0x80...:
                    lineLength += 1
                    position += 1
                default: return false
                }
            }
            return false
        }
    }
}
#endif

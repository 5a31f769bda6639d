#if NIO
import NIOCore

/// Counts the bytes that a server sends without getting anywhere, in front of the parser.
///
/// The parser itself bounds fields, but not status lines and chunk extensions.
final class ResponseMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private static let lineEnds = ByteBuffer(string: "\r\n\r\n")

    private let limit: Int
    /// The bytes since the parser has last produced a part.
    private var pending = 0
    /// Whether a byte has arrived since the last request was sent.
    private(set) var hasBytes = false
    /// Whether an answer is expected.
    var isExpecting = false {
        didSet {
            hasBytes = false
            pending = 0
        }
    }

    init(limit: Int) { self.limit = limit }

    /// The parser has produced a part.
    func madeProgress() { pending = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        guard isExpecting else {
            // Bytes that no request asked for: whatever they are, the connection cannot be trusted any more.
            return context.close(promise: nil)
        }
        hasBytes = true
        pending &+= count
        context.fireChannelRead(data)
        guard isExpecting else {
            // The response is complete. If the same read contains the beginning of another head, the parser would wait for
            // its rest, and take the next response for it. These line ends complete such a head, or make it malformed, and
            // the connection fails; between two responses the parser skips them.
            if context.channel.isActive { context.fireChannelRead(wrapInboundOut(Self.lineEnds)) }
            return
        }
        guard pending > limit else { return }
        pending = 0
        context.fireErrorCaught(
            ExchangeFailure(
                .limitExceeded,
                "The server sent more than \(limit) bytes in a head or between the parts of a body. "
                    + "Raise headBytes if the server must send so many."
            )
        )
    }
}
#endif

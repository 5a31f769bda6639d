#if NIO
import NIOCore

/// The number of a stream: odd, because the client opened it (RFC 9113 §5.1.1).
typealias StreamID = Int32

/// One exchange on an HTTP/2 connection.
struct HTTP2Stream<Exchange> {
    let exchange: Exchange
    let isHeadRequest: Bool
    /// Whether the request has been sent; before, it waits for the channel or for another stream to end.
    var isOpen = false

    // MARK: The request

    /// Whether the request is complete.
    var hasSentAll: Bool
    /// The bytes that the server accepts now; negative after it reduced its initial window (RFC 9113 §6.9.2).
    var sendWindow = 0
    /// The number of responses that had begun on the connection when the request was sent.
    var answersBefore = 0
    /// A part of the body that is waiting for window.
    var unsent = ByteBuffer()
    var unsentIsLast = false
    /// Whether the exchange was asked for a part and has not given it.
    var isAsked = false

    /// Whether bytes, or an empty last part, are waiting.
    var hasUnsent: Bool { unsent.readableBytes > 0 || unsentIsLast }

    // MARK: The response

    var interims = 0
    var hasHead = false
    /// The bytes that are missing according to Content-Length.
    var missing: Int64?
    /// Whether the exchange cannot take more for now, so that no window is granted.
    var isHeld = false
    /// The bytes that the server may send now.
    var receiveWindow: Int?

    init(_ exchange: Exchange, _ head: EngineRequestHead) {
        self.exchange = exchange
        isHeadRequest = head.method == "HEAD"
        switch head.framing {
        case .none, .length(0): hasSentAll = true
        case .length, .unknownLength: hasSentAll = false
        }
    }
}

/// The deliveries that a frame leads to: the head or the part first, then the end.
struct StreamNews<Exchange> {
    /// The end of an exchange.
    struct End: Equatable {
        /// Nil if the response is complete.
        var failure: ExchangeFailure?
        /// The code with which the stream is reset, because the server may still send or still expects the body.
        var reset: ResetCode?
    }

    /// The codes with which the client resets streams (RFC 9113 §7).
    enum ResetCode: Equatable {
        /// The rest of the exchange is not needed.
        case cancel
        /// The server broke the rules.
        case protocolError
        /// The server granted more window than there can be.
        case flowControlError
    }

    var exchange: Exchange
    var head: EngineResponseHead?
    var deliversPart = false
    var end: End?
}
#endif

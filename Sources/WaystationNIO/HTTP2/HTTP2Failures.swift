#if NIO
import NIOCore
import NIOHTTP2

extension ExchangeFailure {
    static func malformed(_ reason: String) -> ExchangeFailure {
        ExchangeFailure(kind: .invalidResponse, explanation: "\(reason) Ask the server's operator to correct it.")
    }

    static func reset(_ code: HTTP2ErrorCode) -> ExchangeFailure {
        var failure = ExchangeFailure(
            kind: .connectionLost,
            explanation: "The server reset the stream of the response (\(code.text)). Try again."
        )
        // RFC 9113 §8.7: the request was not processed.
        if code == .refusedStream { failure.unprocessed = .nothingAnswered }
        failure.requiresHTTP1 = code == .http11Required
        return failure
    }

    /// A request that the server certainly did not process.
    static func unprocessed(_ meanwhile: Unprocessed, _ explanation: String) -> ExchangeFailure {
        ExchangeFailure(kind: .connectionLost, explanation: explanation, unprocessed: meanwhile)
    }

    static let closed = ExchangeFailure(
        kind: .connectionLost,
        explanation: "The server closed the HTTP/2 connection before the response was complete. Try again.",
        isUnanswered: true
    )

    static let silent = ExchangeFailure(
        kind: .connectionLost,
        explanation: "The server did not answer a PING, so the HTTP/2 connection counts as lost. Try again."
    )

    /// The failure that an error of the channel or its codec means for all exchanges of a connection.
    init(connectionError error: any Error) {
        switch error {
        case let flood as HTTP2Flood:
            self.init(
                kind: .limitExceeded,
                explanation: """
                    The server sent too many HTTP/2 frames without content, the last of them \(flood.kind). \
                    Ask the server's operator to correct it.
                    """
            )
        case is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock, is NIOHTTP2Errors.ExcessiveContinuationFrames,
            is NIOHTTP2Errors.ExcessiveRSTFrames, is NIOHTTP2Errors.ExcessiveControlFrames,
            is NIOHTTP2Errors.ExcessiveStreamErrors, is NIOHTTP2Errors.ExcessiveNumberOfGlitches,
            is NIOHTTP2Errors.ExcessiveEmptyDataFrames, is NIOHTTP2Errors.ExcessiveOutboundFrameBuffering:
            self.init(
                kind: .limitExceeded,
                explanation:
                    "The server exceeded a limit of HTTP/2 (\(error)). Ask the server's operator to correct it."
            )
        case is any NIOHTTP2Error: self = .malformed("The server broke the rules of HTTP/2 (\(error)).")
        default:
            self.init(
                kind: .connectionLost,
                explanation: "The HTTP/2 connection was lost (\(error.inWords)). Try again.",
                isUnanswered: error is IOError || error is ChannelError
            )
        }
    }
}

extension HTTP2ErrorCode {
    /// The name in RFC 9113 §7, or the number.
    var text: String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        let number = Int(http2ErrorCode: self)
        return names.indices.contains(number) ? names[number] : "error \(number)"
    }
}
#endif

#if NIO
import NIOCore
import NIOHTTP2

/// The limits of one HTTP/2 connection (RFC 9113): each bounds the memory or the work that a server can cost.
struct HTTP2Limits: Equatable, Sendable {
    /// The largest table of a server for the fields of requests that is used (RFC 9113 §6.5.2).
    static let fieldTable = 64 << 10

    /// The number of exchanges on a connection at the same time.
    ///
    /// Default: 100, as in libcurl; the server's SETTINGS_MAX_CONCURRENT_STREAMS applies as well.
    var streams = 100
    /// The bytes of one response that may wait until its exchange takes them.
    ///
    /// Default: 1 MiB.
    var streamWindow = 1 << 20
    /// The bytes of all responses that may be on their way.
    ///
    /// Default: 16 MiB.
    var connectionWindow = 16 << 20
    /// The bytes of the fields of one head, with 32 bytes for each field (RFC 9113 §6.5.2).
    ///
    /// Default: 256 KiB.
    var headBytes = 256 << 10
    /// The number of fields in one head.
    ///
    /// Default: 1,000.
    var fields = 1000
    /// The number of CONTINUATION frames of one head.
    ///
    /// Default: 32, which suffices for 256 KiB in frames of 16 KiB.
    var continuationFrames = 32
    /// The number of interim responses (1xx) before the final one.
    ///
    /// Default: 32.
    var interimResponses = 32
    /// The time without a frame after which a connection with exchanges is probed by a PING.
    ///
    /// Default: 15 seconds.
    var pingAfter = TimeAmount.seconds(15)
    /// The longest such time, after several PINGs that were answered while nothing else arrived.
    ///
    /// Default: 5 minutes.
    var longestPingAfter = TimeAmount.minutes(5)
    /// The time in which a probed connection must show a sign of life.
    ///
    /// Default: 10 seconds.
    var pingTimeout = TimeAmount.seconds(10)
    /// The number of frames without content that a server may send in `floodInterval`.
    ///
    /// Default: 2,000; one more is accepted for every four bytes that were sent, because uploads and requests are
    /// answered by such frames.
    var framesWithoutContent = 2000
    /// The interval in which frames without content are counted.
    ///
    /// Default: 10 seconds.
    var floodInterval = TimeAmount.seconds(10)
}

/// Counts the frames of a server that carry nothing for an exchange, so that floods of them are noticed.
///
/// It reads the headers of frames only (RFC 9113 §4.1), before they are parsed, and therefore counts unknown frames,
/// CONTINUATION frames and frames on streams that are closed as well. DATA with content or END_STREAM is never counted:
/// flow control bounds it.
struct FloodDetector {
    /// The kinds of frames, for error texts.
    private static let names = [
        "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
        "CONTINUATION",
    ]
    private static let headerSize = 9

    private let limits: HTTP2Limits
    /// The header of the current frame as far as it has arrived; empty between two frames.
    private var header: [UInt8] = []
    /// The bytes of the current frame's payload that have not arrived.
    private var payload = 0
    /// The bytes of the current frame's payload that have arrived.
    private var begunPayload = 0
    private var count = 0
    private var sent = 0
    private var intervalEnd: NIODeadline?

    init(limits: HTTP2Limits) {
        self.limits = limits
        header.reserveCapacity(Self.headerSize)
    }

    /// The bytes of the current frame that have arrived; 0 if the last byte was the end of a frame.
    var begun: Int { header.count + begunPayload }

    /// Records that bytes were sent.
    mutating func send(_ bytes: Int) { sent = sent.addingReportingOverflow(bytes).partialValue & .max }

    /// Records that bytes arrived.
    ///
    /// - Returns: The kind of the frame that exceeded the limit, or nil if all is well.
    mutating func receive(_ bytes: ByteBuffer, now: NIODeadline) -> String? {
        startInterval(now)
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if header.count < Self.headerSize {
                guard let byte = bytes.readInteger(as: UInt8.self) else { break }
                header.append(byte)
                guard header.count == Self.headerSize else { continue }
                payload = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
                if !hasContent { count += 1 }
                if count > allowed { return name(header[3]) }
            }
            let skipped = min(payload, bytes.readableBytes)
            bytes.moveReaderIndex(forwardBy: skipped)
            payload -= skipped
            begunPayload += skipped
            if payload == 0 {
                header.removeAll(keepingCapacity: true)
                begunPayload = 0
            }
        }
        return nil
    }

    /// The number of frames without content that are accepted in this interval.
    private var allowed: Int { limits.framesWithoutContent.addingReportingOverflow(sent / 4).partialValue }

    private var hasContent: Bool { header[3] == 0 && (payload > 0 || header[4] & 0x1 != 0) }

    private mutating func startInterval(_ now: NIODeadline) {
        if let intervalEnd, now < intervalEnd { return }
        intervalEnd = now + limits.floodInterval
        count = 0
        sent = 0
    }

    private func name(_ type: UInt8) -> String {
        Self.names.indices.contains(Int(type)) ? Self.names[Int(type)] : "type \(type)"
    }
}

/// Stands before the codec, stops floods of frames, and passes whole frames apart from the beginning of the next one.
///
/// The codec keeps every byte that it has read until its buffer is empty at the end of a frame. Without the separation, a
/// server whose frames never end where a read ends would make that buffer grow by all that it sends.
final class FloodGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var detector: FloodDetector
    private var hasFailed = false

    init(limits: HTTP2Limits) { detector = FloodDetector(limits: limits) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The connection is being closed, so the bytes after a flood are dropped.
        guard !hasFailed else { return }
        var bytes = unwrapInboundIn(data)
        if let kind = detector.receive(bytes, now: context.eventLoop.now) {
            hasFailed = true
            return context.fireErrorCaught(HTTP2Flood(kind: kind))
        }
        let whole = bytes.readableBytes - detector.begun
        if detector.begun > 0, whole > 0, let frames = bytes.readSlice(length: whole) {
            context.fireChannelRead(wrapInboundOut(frames))
        }
        context.fireChannelRead(wrapInboundOut(bytes))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        detector.send(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }
}

/// A server sent too many frames without content.
struct HTTP2Flood: Error, Equatable {
    /// The kind of the frame that exceeded the limit, such as `PING`.
    var kind: String
}

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

#if NIO
import Testing

/// Frames of a server, and what the engine must do about them.
///
/// The cases are those of h2spec 2.6 that a server can send to a client, in its order and with its numbers; its cases
/// about requests have no counterpart here. Streams 1 and 3 are open and have no response yet.
struct ServerFrameCase: CustomTestStringConvertible {
    enum Outcome {
        /// The connection ends with GOAWAY and this code (RFC 9113 §5.4.1).
        case connectionError(ErrorCode)
        /// Stream 1 is reset with this code, and the connection stays (RFC 9113 §5.4.2).
        case streamError(ErrorCode)
        /// Nothing ends: stream 1 still gets its response.
        case ignored
        /// Stream 1 has got its response, with this body.
        case response([UInt8])
    }

    /// The codes of RFC 9113 §7 that the cases need.
    enum ErrorCode: UInt32 {
        case protocolError = 1
        case flowControlError = 3
        case streamClosed = 5
        case frameSizeError = 6
        case compressionError = 9
    }

    /// The number in h2spec.
    let number: String
    let title: String
    let frames: [[UInt8]]
    /// Whether the request on stream 1 is not complete yet.
    let isUploading: Bool
    let outcome: Outcome

    init(
        _ number: String,
        _ title: String,
        _ frames: [UInt8]...,
        whileUploading isUploading: Bool = false,
        outcome: Outcome
    ) {
        self.number = number
        self.title = title
        self.frames = frames
        self.isUploading = isUploading
        self.outcome = outcome
    }

    var testDescription: String { "\(number): \(title)" }
}

extension ServerFrameCase {
    private static let ok = RawFrames.block(ScriptedServer.ok)
    private static let head = RawFrames.headers(1, ScriptedServer.ok)
    private static let response = RawFrames.headers(1, ScriptedServer.ok, isLast: true)
    /// A head whose block a CONTINUATION must end.
    private static let openHead = RawFrames.frame(1, on: 1, ok)

    private static func continuation(_ block: [UInt8] = [], on id: UInt32 = 1, isLast: Bool = true) -> [UInt8] {
        RawFrames.frame(9, flags: isLast ? 0x4 : 0, on: id, block)
    }

    /// A response whose head is this block.
    private static func response(_ block: [UInt8]) -> [UInt8] { RawFrames.frame(1, flags: 0x5, on: 1, block) }

    static let all = framing + streamStates + frameRules + settings + windows + continuations + messages + compression

    /// generic/3 and http2/4: frames that are allowed, and frames of any kind that are not.
    private static let framing: [ServerFrameCase] = [
        .init(
            "generic/3.1.3",
            "DATA with padding",
            head,
            RawFrames.data(1, [7], isLast: true, padding: 255),
            outcome: .response([7])
        ),
        .init(
            "generic/3.2.2",
            "HEADERS with padding",
            RawFrames.frame(1, flags: 0xD, on: 1, [3] + ok + [0, 0, 0]),
            outcome: .response([])
        ),
        .init(
            "generic/3.2.3",
            "HEADERS with a priority",
            RawFrames.frame(1, flags: 0x25, on: 1, RawFrames.number(3) + [15] + ok),
            outcome: .response([])
        ),
        .init(
            "http2/4.1.1",
            "a frame of an unknown type",
            RawFrames.frame(22, on: 1, [1, 2, 3]),
            outcome: .ignored
        ),
        .init(
            "http2/4.1.2",
            "flags without a meaning",
            RawFrames.frame(6, flags: 0xFE, [UInt8](repeating: 0, count: 8)),
            outcome: .ignored
        ),
        .init(
            "http2/4.1.3",
            "the reserved bit of a stream's number",
            RawFrames.frame(1, flags: 0x5, on: 0x8000_0001, ok),
            outcome: .response([])
        ),
        .init(
            "http2/4.2.1",
            "DATA of 16,384 bytes",
            head,
            RawFrames.data(1, [UInt8](repeating: 7, count: 16_384), isLast: true),
            outcome: .response([UInt8](repeating: 7, count: 16_384))
        ),
        .init(
            "http2/4.2.2",
            "DATA of 16,385 bytes",
            head,
            RawFrames.data(1, [UInt8](repeating: 7, count: 16_385), isLast: true),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/4.2.3",
            "HEADERS of 16,385 bytes",
            RawFrames.frame(1, flags: 0x4, on: 1, [UInt8](repeating: 0, count: 16_385)),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/4.3.2",
            "PRIORITY within a head",
            openHead,
            RawFrames.frame(2, on: 1, [0, 0, 0, 0, 9]),
            continuation(),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/4.3.3",
            "HEADERS of another stream within a head",
            openHead,
            RawFrames.headers(3, ScriptedServer.ok),
            continuation(),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.5.2",
            "a frame of an unknown type within a head",
            openHead,
            RawFrames.frame(22, on: 1, [1]),
            continuation(),
            outcome: .connectionError(.protocolError)
        ),
    ]

    /// http2/5: the states of streams.
    private static let streamStates: [ServerFrameCase] = [
        .init(
            "http2/5.1.1",
            "DATA on an idle stream",
            RawFrames.data(5, [1]),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.1.2",
            "RST_STREAM on an idle stream",
            RawFrames.reset(5, 8),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.1.3",
            "WINDOW_UPDATE on an idle stream",
            RawFrames.windowUpdate(5, 1),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.1.4",
            "CONTINUATION on an idle stream",
            continuation(ok, on: 5),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.1.5",
            "DATA after a response that made the rest of the request useless",
            response,
            RawFrames.data(1, [1]),
            whileUploading: true,
            outcome: .response([])
        ),
        .init(
            "http2/5.1.8",
            "DATA after RST_STREAM",
            RawFrames.reset(3, 8),
            RawFrames.data(3, [1]),
            outcome: .connectionError(.streamClosed)
        ),
        .init(
            "http2/5.1.9",
            "HEADERS after RST_STREAM",
            RawFrames.reset(3, 8),
            RawFrames.headers(3, ScriptedServer.ok),
            outcome: .connectionError(.streamClosed)
        ),
        .init(
            "http2/5.1.11",
            "DATA after the end of a stream",
            RawFrames.headers(3, ScriptedServer.ok, isLast: true),
            RawFrames.data(3, [1]),
            outcome: .connectionError(.streamClosed)
        ),
        .init(
            "http2/5.1.12",
            "HEADERS after the end of a stream",
            RawFrames.headers(3, ScriptedServer.ok, isLast: true),
            RawFrames.headers(3, ScriptedServer.ok),
            outcome: .connectionError(.streamClosed)
        ),
        .init(
            "http2/5.1.13",
            "CONTINUATION after the end of a stream",
            RawFrames.headers(3, ScriptedServer.ok, isLast: true),
            continuation(ok, on: 3),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "generic/2.5",
            "PRIORITY on a stream that has ended",
            RawFrames.headers(3, ScriptedServer.ok, isLast: true),
            RawFrames.frame(2, on: 3, [0, 0, 0, 0, 9]),
            outcome: .ignored
        ),
        .init(
            "generic/2.2",
            "WINDOW_UPDATE on a stream that has ended",
            RawFrames.headers(3, ScriptedServer.ok, isLast: true),
            RawFrames.windowUpdate(3, 1),
            outcome: .ignored
        ),
        .init(
            "generic/2.4",
            "RST_STREAM on a stream that has ended",
            RawFrames.headers(3, ScriptedServer.ok, isLast: true),
            RawFrames.reset(3, 8),
            outcome: .ignored
        ),
        .init(
            "http2/5.1.1.1",
            "HEADERS with an even number",
            RawFrames.headers(2, ScriptedServer.ok),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.1.1.2",
            "HEADERS of a stream that the client did not open",
            RawFrames.headers(5, ScriptedServer.ok),
            outcome: .connectionError(.protocolError)
        ),
    ]

    /// http2/6.1 to 6.4, 6.7 and 6.8: the rules of single frames.
    private static let frameRules: [ServerFrameCase] = [
        .init("http2/6.1.1", "DATA on stream 0", RawFrames.data(0, [1]), outcome: .connectionError(.protocolError)),
        .init(
            "http2/6.1.3",
            "DATA with more padding than payload",
            head,
            RawFrames.frame(0, flags: 0x8, on: 1, [5, 0, 0]),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.2.3",
            "HEADERS on stream 0",
            RawFrames.headers(0, ScriptedServer.ok),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.2.4",
            "HEADERS with more padding than payload",
            RawFrames.frame(1, flags: 0xC, on: 1, [200] + ok),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.3.1",
            "PRIORITY on stream 0",
            RawFrames.frame(2, [0, 0, 0, 0, 9]),
            outcome: .connectionError(.protocolError)
        ),
        // RFC 9113 §6.3 has an error of the stream; §5.4.1 allows to end the connection instead, as the codec does.
        .init(
            "http2/6.3.2",
            "PRIORITY of 4 bytes",
            RawFrames.frame(2, on: 1, [0, 0, 0, 0]),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/6.4.1",
            "RST_STREAM on stream 0",
            RawFrames.reset(0, 8),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.4.3",
            "RST_STREAM of 3 bytes",
            RawFrames.frame(3, on: 1, [0, 0, 0]),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/6.7.2",
            "an acknowledged PING that was not sent",
            RawFrames.ping(isAcknowledgement: true),
            outcome: .ignored
        ),
        .init(
            "http2/6.7.3",
            "PING on a stream",
            RawFrames.frame(6, on: 1, [UInt8](repeating: 0, count: 8)),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.7.4",
            "PING of 7 bytes",
            RawFrames.frame(6, [UInt8](repeating: 0, count: 7)),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/6.8.1",
            "GOAWAY on a stream",
            RawFrames.frame(7, on: 1, RawFrames.number(1) + RawFrames.number(0)),
            outcome: .connectionError(.protocolError)
        ),
    ]

    /// http2/6.5: SETTINGS.
    private static let settings: [ServerFrameCase] = [
        .init(
            "http2/6.5.1",
            "acknowledged SETTINGS with a payload",
            RawFrames.frame(4, flags: 0x1, [0, 3, 0, 0, 0, 1]),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/6.5.2",
            "SETTINGS on a stream",
            RawFrames.frame(4, on: 1),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.5.3",
            "SETTINGS of 5 bytes",
            RawFrames.frame(4, [0, 3, 0, 0, 0]),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/6.5.2.1",
            "ENABLE_PUSH of 2",
            RawFrames.settings([(2, 2)]),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "RFC 9113 §6.5.2",
            "ENABLE_PUSH of 1, which only a client may send",
            RawFrames.settings([(2, 1)]),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.5.2.2",
            "INITIAL_WINDOW_SIZE of 2³¹",
            RawFrames.settings([(4, 1 << 31)]),
            outcome: .connectionError(.flowControlError)
        ),
        .init(
            "http2/6.5.2.3",
            "MAX_FRAME_SIZE of 16,383",
            RawFrames.settings([(5, 16_383)]),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.5.2.4",
            "MAX_FRAME_SIZE of 2²⁴",
            RawFrames.settings([(5, 1 << 24)]),
            outcome: .connectionError(.protocolError)
        ),
        .init("http2/6.5.2.5", "a setting that is unknown", RawFrames.settings([(0xFF, 1)]), outcome: .ignored),
    ]

    /// http2/6.9: WINDOW_UPDATE.
    ///
    /// The codec ignores the windows of streams whose request is complete, since nothing more is sent on them.
    private static let windows: [ServerFrameCase] = [
        .init(
            "http2/6.9.1",
            "an increment of 0 for the connection",
            RawFrames.windowUpdate(0, 0),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.9.2",
            "an increment of 0 for a stream",
            RawFrames.windowUpdate(1, 0),
            whileUploading: true,
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/6.9.3",
            "WINDOW_UPDATE of 3 bytes",
            RawFrames.frame(8, [0, 0, 1]),
            outcome: .connectionError(.frameSizeError)
        ),
        .init(
            "http2/6.9.1.2",
            "a connection's window above 2³¹ − 1",
            RawFrames.windowUpdate(0, 0x7FFF_FFFF),
            RawFrames.windowUpdate(0, 0x7FFF_FFFF),
            outcome: .connectionError(.flowControlError)
        ),
        .init(
            "http2/6.9.1.3",
            "a stream's window above 2³¹ − 1",
            RawFrames.windowUpdate(1, 0x7FFF_FFFF),
            RawFrames.windowUpdate(1, 0x7FFF_FFFF),
            whileUploading: true,
            outcome: .streamError(.flowControlError)
        ),
        .init(
            "RFC 9113 §6.9.2",
            "an INITIAL_WINDOW_SIZE that makes a stream's window larger than 2³¹ − 1",
            RawFrames.windowUpdate(1, 0x7000_0000),
            RawFrames.settings([(4, 0x7000_0000)]),
            whileUploading: true,
            outcome: .connectionError(.flowControlError)
        ),
    ]

    /// http2/6.10: CONTINUATION.
    private static let continuations: [ServerFrameCase] = [
        .init(
            "http2/6.10.1",
            "a head in three frames",
            RawFrames.frame(1, flags: 0x1, on: 1, ok),
            continuation(RawFrames.block([("a", "1")]), isLast: false),
            continuation(RawFrames.block([("b", "2")])),
            outcome: .response([])
        ),
        .init(
            "http2/6.10.2",
            "DATA within a head",
            openHead,
            continuation(isLast: false),
            RawFrames.data(1, [1]),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.10.3",
            "CONTINUATION on stream 0",
            openHead,
            continuation(on: 0),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.10.4",
            "CONTINUATION after a whole head",
            head,
            continuation(),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.10.5",
            "CONTINUATION after the last one",
            openHead,
            continuation(),
            continuation(),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/6.10.6",
            "CONTINUATION after DATA",
            head,
            RawFrames.data(1, [1]),
            continuation(),
            outcome: .connectionError(.protocolError)
        ),
    ]

    /// http2/7 and 8: codes and messages.
    private static let messages: [ServerFrameCase] = [
        .init("http2/7.2", "RST_STREAM with an unknown code", RawFrames.reset(3, 0xFF), outcome: .ignored),
        .init(
            "http2/8.1.1",
            "a second head that does not end the stream",
            head,
            RawFrames.data(1, [1]),
            RawFrames.headers(1, [("x", "y")]),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.1",
            "a name in upper case",
            RawFrames.headers(1, ScriptedServer.ok + [("X", "y")]),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.1.1",
            "a pseudo-field that is unknown",
            RawFrames.headers(1, ScriptedServer.ok + [(":x", "y")]),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.1.2",
            "a pseudo-field of requests",
            RawFrames.headers(1, ScriptedServer.ok + [(":path", "/")]),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.1.3",
            "a pseudo-field in trailers",
            head,
            RawFrames.headers(1, ScriptedServer.ok, isLast: true),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.1.4",
            "a pseudo-field after others",
            RawFrames.headers(1, [("x", "y")] + ScriptedServer.ok),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.2.1",
            "a field of the connection",
            RawFrames.headers(1, ScriptedServer.ok + [("connection", "close")]),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.6.1",
            "a Content-Length that one DATA frame exceeds",
            RawFrames.headers(1, ScriptedServer.ok + [("content-length", "1")]),
            RawFrames.data(1, [1, 2], isLast: true),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.1.2.6.2",
            "a Content-Length that two DATA frames exceed",
            RawFrames.headers(1, ScriptedServer.ok + [("content-length", "1")]),
            RawFrames.data(1, [1]),
            RawFrames.data(1, [2], isLast: true),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "http2/8.2.1",
            "PUSH_PROMISE",
            RawFrames.frame(5, flags: 0x4, on: 1, RawFrames.number(2) + ok),
            outcome: .connectionError(.protocolError)
        ),
    ]

    /// generic/5 and hpack: the compression of heads (RFC 7541).
    private static let compression: [ServerFrameCase] = [
        .init("generic/5.1", "an indexed field", response([0x88]), outcome: .response([])),
        .init(
            "generic/5.3",
            "a literal with indexing, and then its index",
            response([0x88, 0x40, 1, 0x78, 1, 0x79, 0xBE]),
            outcome: .response([])
        ),
        .init(
            "generic/5.8",
            "a literal that is never indexed",
            response([0x88, 0x10, 1, 0x78, 1, 0x79]),
            outcome: .response([])
        ),
        .init(
            "generic/5.4",
            "a value in Huffman's code",
            response([0x88, 0x00, 1, 0x78, 0x81, 0x1F]),
            outcome: .response([])
        ),
        .init("generic/5.14", "a new size of the table, at the start", response([0x20, 0x88]), outcome: .response([])),
        .init(
            "hpack/2.3.3.1",
            "an index that the tables lack",
            response([0x88, 0xC6]),
            outcome: .connectionError(.compressionError)
        ),
        .init(
            "hpack/2.3.3.2",
            "a literal with a name that the tables lack",
            response([0x88, 0x7F, 0x07, 1, 0x61]),
            outcome: .connectionError(.compressionError)
        ),
        .init(
            "hpack/4.2.1",
            "a new size of the table, at the end",
            response([0x88, 0x20]),
            outcome: .connectionError(.compressionError)
        ),
        .init(
            "hpack/5.2.1",
            "padding of Huffman's code longer than 7 bits",
            response([0x88, 0x00, 1, 0x78, 0x82, 0x1F, 0xFF]),
            outcome: .connectionError(.compressionError)
        ),
        .init(
            "hpack/5.2.2",
            "padding of Huffman's code by zeros",
            response([0x88, 0x00, 1, 0x78, 0x81, 0x18]),
            outcome: .connectionError(.compressionError)
        ),
        .init(
            "hpack/5.2.3",
            "the end of the string in Huffman's code",
            response([0x88, 0x00, 1, 0x78, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]),
            outcome: .connectionError(.compressionError)
        ),
        .init("hpack/6.1.1", "the index 0", response([0x88, 0x80]), outcome: .connectionError(.compressionError)),
        .init(
            "hpack/6.3.1",
            "a table larger than allowed",
            response([0x3F, 0xE9, 0x26, 0x88]),
            outcome: .connectionError(.compressionError)
        ),
        .init(
            "http2/4.3.1",
            "a head that ends within a field",
            response([0x88, 0x40, 5, 0x78]),
            outcome: .connectionError(.compressionError)
        ),
    ]
}
#endif

#if NIO
import WaystationTestSupport

extension ServerFrameCase {
    /// http2/6.1 to 6.4, 6.7 and 6.8: the rules of single frames.
    static let frameRules: [ServerFrameCase] = [
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
    static let settings: [ServerFrameCase] = [
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
    /// The codec ignores the windows of streams whose request is complete, since nothing more is sent on them; the table
    /// checks them.
    static let windows: [ServerFrameCase] = [
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
            "RFC 9113 §6.9",
            "an increment of 0 for a stream whose request is complete",
            RawFrames.windowUpdate(1, 0),
            outcome: .streamError(.protocolError)
        ),
        .init(
            "RFC 9113 §6.9.1",
            "a window above 2³¹ − 1 of a stream whose request is complete",
            RawFrames.windowUpdate(1, 0x7FFF_FFFF),
            outcome: .streamError(.flowControlError)
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
    static let continuations: [ServerFrameCase] = [
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
}
#endif

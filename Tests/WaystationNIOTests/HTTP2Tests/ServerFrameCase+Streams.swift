#if NIO
import WaystationTestSupport

extension ServerFrameCase {
    /// generic/3 and http2/4: frames that are allowed, and frames of any kind that are not.
    static let framing: [ServerFrameCase] = [
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
    static let streamStates: [ServerFrameCase] = [
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
            "http2/5.1.6",
            "HEADERS after a response that made the rest of the request useless",
            response,
            RawFrames.headers(1, ScriptedServer.ok),
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
            "http2/5.1.10",
            "CONTINUATION after RST_STREAM",
            RawFrames.reset(3, 8),
            continuation(ok, on: 3),
            outcome: .connectionError(.protocolError)
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
            "generic/2.1",
            "PRIORITY on an idle stream",
            RawFrames.frame(2, on: 5, [0, 0, 0, 0, 9]),
            outcome: .ignored
        ),
        // RFC 9113 §5.3 deprecates priorities. RFC 7540 §5.3.1 has an error of the stream; the codec ends the connection,
        // as RFC 9113 §5.4.1 allows.
        .init(
            "http2/5.3.1.1",
            "HEADERS of a stream that depends on itself",
            RawFrames.frame(1, flags: 0x25, on: 1, RawFrames.number(1) + [15] + ok),
            outcome: .connectionError(.protocolError)
        ),
        .init(
            "http2/5.3.1.2",
            "PRIORITY of a stream that depends on itself",
            RawFrames.frame(2, on: 1, RawFrames.number(1) + [15]),
            outcome: .connectionError(.protocolError)
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
}
#endif

#if NIO
import WaystationTestSupport

extension ServerFrameCase {
    /// http2/7 and 8: codes and messages.
    static let messages: [ServerFrameCase] = [
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
    static let compression: [ServerFrameCase] = [
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

#if Gateway
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import WaystationGateway

@Suite("The bytes of a response")
struct ResponseWriterTests {
    private let channel = EmbeddedChannel()

    init() async throws {
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    }

    /// The buffers that were sent since the last call.
    private func sent() throws -> [String] {
        var buffers: [String] = []
        while case .byteBuffer(let buffer)? = try channel.readOutbound(as: IOData.self) {
            buffers.append(String(buffer: buffer))
        }
        return buffers
    }

    private func head(_ headers: HTTPHeaders = [:], _ version: HTTPVersion = .http1_1) -> HTTPResponseHead {
        HTTPResponseHead(version: version, status: .ok, headers: headers)
    }

    @Test("are sent together when the response ends")
    func whole() throws {
        let writer = ResponseWriter(channel)
        writer.begin(head(["Content-Length": "5"]), .length(5))
        writer.append("he".utf8)
        writer.append("llo".utf8)
        #expect(try sent().isEmpty)
        writer.end(closes: false)
        #expect(try sent() == ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"])
        channel.embeddedEventLoop.run()
        #expect(try sent().isEmpty)
        #expect(channel.isActive)
    }

    @Test("are sent at the end of a turn of the event loop if the response goes on")
    func turns() throws {
        let writer = ResponseWriter(channel)
        writer.begin(head(["Content-Length": "5"]), .length(5))
        channel.embeddedEventLoop.run()
        #expect(try sent() == ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"])
        writer.append("he".utf8)
        channel.embeddedEventLoop.run()
        #expect(try sent() == ["he"])
        writer.append("llo".utf8)
        writer.end(closes: true)
        #expect(try sent() == ["llo"])
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive)
    }

    @Test("state the length of each part if the length of the body is unknown")
    func chunked() throws {
        let writer = ResponseWriter(channel)
        writer.begin(head(["Transfer-Encoding": "chunked"]), .chunked)
        writer.append(String(repeating: "x", count: 26).utf8)
        // An empty part would end the body.
        writer.append("".utf8)
        writer.append("y".utf8)
        writer.end(closes: false)
        let body = "1a\r\n\(String(repeating: "x", count: 26))\r\n1\r\ny\r\n0\r\n\r\n"
        #expect(try sent() == ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"])
    }

    @Test("are passed to the connection before there are too many")
    func large() throws {
        let writer = ResponseWriter(channel)
        writer.begin(head(), .length(1 << 20))
        writer.append([UInt8](repeating: 0, count: 64 << 10))
        // Nothing is left to send but what the connection has.
        channel.flush()
        #expect(try sent().map(\.utf8.count) == [(64 << 10) + "HTTP/1.1 200 OK\r\n\r\n".utf8.count])
    }

    @Test("contain no field that may not be sent")
    func fields() throws {
        let fields: HTTPHeaders = [
            "A": "b", "X\r\nInjected": "c", "": "d", "E F": "g", "H": "i\r\nInjected: j", "K": "l\u{0}m", "N": "ö",
        ]
        let writer = ResponseWriter(channel)
        writer.begin(head(fields, .http1_0))
        writer.end(closes: false)
        #expect(try sent() == ["HTTP/1.0 200 OK\r\nA: b\r\nN: ö\r\n\r\n"])
    }
}
#endif

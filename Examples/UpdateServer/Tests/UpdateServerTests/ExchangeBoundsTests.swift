import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing
import WaystationTestSupport

@testable import UpdateServer

@Suite("The bounds of an exchange")
struct ExchangeBoundsTests {
    private let connection = Connection()

    @Test("the rest of a refused request is read up to a number of bytes")
    func discardedBytes() throws {
        connection.receive(.head(.upload))
        connection.answer(.unauthorized)
        connection.receive(.body(ByteBuffer(repeating: 0, count: 1_000)))
        #expect(connection.isOpen)
        connection.receive(.body(ByteBuffer(repeating: 0, count: 1)))
        #expect(!connection.isOpen)
    }

    @Test("the rest of a refused request is read for a time, however few its bytes are")
    func discardingTime() throws {
        connection.receive(.head(.upload), .body(ByteBuffer(repeating: 0, count: 5_000)))
        connection.answer(.unauthorized)
        for _ in 0..<9 {
            connection.pass(.seconds(1))
            connection.receive(.body(ByteBuffer(repeating: 0, count: 1)))
        }
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("a refused request that ends in time leaves the connection open for the next one")
    func shortRest() throws {
        for _ in 0..<3 {
            connection.receive(.head(.upload))
            connection.answer(.unauthorized)
            connection.receive(.body(ByteBuffer(repeating: 0, count: 900)), .end(nil))
        }
        connection.pass(.hours(24))
        #expect(connection.isOpen)
    }

    @Test("a body that is read before the answer is not bounded by the bytes that are discarded")
    func acceptedBody() throws {
        connection.receive(.head(.upload))
        for _ in 0..<100 { connection.receive(.body(ByteBuffer(repeating: 0, count: 1_000))) }
        connection.receive(.end(nil))
        connection.answer(.ok)
        connection.pass(.hours(24))
        #expect(connection.isOpen)
    }

    @Test("a request and its answer have a total time, however steadily their bytes arrive", arguments: [false, true])
    func total(isRequestComplete: Bool) throws {
        connection.receive(.head(.upload))
        if isRequestComplete {
            connection.receive(.end(nil))
            connection.write(.head(.init(status: .ok)))
        }
        for _ in 0..<59 {
            connection.pass(.seconds(60))
            if isRequestComplete {
                connection.write(.body(ByteBuffer(repeating: 0, count: 1)))
            } else {
                connection.receive(.body(ByteBuffer(repeating: 0, count: 1)))
            }
        }
        #expect(connection.isOpen)
        connection.pass(.seconds(60))
        #expect(!connection.isOpen)
    }

    @Test("each request on a connection has its own time, and the time between requests does not count")
    func severalRequests() throws {
        for _ in 0..<3 {
            connection.receive(.head(.upload), .end(nil))
            connection.pass(.minutes(59))
            connection.answer(.ok)
            connection.pass(.minutes(59))
        }
        #expect(connection.isOpen)
        // The second of two requests that were sent at once begins when the first one is answered.
        connection.receive(.head(.upload), .end(nil), .head(.upload), .end(nil))
        connection.pass(.minutes(59))
        connection.answer(.ok)
        connection.pass(.minutes(59))
        #expect(connection.isOpen)
        connection.pass(.minutes(1))
        #expect(!connection.isOpen)
    }

    @Test("the connection is closed after an answer that says so, when the request has ended")
    func lastAnswer() throws {
        connection.receive(.head(.upload), .end(nil))
        connection.answer(.ok)
        #expect(connection.isOpen)
        connection.receive(.head(.upload))
        connection.answer(.contentTooLarge, [.connection: "close"])
        #expect(connection.isOpen)
        connection.receive(.end(nil))
        #expect(!connection.isOpen)
    }

    @Test("an answer that only asks for the body is not the answer")
    func interimAnswer() throws {
        connection.receive(.head(.upload))
        connection.write(.head(.init(status: .continue)))
        for _ in 0..<10 { connection.receive(.body(ByteBuffer(repeating: 0, count: 1_000))) }
        connection.pass(.seconds(11))
        #expect(connection.isOpen)
    }

    @Test(
        "over a socket, an endless body is not read for long",
        .timeLimit(.minutes(10)),
        arguments: ["", "Authorization: Bearer \(Platform.token)\r\n"]
    )
    func endlessBody(authorization: String) async throws {
        // Its folder, in which the releases are, lasts as long as this object.
        let platform = try Platform()
        try await platform.server { $0.maximumUpload = 1 << 20 }.ask { client in
            let (sent, answer) = try await BlockingWork.run {
                let client = try RawClient(port: client.port)
                client.send(
                    "POST /api/modules/shop/publish HTTP/1.1\r\nHost: localhost\r\n\(authorization)"
                        + "Transfer-Encoding: chunked\r\n\r\n"
                )
                let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 1 << 16) + Array("\r\n".utf8)
                var sent = 0
                while sent < 1 << 30, client.send(bytes: chunk) { sent += chunk.count }
                return (sent, client.receive(until: "\r\n"))
            }
            // What the two sockets hold is beyond the server's control.
            #expect(sent < 64 << 20)
            // A connection that is reset may lose the answer.
            #expect(
                answer.isEmpty || answer.hasPrefix("HTTP/1.1 401 ") || answer.hasPrefix("HTTP/1.1 413 "),
                "\(answer)"
            )
        }
        withExtendedLifetime(platform) {}
    }
}

extension HTTPRequest {
    fileprivate static let upload = HTTPRequest(method: .post, scheme: "http", authority: "shop.example", path: "/")
}

/// A connection in driven time, whose client accepts everything at once.
private final class Connection {
    private let channel: EmbeddedChannel

    init() {
        var bounds = ExchangeBounds.Bounds()
        bounds.discardedBytes = 1_000
        channel = EmbeddedChannel(handler: ExchangeBounds(bounds))
        if let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1) {
            channel.connect(to: address, promise: nil)
        }
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    var isOpen: Bool { channel.isActive }

    func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

    func receive(_ parts: HTTPRequestPart...) { for part in parts { channel.pipeline.fireChannelRead(part) } }

    func write(_ part: HTTPResponsePart) { channel.writeAndFlush(part, promise: nil) }

    func answer(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) {
        write(.head(HTTPResponse(status: status, headerFields: fields)))
        write(.end(nil))
    }
}

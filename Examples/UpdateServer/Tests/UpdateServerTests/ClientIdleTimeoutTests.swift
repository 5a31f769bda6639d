import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import NIOPosix
import Testing

@testable import UpdateServer

@Suite("The time-out for idle clients")
struct ClientIdleTimeoutTests {
    @Test("closes a client that sends nothing while the server waits for a request")
    func silence() throws {
        let connection = try Connection()
        connection.read()
        connection.pass(.seconds(59))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("starts again with each part that arrives, and ends an upload that has stopped")
    func parts() throws {
        let connection = try Connection()
        connection.read()
        connection.pass(.seconds(59))
        try connection.receive(.head(.upload))
        for _ in 0..<5 {
            connection.read()
            connection.pass(.seconds(59))
            try connection.receive(.body(ByteBuffer(string: "part")))
        }
        connection.read()
        connection.pass(.seconds(59))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("is not extended by a head that arrives byte by byte")
    func slowHead() throws {
        let connection = try Connection()
        for _ in 0..<5 {
            connection.read()
            connection.pass(.seconds(10))
            connection.endRead()
        }
        connection.read()
        connection.pass(.seconds(9))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("stands still while the server does not read, however long, and continues from there")
    func backPressure() throws {
        let connection = try Connection()
        connection.read()
        try connection.receive(.head(.upload))
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.read()
        connection.pass(.seconds(40))
        connection.endRead()
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.read()
        connection.pass(.seconds(19))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("does not cut off a slow answer, and starts for the next request after it")
    func slowAnswer() throws {
        let connection = try Connection()
        connection.read()
        try connection.receive(.head(.upload), .end(nil))
        // The server reads for the next request that may follow.
        connection.read()
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.write(.head(.init(status: .ok)))
        connection.take(1)
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.write(.end(nil))
        connection.take(1)
        connection.pass(.seconds(59))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("does not cut off an answer because a second request began before it")
    func pipelining() throws {
        let connection = try Connection()
        connection.read()
        try connection.receive(.head(.upload), .end(nil), .head(.upload))
        connection.read()
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.answer()
        connection.pass(.seconds(59))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("waits for the rest of a request that was answered early, and lets the next one be answered")
    func earlyAnswer() throws {
        let connection = try Connection()
        connection.read()
        try connection.receive(.head(.upload))
        connection.read()
        connection.pass(.seconds(59))
        // The client has the full time to accept the answer, as if it had not been silent before.
        connection.write(.head(.init(status: .unauthorized)))
        connection.write(.end(nil))
        connection.pass(.seconds(59))
        connection.take(2)
        connection.pass(.seconds(59))
        try connection.receive(.end(nil), .head(.upload), .end(nil))
        connection.read()
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.answer()
        connection.pass(.seconds(60))
        #expect(!connection.isOpen)
    }

    @Test("closes a client that does not accept the answer, and starts again with each piece that it accepts")
    func untaken() throws {
        let connection = try Connection()
        connection.read()
        try connection.receive(.head(.upload), .end(nil))
        connection.write(.head(.init(status: .ok)))
        connection.write(.body(ByteBuffer(repeating: 7, count: 4 * ClientIdleTimeout.piece + 1)))
        #expect(connection.untaken == [0] + Array(repeating: ClientIdleTimeout.piece, count: 4) + [1])
        for _ in 0..<5 {
            connection.pass(.seconds(59))
            connection.take(1)
        }
        #expect(connection.isOpen)
        connection.take(1)
        // Until the next part it is the server's turn.
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.write(.body(ByteBuffer(string: "part")))
        connection.pass(.seconds(59))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("completes the promise for a large part when its last piece is accepted")
    func promise() throws {
        let connection = try Connection()
        var isTaken = false
        connection.write(.body(ByteBuffer(repeating: 7, count: 2 * ClientIdleTimeout.piece))) { isTaken = true }
        connection.take(1)
        #expect(!isTaken)
        connection.take(1)
        #expect(isTaken)
    }

    @Test("gives the client one full period to close its side after the server has closed its own")
    func outputClosed() throws {
        let connection = try Connection()
        connection.tell(.outputClosed)
        connection.pass(.seconds(59))
        #expect(connection.isOpen)
        connection.pass(.seconds(1))
        #expect(!connection.isOpen)
    }

    @Test("requires a client that has closed its side only to accept the answer")
    func inputClosed() throws {
        let connection = try Connection()
        connection.read()
        try connection.receive(.head(.upload))
        connection.tell(.inputClosed)
        connection.read()
        connection.pass(.hours(24))
        #expect(connection.isOpen)
        connection.write(.end(nil))
        connection.pass(.seconds(60))
        #expect(!connection.isOpen)
    }

    @Test("leaves no timer, and an open connection, when its handler is removed")
    func removal() throws {
        weak var left: ClientIdleTimeout?
        let connection = try Connection { left = $0 }
        connection.read()
        try connection.removeTimeout()
        #expect(left == nil)
        connection.pass(.hours(24))
        #expect(connection.isOpen)
    }

    @Test("does not close a closed connection again")
    func inactive() throws {
        let connection = try Connection()
        connection.read()
        connection.write(.head(.init(status: .ok)))
        connection.lose()
        connection.take(1)
        connection.pass(.hours(24))
        #expect(connection.closes == 0)
    }

    @Test("closes a client over a socket that sends nothing", .timeLimit(.minutes(10)))
    func socket() async throws {
        // Its folder, in which the releases are, lasts as long as this object.
        let platform = try Platform()
        // Nothing must be done within this time: the test waits for the server's close, however late it comes.
        let server = try await RunningServer(platform.server { $0.clientIdleTimeout = .milliseconds(1) })
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.minutes(10))
            .connect(host: "127.0.0.1", port: try #require(server.url.port)).get()
        try await connection.closeFuture.get()
        await server.stop()
        withExtendedLifetime(platform) {}
    }
}

extension HTTPRequest {
    fileprivate static let upload = HTTPRequest(method: .post, scheme: "http", authority: "shop.example", path: "/")
}

/// A connection in driven time, whose reads the test starts, to a client that accepts parts when the test says so.
private final class Connection {
    private let channel: EmbeddedChannel
    private let wire = Wire()

    init(_ tell: (ClientIdleTimeout) -> Void = { _ in }) throws {
        let timeout = ClientIdleTimeout(.seconds(60))
        tell(timeout)
        channel = EmbeddedChannel(handlers: [wire, timeout])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    var isOpen: Bool { channel.isActive }
    var closes: Int { wire.closes }
    /// The sizes of the bodies of the parts that the client has not accepted.
    var untaken: [Int] { wire.parts.map { if case .body(let body) = $0.part { body.readableBytes } else { 0 } } }

    func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

    /// The server asks for bytes.
    func read() { channel.read() }

    /// Bytes arrived that do not complete a part.
    func endRead() { channel.pipeline.fireChannelReadComplete() }

    /// Bytes arrived that complete these parts.
    func receive(_ parts: HTTPRequestPart...) throws {
        for part in parts { channel.pipeline.fireChannelRead(part) }
        endRead()
    }

    func write(_ part: HTTPResponsePart, taken: (() -> Void)? = nil) {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess { taken?() }
        channel.writeAndFlush(part, promise: promise)
    }

    func take(_ count: Int) { for _ in 0..<count { wire.take() } }

    /// Writes an answer that the client accepts at once.
    func answer() {
        write(.head(.init(status: .ok)))
        write(.end(nil))
        take(2)
    }

    func tell(_ event: ChannelEvent) { channel.pipeline.fireUserInboundEventTriggered(event) }

    func lose() { channel.pipeline.fireChannelInactive() }

    func removeTimeout() throws {
        try channel.pipeline.syncOperations.removeHandler(
            channel.pipeline.syncOperations.handler(type: ClientIdleTimeout.self)
        ).wait()
    }
}

/// Holds written parts until the client accepts them.
private final class Wire: ChannelOutboundHandler {
    typealias OutboundIn = HTTPResponsePart

    private(set) var parts: [(part: HTTPResponsePart, promise: EventLoopPromise<Void>?)] = []
    private(set) var closes = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        parts.append((unwrapOutboundIn(data), promise))
    }

    /// Accepts the first part; does nothing after the connection was closed.
    func take() { if !parts.isEmpty { parts.removeFirst().promise?.succeed() } }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        closes += 1
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        while !parts.isEmpty { parts.removeFirst().promise?.fail(ChannelError.ioOnClosedChannel) }
    }
}

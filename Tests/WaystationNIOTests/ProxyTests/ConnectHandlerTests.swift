#if NIO
import NIOCore
import NIOEmbedded
import Testing

@testable import WaystationNIO

@Suite("CONNECT on a channel")
struct ConnectHandlerTests {
    private let proxy = Route.Proxy(host: "p.test", port: 1, authorization: "Basic eA==")

    @Test("The handler leaves, and handlers that are added then get the bytes that came early")
    func opens() throws {
        let channel = try connectedChannel()
        let inbox = Inbox()
        let tunnel = ConnectHandler.open(on: channel, to: "o.test:443", proxy)
        tunnel.assumeIsolated().whenSuccess { try? channel.pipeline.syncOperations.addHandler(inbox) }
        let request = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: request).hasPrefix("CONNECT o.test:443 HTTP/1.1\r\n"))
        try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\n"))
        #expect(inbox.text.isEmpty)
        try channel.writeInbound(ByteBuffer(string: "\r\nearly"))
        #expect(inbox.text == "early")
        try channel.writeInbound(ByteBuffer(string: " late"))
        #expect(inbox.text == "early late")
        #expect(throws: (any Error).self) {
            _ = try channel.pipeline.syncOperations.context(handlerType: ConnectHandler.self)
        }
        try tunnel.wait()
    }

    @Test("A refusal is a failure that names the status, and closes the channel")
    func refusal() throws {
        let channel = try connectedChannel()
        let tunnel = ConnectHandler.open(on: channel, to: "o.test:443", proxy)
        try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 407 No\r\n\r\n"))
        #expect(throws: ConnectFailure.status(407)) { try tunnel.wait() }
        #expect(!channel.isActive)
    }

    @Test("A proxy that closes the connection is a failure")
    func closes() throws {
        let channel = try connectedChannel()
        let tunnel = ConnectHandler.open(on: channel, to: "o.test:443", proxy)
        try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200"))
        try channel.close().wait()
        #expect(throws: ConnectFailure.closed) { try tunnel.wait() }
    }

    @Test("A channel that is closed already, and values that cannot be sent, are failures")
    func early() throws {
        #expect(throws: ConnectFailure.closed) {
            try ConnectHandler.open(on: EmbeddedChannel(), to: "o.test:443", proxy).wait()
        }
        let channel = try connectedChannel()
        #expect(throws: ConnectFailure.invalidRequest) {
            try ConnectHandler.open(on: channel, to: "a\r\nb", proxy).wait()
        }
    }

    private func connectedChannel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private final class Inbox: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var text = ""

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }
    }
}
#endif

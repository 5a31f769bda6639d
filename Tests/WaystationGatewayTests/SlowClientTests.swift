#if Gateway
import Foundation
import FoundationNetworking
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing
import Waystation
import WaystationNIO

@testable import WaystationGateway

@Suite("A client that does not take what is written to it")
struct SlowClientTests {
    @Test("gets the answer to its next request when it has taken the one before")
    func pipelined() async throws {
        let fixture = try await GatewayFixture()
        let serving = fixture.serving()
        let connection = ConnectionHandler(serving, RepeatingHandler(serving), FieldBytes()) {
            Tunnel(handlers: [], idle: .seconds(1))
        } connect: { _, _, _ in
        }
        let channel = EmbeddedChannel(handler: connection)
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        channel.isWritable = false
        // No rule takes this URL, so that the refusal is written at once.
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        head.headers.add(name: "Host", value: "unknown-example.localhost:\(fixture.port)")
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        channel.embeddedEventLoop.run()
        #expect(try channel.readOutbound(as: IOData.self) == nil)

        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.run()
        guard case .byteBuffer(let response) = try channel.readOutbound(as: IOData.self) else {
            Issue.record("no response")
            return
        }
        #expect(String(buffer: response).hasPrefix("HTTP/1.1 4"))
    }

    /// The ends of a connection that the gateway brings about when no request is under way.
    enum End: CaseIterable {
        case idleTimeout, stop
    }

    /// A client that takes nothing before the test lets it: the bytes stay in the queue of the channel.
    private final class Pausing: ChannelOutboundHandler {
        typealias OutboundIn = IOData

        func flush(context: ChannelHandlerContext) {}

        func take(_ channel: EmbeddedChannel) throws {
            try channel.pipeline.syncOperations.context(handler: self).flush()
        }
    }

    @Test("gets all of its response although its time is over meanwhile, or the gateway stops", arguments: End.allCases)
    func whole(end: End) async throws {
        let fixture = try await GatewayFixture()
        let serving = fixture.serving()
        let connection = ConnectionHandler(serving, RepeatingHandler(serving), FieldBytes()) {
            Tunnel(handlers: [], idle: .seconds(1))
        } connect: { _, _, _ in
        }
        let pausing = Pausing()
        let channel = EmbeddedChannel(handlers: [pausing, connection])
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        // No rule takes this URL, so that the refusal is written at once.
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        head.headers.add(name: "Host", value: "unknown-example.localhost:\(fixture.port)")
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        switch end {
        case .idleTimeout: channel.embeddedEventLoop.advanceTime(by: TimeAmount(serving.options.idleTimeout))
        case .stop: channel.pipeline.fireUserInboundEventTriggered(GatewayStop())
        }
        channel.embeddedEventLoop.run()
        #expect(channel.isActive)
        // The client gets no answer to the requests that it sends from now on.
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        try pausing.take(channel)
        channel.embeddedEventLoop.run()
        var sent = ""
        while case .byteBuffer(let bytes) = try channel.readOutbound(as: IOData.self) { sent += String(buffer: bytes) }
        let response = try #require(RawResponse(Data(sent.utf8)))
        #expect(response.status == 403)
        #expect(response["Content-Length"] == "\(response.body.count)")
        #expect(!channel.isActive)
    }

    @Test("and leaves does not keep the end of its load waiting")
    func left() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        let serving = fixture.serving()
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/a.txt")
        head.headers.add(name: "Host", value: fixture.shop)
        let accepted = try serving.accept(head, for: try serving.targets.target(of: head))
        let channel = EmbeddedChannel()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        channel.isWritable = false
        let exchange = GatewayExchange(accepted, head, on: channel, ResponseWriter(channel), serving) { _ in }
        let passed = Atomic(0)
        exchange.whenPassedOn { passed.add(1, ordering: .relaxed) }
        #expect(passed.load(ordering: .relaxed) == 0)
        try await channel.close().get()
        exchange.whenPassedOn { passed.add(1, ordering: .relaxed) }
        #expect(passed.load(ordering: .relaxed) == 1)
    }
}
#endif

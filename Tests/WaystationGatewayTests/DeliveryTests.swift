#if Gateway
import Foundation
import NIOCore
import NIOEmbedded
import Testing
import Waystation
import WaystationTesting

@testable import WaystationGateway

@Suite("A connection whose client", .timeLimit(.minutes(10)))
struct DeliveryTests {
    /// A connection whose clock and whose client the test moves.
    private final class Watched {
        let loop = EmbeddedEventLoop()
        let channel: EmbeddedChannel
        /// The number of bytes that the client has not taken.
        private let waiting: Box

        private final class Box { var count = 0 }

        init() throws {
            let waiting = Box()
            self.waiting = waiting
            channel = EmbeddedChannel(
                handler: DeliveryWatch(limit: .seconds(100)) { _ in waiting.count },
                loop: loop
            )
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func send(_ count: Int) {
            waiting.count += count
            channel.writeAndFlush(ByteBuffer(repeating: 1, count: count), promise: nil)
        }

        func take(_ count: Int) { waiting.count -= count }

        func wait(_ seconds: Int64) { loop.advanceTime(by: .seconds(seconds)) }

        var isOpen: Bool { channel.isActive }
    }

    @Test("takes nothing is closed when the time is over, and not before")
    func stuck() throws {
        let watched = try Watched()
        watched.send(1_000)
        watched.wait(99)
        #expect(watched.isOpen)
        watched.wait(51)
        #expect(!watched.isOpen)
    }

    @Test("takes nothing is closed although more and more is written to it")
    func growing() throws {
        let watched = try Watched()
        for _ in 0..<30 where watched.isOpen {
            watched.send(10)
            watched.wait(5)
        }
        #expect(!watched.isOpen)
    }

    @Test("reads a byte now and then stays open")
    func slow() throws {
        let watched = try Watched()
        watched.send(1_000)
        for _ in 0..<100 {
            watched.wait(99)
            watched.take(1)
        }
        #expect(watched.isOpen)
        // From its last byte, the time counts.
        watched.wait(151)
        #expect(!watched.isOpen)
    }

    @Test("gets nothing for hours, such as a reader of server-sent events, stays open")
    func quiet() throws {
        let watched = try Watched()
        for _ in 0..<5 {
            watched.send(10)
            watched.take(10)
            watched.wait(36_000)
        }
        #expect(watched.isOpen)
        watched.send(10)
        watched.wait(151)
        #expect(!watched.isOpen)
    }

    @Test("does not read ends the load of its response")
    func realConnection() async throws {
        let gate = try ScriptedOrigin.Gate()
        let film = Data(repeating: 7, count: 32 << 20)
        let origin = try ScriptedOrigin { _ in .stream([.bytes(film), .wait(gate)]) }
        let fixture = try await GatewayFixture(origin: origin) { $0.deliveryTimeout = .milliseconds(200) }
        let connection = try RawConnection(fixture.port)
        connection.send("GET / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\n\r\n")
        #expect(await origin.waitForAbandonedRequests(1).count == 1)
        withExtendedLifetime(connection) { gate.open() }
    }
}

@Suite("A tunnel", .timeLimit(.minutes(10)))
struct TunnelClockTests {
    private let loop = EmbeddedEventLoop()

    private func tunnel(
        farFirst handlers: [any ChannelHandler] = []
    ) throws -> (near: EmbeddedChannel, far: EmbeddedChannel) {
        let (near, far) = Relay.pair(idle: .seconds(100))
        let channels = [
            EmbeddedChannel(handlers: [near], loop: loop), EmbeddedChannel(handlers: handlers + [far], loop: loop),
        ]
        for channel in channels { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }
        near.start()
        far.start()
        return (channels[0], channels[1])
    }

    @Test("through which nothing passes is closed at both ends when the time is over")
    func idle() throws {
        let (near, far) = try tunnel()
        loop.advanceTime(by: .seconds(99))
        #expect(near.isActive && far.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!near.isActive && !far.isActive)
    }

    @Test("stays open as long as bytes pass in one direction", arguments: [true, false])
    func used(isFromClient: Bool) throws {
        let (near, far) = try tunnel()
        for _ in 0..<10 {
            loop.advanceTime(by: .seconds(99))
            try (isFromClient ? near : far).writeInbound(ByteBuffer(string: "a"))
        }
        #expect(near.isActive && far.isActive)
        #expect(try (isFromClient ? far : near).readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "a"))
        loop.advanceTime(by: .seconds(100))
        #expect(!near.isActive && !far.isActive)
    }

    /// A peer that takes nothing: no write ends before the channel is closed.
    private final class Deaf: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private var waiting: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if let promise { waiting.append(promise) }
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            for promise in waiting { promise.fail(ChannelError.ioOnClosedChannel) }
            waiting = []
            context.close(mode: mode, promise: promise)
        }
    }

    @Test("whose client has left is closed when the time is over, although its origin takes nothing")
    func deafOrigin() throws {
        let (near, far) = try tunnel(farFirst: [Deaf()])
        try near.writeInbound(ByteBuffer(string: "a"))
        try near.close().wait()
        loop.advanceTime(by: .seconds(99))
        #expect(far.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!far.isActive)
    }

    @Test("that is idle is closed on a real connection")
    func real() async throws {
        let origin = try ScriptedOrigin { _ in .unanswered }
        let fixture = try await GatewayFixture {
            $0.isProxy = true
            $0.tunnelTimeout = .milliseconds(50)
        }
        let connection = try RawConnection(fixture.port)
        let authority = "127.0.0.1:\(origin.port)"
        connection.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(String(decoding: await connection.read(), as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }
}
#endif

#if NIO
import WaystationTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import WaystationNIO

@Suite("Limits, resets and the end of HTTP/2 connections")
struct ConnectionRuleTests {
    @Test("SETTINGS_MAX_CONCURRENT_STREAMS is followed when it changes while streams are open")
    func streamLimit() throws {
        let server = try ScriptedServer(settings: [(3, 2)])
        #expect(server.owner.capacities == [100, 2])
        let exchanges = (0..<3).map { _ in server.begin() }
        #expect(server.owner.capacities == [100, 2])
        #expect(server.frames().filter { $0.type == 1 }.map(\.id) == [1, 3])
        server.send(RawFrames.settings([(3, 1)]))
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(!server.frames().contains { $0.type == 1 })
        server.send(RawFrames.headers(3, ScriptedServer.ok, isLast: true))
        #expect(server.frames().filter { $0.type == 1 }.map(\.id) == [5])
        server.send(RawFrames.headers(5, ScriptedServer.ok, isLast: true))
        #expect(exchanges.allSatisfy { $0.isComplete })
        server.send(RawFrames.settings([(3, 4_294_967_295)]))
        #expect(server.owner.capacities.last == 100)
        server.send(RawFrames.settings([(3, 0)]))
        #expect(server.owner.capacities.last == 0)
    }

    @Test("Requests wait while the channel is not writable, even if the server lowers the limit meanwhile")
    func unwritable() throws {
        let server = try ScriptedServer(settings: [(3, 3)])
        let first = server.begin()
        _ = server.frames()
        server.setWritable(false)
        let exchanges = (0..<2).map { _ in server.begin() }
        server.send(RawFrames.ping(), RawFrames.ping())
        server.send(RawFrames.settings([(3, 1)]))
        #expect(server.frames().isEmpty)
        server.setWritable(true)
        #expect(!server.frames().contains { $0.type == 1 })
        for id: UInt32 in [1, 3, 5] { server.send(RawFrames.headers(id, ScriptedServer.ok, isLast: true)) }
        #expect(first.isComplete && exchanges.allSatisfy { $0.isComplete })
    }

    @Test("Frames that the codec held back do not let more streams open than the server allows")
    func heldBackFrames() throws {
        let server = try ScriptedServer(settings: [(3, 3)])
        server.setWritable(false)
        let exchanges = (0..<2).map { _ in server.begin() }
        // The answer to this PING waits in the codec; the channel becomes writable before the read is complete.
        server.channel.pipeline.fireChannelRead(ByteBuffer(bytes: RawFrames.ping()))
        server.channel.isWritable = true
        server.channel.pipeline.fireChannelWritabilityChanged()
        server.send(RawFrames.settings([(3, 1)]))
        _ = server.frames()
        for id: UInt32 in [1, 3] { server.send(RawFrames.headers(id, ScriptedServer.ok, isLast: true)) }
        #expect(exchanges.allSatisfy { $0.isComplete })
    }

    @Test("A cancelled exchange is reset and frees its place; what still arrives for it is ignored")
    func cancel() throws {
        let server = try ScriptedServer(settings: [(3, 60)])
        let exchanges = (0..<60).map { _ in server.begin() }
        _ = server.frames()
        for exchange in exchanges { server.connection.cancel(exchange) }
        #expect(server.frames() == (0..<60).map { .reset($0 * 2 + 1, 8) })
        for number: UInt32 in 0..<60 {
            server.send(RawFrames.headers(number * 2 + 1, ScriptedServer.ok), RawFrames.data(number * 2 + 1, [1]))
        }
        #expect(server.channel.isActive && server.owner.capacities.last == 60)
        #expect(exchanges.allSatisfy { $0.ends.isEmpty && $0.head == nil })
    }

    @Test("REFUSED_STREAM means that the request was not processed, other codes do not", arguments: [7, 0, 2, 8, 99])
    func reset(code: UInt32) throws {
        for hasHead in [false, true] {
            let server = try ScriptedServer()
            let exchange = server.begin()
            if hasHead { server.send(RawFrames.headers(1, ScriptedServer.ok)) }
            server.send(RawFrames.reset(1, code))
            #expect(exchange.failure?.kind == .connectionLost)
            #expect(exchange.failure?.unprocessed == (code == 7 ? .nothingAnswered : nil))
            #expect(server.owner.capacities.last == 100)
        }
    }

    @Test("GOAWAY ends the streams above its last as unprocessed; those below complete, then the connection closes")
    func goAway() throws {
        let server = try ScriptedServer()
        let below = server.begin()
        let above = server.begin()
        server.send(RawFrames.goAway(last: 1))
        #expect(above.failure?.isUnprocessed == true)
        #expect(below.ends.isEmpty && server.owner.capacities.last == 0)
        let late = server.begin()
        #expect(late.failure?.isUnprocessed == true)
        server.send(RawFrames.headers(1, ScriptedServer.ok), RawFrames.data(1, [1], isLast: true))
        #expect(below.isComplete && below.body == [1])
        #expect(!server.channel.isActive && server.owner.closeCount == 1)
    }

    @Test("HTTP_1_1_REQUIRED in a GOAWAY counts for the server, and lets the streams below its last complete")
    func http1Required() throws {
        let server = try ScriptedServer()
        let (complete, lost) = (server.begin(), server.begin())
        server.send(RawFrames.goAway(last: 3, 13))
        #expect(server.owner.http1RequirementCount == 1)
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(complete.isComplete)
        try server.channel.close().wait()
        #expect(lost.failure?.isUnprocessed == false && lost.failure?.suggestsRetry == true)
    }

    @Test("A GOAWAY that only warns lets open streams complete, and a second one ends those above its last")
    func gracefulGoAway() throws {
        let server = try ScriptedServer()
        let first = server.begin()
        let second = server.begin()
        server.send(RawFrames.goAway(last: 0x7FFF_FFFF))
        #expect(first.ends.isEmpty && second.ends.isEmpty && server.owner.capacities.last == 0)
        server.send(RawFrames.goAway(last: 1))
        #expect(second.failure?.isUnprocessed == true)
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(first.isComplete && !server.channel.isActive)
    }

    @Test("A GOAWAY that raises its last stream breaks the connection")
    func raisedGoAway() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(RawFrames.goAway(last: 1))
        server.send(RawFrames.goAway(last: 3))
        #expect(exchange.failure?.kind == .invalidResponse && !server.channel.isActive)
    }

    @Test("Closing when idle lets exchanges complete, and closes an idle connection with GOAWAY at once")
    func closeWhenIdle() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.connection.closeWhenIdle()
        #expect(server.owner.capacities.last == 0 && server.channel.isActive)
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(exchange.isComplete && !server.channel.isActive)
        let idle = try ScriptedServer()
        idle.connection.closeWhenIdle()
        #expect(idle.frames().map(\.type) == [7])
        #expect(!idle.channel.isActive && idle.owner.closeCount == 1)
    }

    @Test("A connection that closes ends its exchanges; those that were not sent are unprocessed")
    func lost() throws {
        let server = try ScriptedServer(settings: [(3, 1)])
        let sent = server.begin()
        let waiting = server.begin()
        var endsBefore = 0
        server.owner.didClose = { endsBefore = sent.ends.count + waiting.ends.count }
        try server.channel.close().wait()
        #expect(endsBefore == 2)
        #expect(sent.failure?.kind == .connectionLost && sent.failure?.isUnprocessed == false)
        #expect(waiting.failure?.isUnprocessed == true)
        #expect(server.owner.closeCount == 1)
        #expect(server.begin().failure?.isUnprocessed == true)
    }

    @Test("A quiet connection with exchanges is probed, and counts as lost without an answer")
    func ping() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        _ = server.frames()
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        #expect(server.frames().isEmpty)
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(server.frames().map(\.type) == [6])
        server.send(RawFrames.ping(isAcknowledgement: true))
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(server.frames().isEmpty && exchange.ends.isEmpty)
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(server.frames().map(\.type) == [6])
        var endsBefore = 0
        server.owner.didClose = { endsBefore = exchange.ends.count }
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(endsBefore == 1)
        #expect(exchange.failure == .silent && !server.channel.isActive)
    }

    @Test("A frame of the server other than the answer to a PING shortens the time to the next PING again")
    func shorterPause() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(15))
        server.send(RawFrames.ping(isAcknowledgement: true))
        server.send(RawFrames.headers(1, ScriptedServer.ok))
        _ = server.frames()
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        #expect(server.frames().isEmpty && exchange.ends.isEmpty)
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(server.frames().map(\.type) == [6])
    }

    @Test("An idle connection is not probed")
    func idle() throws {
        let server = try ScriptedServer()
        server.begin()
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        _ = server.frames()
        server.channel.embeddedEventLoop.advanceTime(by: .seconds(3600))
        #expect(server.frames().isEmpty && server.channel.isActive)
    }

    @Test("PUSH_PROMISE breaks the connection, because push is disabled")
    func push() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        let promise = RawFrames.number(2) + RawFrames.block([(":method", "GET"), (":path", "/"), (":scheme", "https")])
        server.send(RawFrames.frame(5, flags: 4, on: 1, promise))
        #expect(exchange.failure?.kind == .invalidResponse && !server.channel.isActive)
    }

    @Test("A request that HTTP/2 cannot carry fails without being sent, and the connection stays")
    func invalidRequest() throws {
        let server = try ScriptedServer()
        let exchange = server.begin(RecordingExchange(fields: [("x", "a\r\nb")]))
        #expect(exchange.failure?.kind == .invalidRequest && exchange.failure?.isUnprocessed == false)
        #expect(server.frames().isEmpty && server.channel.isActive)
        let other = server.begin()
        #expect(server.frames().map(\.id) == [3])
        server.send(RawFrames.headers(3, ScriptedServer.ok, isLast: true))
        #expect(other.isComplete)
    }
}
#endif

#if NIO
import WaystationTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import WaystationNIO

@Suite("Flow control over HTTP/2")
struct FlowControlTests {
    private static let piece = [UInt8](repeating: 1, count: 16_384)

    @Test("Window is granted as bytes are taken, for the stream and the connection")
    func grants() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        _ = server.frames()
        server.send(RawFrames.headers(1, ScriptedServer.ok))
        // The windows are 1 MiB and 16 MiB; half of the first is reached after 32 frames of 16 KiB.
        for _ in 0..<31 { server.send(RawFrames.data(1, Self.piece)) }
        #expect(server.frames().isEmpty)
        server.send(RawFrames.data(1, Self.piece))
        #expect(server.frames() == [.windowUpdate(1, 512 << 10)])
        for _ in 0..<480 { server.send(RawFrames.data(1, Self.piece)) }
        #expect(server.frames().filter { $0.id == 0 } == [.windowUpdate(0, 8 << 20)])
        #expect(exchange.body.count == 8 << 20)
    }

    @Test("An exchange that takes no more is granted no window until it resumes, and does not stop others")
    func held() throws {
        let server = try ScriptedServer()
        let slow = server.begin()
        let other = server.begin()
        _ = server.frames()
        slow.takesMore = false
        server.send(RawFrames.headers(1, ScriptedServer.ok), RawFrames.headers(3, ScriptedServer.ok))
        for _ in 0..<64 { server.send(RawFrames.data(1, Self.piece)) }
        #expect(server.frames().isEmpty && slow.body.count == 1 << 20)
        for _ in 0..<1000 { server.send(RawFrames.data(3, Self.piece)) }
        let granted = server.frames()
        #expect(granted.contains { $0.id == 0 } && granted.contains { $0.id == 3 })
        #expect(!granted.contains { $0.id == 1 } && other.body.count == 16_384_000)
        slow.takesMore = true
        server.connection.resume(slow)
        #expect(server.frames() == [.windowUpdate(1, 1 << 20)])
        server.send(RawFrames.data(1, [1], isLast: true))
        #expect(slow.isComplete)
    }

    @Test("A window is granted once, however often it is due while the channel takes nothing")
    func unwritable() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        let other = server.begin()
        _ = server.frames()
        server.setWritable(false)
        server.send(RawFrames.headers(1, ScriptedServer.ok), RawFrames.headers(3, ScriptedServer.ok))
        other.takesMore = false
        for _ in 0..<60 { server.send(RawFrames.data(1, Self.piece), RawFrames.data(3, Self.piece)) }
        for _ in 0..<100 { server.send(RawFrames.data(1, [1])) }
        other.takesMore = true
        server.connection.resume(other)
        for _ in 0..<10 { server.send(RawFrames.data(3, [1])) }
        #expect(server.frames().isEmpty)
        server.setWritable(true)
        let whole = UInt32(60 * Self.piece.count)
        let granted = server.frames()
        #expect(granted == [.windowUpdate(1, whole + 100), .windowUpdate(3, whole + 10)])
        #expect(exchange.body.count == Int(whole) + 100)
    }

    @Test("The window of the connection is granted when the channel takes bytes again")
    func unwritableConnection() {
        var table = StreamTable<RecordingExchange>(limits: HTTP2Limits())
        #expect(table.writable(false).isEmpty)
        #expect(table.connectionWindow(is: 8 << 20) == nil)
        #expect(table.connectionWindow(is: 7 << 20) == nil)
        let grants = table.writable(true)
        #expect(grants.map(\.id) == [0])
        #expect(grants.map(\.increment) == [9 << 20])
        #expect(table.writable(true).isEmpty)
        #expect(table.connectionWindow(is: 8 << 20) == 8 << 20)
    }

    @Test("A server that exceeds the window of a stream fails that stream")
    func overrun() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        exchange.takesMore = false
        server.send(RawFrames.headers(1, ScriptedServer.ok))
        for _ in 0..<65 { server.send(RawFrames.data(1, Self.piece)) }
        #expect(exchange.failure?.kind == .invalidResponse && exchange.body.count == 1 << 20)
        #expect(server.frames().contains(.reset(1, 3)))
        #expect(server.owner.capacities.last == 100)
    }

    @Test("Padding and DATA for cancelled streams are given back to the connection's window")
    func invisibleBytes() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(RawFrames.headers(1, ScriptedServer.ok))
        server.connection.cancel(exchange)
        _ = server.frames()
        for _ in 0..<512 { server.send(RawFrames.data(1, [UInt8](repeating: 1, count: 16_128), padding: 255)) }
        #expect(server.frames().contains(.windowUpdate(0, 8 << 20)))
    }

    @Test("A body is sent within the windows of the stream and the connection, and asked for piece by piece")
    func upload() throws {
        let server = try ScriptedServer(settings: [(4, 20_000)])
        let exchange = RecordingExchange("POST", .length(100_000))
        var given = 0
        exchange.giveBody = {
            given += 50_000
            server.connection.send(ByteBuffer(repeating: 7, count: 50_000), isLast: given == 100_000, of: exchange)
        }
        server.begin(exchange)
        var frames = server.frames()
        #expect(try server.fields(of: frames.removeFirst()).last == "content-length: 100000")
        #expect(frames.reduce(0) { $0 + $1.payload.count } == 20_000)
        #expect(frames.allSatisfy { $0.type == 0 && $0.payload.count <= 16_384 && !$0.isLast } && exchange.asked == 1)
        // The connection's window is 65,535: the stream's is no longer the limit.
        server.send(RawFrames.windowUpdate(1, 90_000))
        #expect(server.frames().reduce(0) { $0 + $1.payload.count } == 45_535)
        #expect(exchange.asked == 2)
        server.send(RawFrames.windowUpdate(0, 1_000_000))
        frames = server.frames()
        #expect(frames.reduce(0) { $0 + $1.payload.count } == 34_465 && frames.last?.isLast == true)
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(exchange.isComplete)
    }

    @Test("A smaller initial window of the server stops uploads until it is made up for")
    func shrunkWindow() throws {
        let server = try ScriptedServer()
        let exchange = RecordingExchange("POST", .unknownLength)
        server.begin(exchange)
        server.connection.send(ByteBuffer(repeating: 7, count: 30_000), isLast: false, of: exchange)
        server.send(RawFrames.settings([(4, 10_000)]))
        _ = server.frames()
        server.connection.send(ByteBuffer(repeating: 7, count: 5), isLast: true, of: exchange)
        server.send(RawFrames.windowUpdate(1, 20_000))
        #expect(server.frames().isEmpty)
        server.send(RawFrames.windowUpdate(1, 5))
        #expect(server.frames().map(\.payload.count) == [5])
    }

    @Test("Uploads of unknown length end with an empty frame, without a Content-Length and without window")
    func unknownLength() throws {
        let server = try ScriptedServer(settings: [(4, 3)])
        let exchange = RecordingExchange("POST", .unknownLength)
        server.begin(exchange)
        let request = try #require(server.frames().first)
        let fields = try server.fields(of: request)
        #expect(!fields.contains { $0.hasPrefix("content-length") } && !request.isLast)
        #expect(exchange.asked == 1)
        server.connection.send(ByteBuffer(string: "abc"), isLast: false, of: exchange)
        #expect(exchange.asked == 1)
        server.connection.send(ByteBuffer(), isLast: true, of: exchange)
        let frames = server.frames()
        #expect(frames.map(\.payload.count) == [3, 0] && frames.map(\.isLast) == [false, true])
    }

    @Test("An empty body ends the stream with the head")
    func emptyBody() throws {
        let server = try ScriptedServer()
        server.begin(RecordingExchange("POST", .length(0)))
        let request = try #require(server.frames().first)
        #expect(request.isLast)
        #expect(try server.fields(of: request).last == "content-length: 0")
    }

    @Test("Bodies are not asked for while the channel is not writable")
    func unwritableUpload() throws {
        let server = try ScriptedServer()
        let exchange = RecordingExchange("POST", .unknownLength)
        server.begin(exchange)
        #expect(exchange.asked == 1)
        server.setWritable(false)
        server.connection.send(ByteBuffer(repeating: 7, count: 10), isLast: false, of: exchange)
        #expect(exchange.asked == 1)
        server.setWritable(true)
        #expect(exchange.asked == 2)
        #expect(server.frames().last?.payload.count == 10)
    }

    @Test(
        "The window of bytes that the codec holds back is given back when their stream ends",
        arguments: [true, false]
    )
    func heldBack(isCancelled: Bool) throws {
        let server = try ScriptedServer()
        server.send(RawFrames.settings([(4, 100_000)]))
        let lost = server.begin(RecordingExchange("POST", .unknownLength))
        _ = server.frames()
        // The codec takes the channel for full, the connection does not.
        server.setWritable(false)
        server.channel.isWritable = true
        server.connection.send(ByteBuffer(repeating: 1, count: 50_000), isLast: false, of: lost)
        if isCancelled { server.connection.cancel(lost) } else { server.send(RawFrames.reset(1, 8)) }
        #expect(server.frames().isEmpty)
        server.setWritable(true)
        _ = server.frames()
        let exchange = server.begin(RecordingExchange("POST", .unknownLength))
        server.connection.send(ByteBuffer(repeating: 2, count: 80_000), isLast: true, of: exchange)
        let bytes = server.frames().filter { $0.type == 0 }.flatMap(\.payload)
        #expect(bytes == [UInt8](repeating: 2, count: 65_535))
    }

    @Test("A large body leaves in several turns of the loop, and arrives whole")
    func largeUpload() throws {
        let server = try ScriptedServer(settings: [(4, 1 << 30)])
        server.send(RawFrames.windowUpdate(0, 1 << 29))
        let exchange = RecordingExchange("POST", .unknownLength)
        var rest = 100
        exchange.giveBody = {
            rest -= 1
            server.connection.send(ByteBuffer(repeating: 7, count: 100_000), isLast: rest == 0, of: exchange)
        }
        server.connection.begin(exchange)
        #expect(rest > 90)
        let frames = server.frames()
        #expect(frames.reduce(0) { $1.type == 0 ? $0 + $1.payload.count : $0 } == 10_000_000)
        #expect(frames.last?.isLast == true)
    }

    @Test("Uploads take turns")
    func turns() throws {
        let server = try ScriptedServer(settings: [(4, 1 << 20)])
        let exchanges = (0..<3).map { _ in RecordingExchange("POST", .unknownLength) }
        for exchange in exchanges { server.begin(exchange) }
        for exchange in exchanges {
            server.connection.send(ByteBuffer(repeating: 7, count: 60_000), isLast: false, of: exchange)
        }
        _ = server.frames()
        for _ in 0..<3 { server.send(RawFrames.windowUpdate(0, 30_000)) }
        let sent = server.frames().filter { $0.type == 0 }
        // The first upload was sent before; the other two share what the server grants.
        #expect(Set(sent.map(\.id)) == [3, 5])
    }

    @Test("A complete response ends the exchange while its body is being sent, and the rest is cancelled")
    func earlyResponse() throws {
        let server = try ScriptedServer()
        let exchange = server.begin(RecordingExchange("POST", .length(10)))
        _ = server.frames()
        server.send(RawFrames.headers(1, [(":status", "413")], isLast: true), RawFrames.reset(1, 0))
        #expect(exchange.head?.status == 413 && exchange.isComplete)
        #expect(server.frames().contains(.reset(1, 8)))
        server.connection.send(ByteBuffer(string: "late"), isLast: true, of: exchange)
        #expect(server.frames().isEmpty && server.channel.isActive)
    }
}
#endif

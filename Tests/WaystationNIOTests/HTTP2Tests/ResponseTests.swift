#if NIO
import WaystationTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import WaystationNIO

@Suite("Responses over HTTP/2")
struct ResponseTests {
    @Test("Before the first SETTINGS, 100 streams are allowed")
    func capacityBeforeSettings() throws {
        let server = try ScriptedServer(settings: nil)
        #expect(server.owner.capacities == [100])
    }

    @Test("A request has its pseudo-fields first and ends its stream, and the response arrives")
    func exchange() throws {
        let server = try ScriptedServer()
        let exchange = server.begin(RecordingExchange(fields: [("Accept", "*/*"), ("Host", "other.test")]))
        let frames = server.frames()
        #expect(frames.map(\.type) == [1])
        let request = try #require(frames.first)
        #expect(request.id == 1 && request.isLast)
        let fields = try server.fields(of: request)
        #expect(
            fields == [":method: GET", ":scheme: https", ":authority: origin.test", ":path: /a?b", "accept: */*"]
        )
        server.send(RawFrames.headers(1, [(":status", "200"), ("content-length", "5"), ("x", "1"), ("x", "2")]))
        #expect(exchange.head?.status == 200)
        #expect(exchange.head?.fields.map { "\($0.name)=\($0.value)" } == ["content-length=5", "x=1", "x=2"])
        server.send(RawFrames.data(1, Array("he".utf8)), RawFrames.data(1, Array("llo".utf8), isLast: true, padding: 9))
        #expect(exchange.body == Array("hello".utf8))
        #expect(exchange.isComplete)
        #expect(server.owner.capacities == [100, 100])
    }

    @Test("A head that ends the stream is a complete response")
    func headOnly() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(RawFrames.headers(1, [(":status", "204")], isLast: true))
        #expect(exchange.head?.status == 204 && exchange.isComplete)
    }

    @Test("HEAD, 204 and 304 may announce a length that does not come", arguments: [("HEAD", 200), ("GET", 304)])
    func announcedLength(method: String, status: Int) throws {
        let server = try ScriptedServer()
        let exchange = server.begin(RecordingExchange(method))
        server.send(RawFrames.headers(1, [(":status", "\(status)"), ("content-length", "9")], isLast: true))
        #expect(exchange.isComplete)
    }

    @Test("Content after HEAD breaks the stream")
    func contentAfterHead() throws {
        let server = try ScriptedServer()
        let exchange = server.begin(RecordingExchange("HEAD"))
        _ = server.frames()
        server.send(RawFrames.headers(1, ScriptedServer.ok), RawFrames.data(1, [1]))
        #expect(exchange.failure?.kind == .invalidResponse)
        #expect(server.frames().contains(.reset(1, 1)))
    }

    @Test("Interim responses are skipped, and trailers are dropped")
    func interimsAndTrailers() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(
            RawFrames.headers(1, [(":status", "103"), ("link", "x")]),
            RawFrames.headers(1, [(":status", "100")])
        )
        #expect(exchange.head == nil)
        server.send(RawFrames.headers(1, ScriptedServer.ok), RawFrames.data(1, [7]))
        server.send(RawFrames.headers(1, [("checksum", "1")], isLast: true))
        #expect(exchange.heads == 1 && exchange.body == [7] && exchange.isComplete)
    }

    @Test("32 interim responses are accepted, one more is too many")
    func interimLimit() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        for _ in 0..<32 { server.send(RawFrames.headers(1, [(":status", "103")])) }
        #expect(exchange.ends.isEmpty)
        server.send(RawFrames.headers(1, [(":status", "103")]))
        #expect(exchange.failure?.kind == .limitExceeded)
        #expect(server.channel.isActive)
    }

    @Test(
        "Heads that break the rules fail their exchange and reset its stream, and the connection stays",
        arguments: [
            [], [("server", "x")], [(":status", "200"), (":status", "200")], [(":status", "20")], [(":status", "2000")],
            [(":status", "abc")], [(":status", "099")], [(":status", "+20")], [("server", "x"), (":status", "200")],
            [(":status", "200"), (":path", "/")], [(":status", "200"), ("Upper", "x")],
            [(":status", "200"), ("connection", "close")], [(":status", "200"), ("x", "a\r\nb: c")],
            [(":status", "101")], [(":status", "200"), ("content-length", "-1")],
            [(":status", "200"), ("content-length", "1"), ("content-length", "2")],
            [(":status", "200"), ("content-length", "99999999999999999999")], [(":status", "200"), (":x", "1")],
        ] as [[(String, String)]]
    )
    func brokenHeads(fields: [(String, String)]) throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        let other = server.begin()
        _ = server.frames()
        server.send(RawFrames.headers(1, fields))
        #expect(exchange.failure?.kind == .invalidResponse)
        #expect(exchange.failure?.isUnprocessed == false)
        #expect(server.frames().contains(.reset(1, 1)))
        server.send(RawFrames.headers(3, ScriptedServer.ok, isLast: true))
        #expect(other.isComplete)
    }

    @Test("Broken heads fail their exchange also when the reset must wait for the channel")
    func brokenHeadWhileUnwritable() throws {
        for becomesWritableInRead in [false, true] {
            let server = try ScriptedServer()
            let exchange = server.begin()
            server.setWritable(false)
            server.channel.pipeline.fireChannelRead(ByteBuffer(bytes: RawFrames.headers(1, [("Upper", "x")])))
            if !becomesWritableInRead { server.channel.pipeline.fireChannelReadComplete() }
            server.channel.isWritable = true
            server.channel.pipeline.fireChannelWritabilityChanged()
            if becomesWritableInRead { server.channel.pipeline.fireChannelReadComplete() }
            #expect(exchange.failure?.kind == .invalidResponse)
            #expect(server.frames().contains(.reset(1, 1)))
        }
    }

    @Test("A body that differs from its Content-Length fails the exchange")
    func contentLength() throws {
        for (length, isLast) in [("2", false), ("4", true)] {
            let server = try ScriptedServer()
            let exchange = server.begin()
            server.send(RawFrames.headers(1, [(":status", "200"), ("content-length", length)]))
            server.send(RawFrames.data(1, [1, 2, 3], isLast: isLast))
            #expect(exchange.failure?.kind == .invalidResponse)
            #expect(exchange.failure?.explanation.contains("Content-Length") == true)
            #expect(server.channel.isActive)
        }
    }

    @Test("A Content-Length that occurs twice with one value is that length (RFC 9110 §8.6)")
    func repeatedContentLength() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(RawFrames.headers(1, [(":status", "200"), ("content-length", "3 , 3")]))
        server.send(RawFrames.data(1, [1, 2, 3], isLast: true))
        #expect(exchange.isComplete)
    }

    @Test("More fields than the limit fail the exchange")
    func fieldLimit() throws {
        var limits = HTTP2Limits()
        limits.fields = 3
        let server = try ScriptedServer(limits: limits)
        let exchange = server.begin()
        server.send(RawFrames.headers(1, ScriptedServer.ok + [("a", "1"), ("b", "1"), ("c", "1")]))
        #expect(exchange.failure?.kind == .limitExceeded)
    }

    @Test("A head of 200 KiB in CONTINUATION frames arrives, a larger one than the limit ends the connection")
    func largeHeads() throws {
        for (count, isAccepted) in [(13, true), (18, false)] {
            let server = try ScriptedServer()
            let exchange = server.begin()
            let value = String(repeating: "v", count: 15 << 10)
            var frames = RawFrames.frame(1, on: 1, RawFrames.block(ScriptedServer.ok))
            for number in 1...count {
                frames += RawFrames.frame(9, flags: number == count ? 4 : 0, on: 1, RawFrames.block([("f", value)]))
            }
            server.send(frames)
            #expect((exchange.head != nil) == isAccepted)
            #expect(server.channel.isActive == isAccepted)
            if !isAccepted { #expect(exchange.failure?.kind == .limitExceeded) }
        }
    }

    @Test("An exchange that cancels while it takes a part gets nothing more")
    func cancelInTake() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        _ = server.frames()
        exchange.didTake = { server.connection.cancel(exchange) }
        server.send(
            RawFrames.headers(1, ScriptedServer.ok),
            RawFrames.data(1, [1]),
            RawFrames.data(1, [2], isLast: true)
        )
        #expect(exchange.body == [1] && exchange.ends.isEmpty)
        #expect(server.frames().contains(.reset(1, 8)))
        let last = server.begin()
        last.didTake = { server.connection.cancel(last) }
        server.send(RawFrames.headers(3, ScriptedServer.ok), RawFrames.data(3, [1], isLast: true))
        #expect(last.ends.isEmpty && server.owner.capacities.last == 100)
    }
}
#endif

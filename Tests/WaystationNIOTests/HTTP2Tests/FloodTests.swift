#if NIO
import WaystationTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import WaystationNIO

@Suite("Floods of frames")
struct FloodTests {
    /// A frame without content, and its kind.
    static let floods: [(kind: String, frame: [UInt8])] = [
        ("SETTINGS", RawFrames.settings()), ("PING", RawFrames.ping()),
        ("PRIORITY", RawFrames.frame(2, on: 1, [0, 0, 0, 0, 9])), ("RST_STREAM", RawFrames.reset(1, 8)),
        ("WINDOW_UPDATE", RawFrames.windowUpdate(0, 1)), ("DATA", RawFrames.data(1)),
        ("HEADERS", RawFrames.headers(1, [(":status", "103")])), ("type 200", RawFrames.frame(200, [1, 2, 3])),
        ("CONTINUATION", RawFrames.frame(9, on: 1)), ("acknowledged PING", RawFrames.ping(isAcknowledgement: true)),
    ]

    @Test("Each kind of flood ends the connection and its exchanges, and costs no more frames", arguments: 0..<10)
    func floods(index: Int) throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        let other = server.begin()
        if Self.floods[index].kind != "HEADERS" { server.send(RawFrames.headers(1, ScriptedServer.ok)) }
        _ = server.frames()
        var count = 0
        while server.channel.isActive, count < 20_000 {
            server.send(Self.floods[index].frame)
            count += 1
        }
        #expect(count < 2500)
        #expect(!server.channel.isActive && server.owner.closeCount == 1)
        #expect(exchange.ends.count == 1 && other.ends.count == 1 && other.failure != nil)
    }

    @Test("A flood closes the connection with ENHANCE_YOUR_CALM")
    func calm() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        for _ in 0..<3000 where server.channel.isActive { server.send(RawFrames.windowUpdate(0, 1)) }
        let last = server.frames().last
        #expect(last?.type == 7 && last?.number(at: 4) == 11)
        #expect(exchange.failure?.kind == .limitExceeded)
        #expect(exchange.failure?.explanation.contains("WINDOW_UPDATE") == true)
    }

    @Test("The same frames over a longer time are no flood")
    func slow() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        for _ in 0..<5 {
            for _ in 0..<1000 { server.send(RawFrames.windowUpdate(0, 1)) }
            server.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        }
        server.send(RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(exchange.isComplete)
    }

    @Test("Frames that never end where a read ends do not make the codec's buffer grow")
    func neverAligned() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(RawFrames.headers(1, ScriptedServer.ok))
        let frame = RawFrames.frame(200, [UInt8](repeating: 1, count: 16_000))
        let (begin, rest) = (Array(frame[..<5]), Array(frame[5...]))
        server.send(begin)
        for _ in 0..<500 { server.send(rest + begin) }
        server.send(rest + RawFrames.data(1, [1, 2, 3], isLast: true))
        #expect(exchange.isComplete && exchange.body == [1, 2, 3])
        #expect(exchange.largestStorage < 100_000)
    }

    @Test("The detector counts frames at any split of the bytes, skips payloads, and accepts more after uploads")
    func detector() {
        var limits = HTTP2Limits()
        limits.framesWithoutContent = 2
        let now = NIODeadline.uptimeNanoseconds(1)
        let content = RawFrames.data(1, [UInt8](repeating: 6, count: 100)) + RawFrames.data(1, isLast: true)
        let bytes = content + RawFrames.ping() + content + RawFrames.ping() + content + RawFrames.ping()
        for size in [1, 2, 9, 10, 64, 1000] {
            var detector = FloodDetector(limits: limits)
            var results: [String?] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                results.append(detector.receive(ByteBuffer(bytes: bytes[start...].prefix(size)), now: now))
            }
            #expect(results.compactMap { $0 } == ["PING"])
            #expect(results.last == .some("PING") || results.contains("PING"))
        }
        for count in 0..<content.count {
            var detector = FloodDetector(limits: limits)
            _ = detector.receive(ByteBuffer(bytes: content[..<count]), now: now)
            #expect(detector.begun == (count < 109 ? count : count - 109))
        }
        var uploader = FloodDetector(limits: limits)
        _ = uploader.receive(ByteBuffer(bytes: RawFrames.ping()), now: now)
        uploader.send(8)
        #expect(uploader.receive(ByteBuffer(bytes: bytes), now: now) == nil)
        #expect(uploader.receive(ByteBuffer(bytes: RawFrames.ping()), now: now) == "PING")
        #expect(uploader.receive(ByteBuffer(bytes: RawFrames.ping()), now: now + .seconds(11)) == nil)
    }
}
#endif

#if NIO
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Heads of requests that are longer than one frame")
struct HeadFramerTests {
    /// About 25,000 bytes in the compression's code.
    private static let long = (0..<22).map { (name: "x-long-\($0)", value: String(repeating: "~", count: 700)) }

    private func decoder() -> HPACKDecoder {
        HPACKDecoder(allocator: ByteBufferAllocator(), maxDynamicTableSize: 1 << 16, maxHeaderListSize: 1 << 20)
    }

    /// The fields of a head that was sent in these frames, or nil if the frames are not those of one head.
    private func fields(_ frames: [SentFrame], _ decoder: inout HPACKDecoder) throws -> [String] {
        #expect(frames.map(\.type) == [1] + [UInt8](repeating: 9, count: frames.count - 1))
        #expect(frames.map { $0.flags & 0x4 != 0 } == [Bool](repeating: false, count: frames.count - 1) + [true])
        #expect(Set(frames.map(\.id)).count == 1)
        #expect(frames.dropFirst().allSatisfy { $0.flags & ~0x4 == 0 })
        var block = ByteBuffer(bytes: frames.flatMap(\.payload))
        return try decoder.decodeHeaders(from: &block).map { "\($0.name): \($0.value)" }
    }

    @Test("are split into HEADERS and CONTINUATION, and the requests after them arrive as they are")
    func split() throws {
        let server = try ScriptedServer()
        var decoder = decoder()
        let users = ["alice", "bob", "carol"]
        for user in users {
            server.begin(RecordingExchange(fields: [("x-user", user)]))
            let frames = server.frames()
            #expect(try fields(frames, &decoder).last == "x-user: \(user)")
        }
        let exchange = server.begin(RecordingExchange(fields: Self.long))
        let frames = server.frames()
        try #require(frames.count == 2)
        #expect(frames.allSatisfy { $0.payload.count <= 16_384 } && frames[0].isLast)
        #expect(try fields(frames, &decoder).suffix(22) == Self.long.map { "\($0.name): \($0.value)" }[...])
        server.send(RawFrames.headers(7, ScriptedServer.ok, isLast: true))
        #expect(exchange.isComplete)
        for number in 0..<30 {
            let user = users[number % 3]
            server.begin(RecordingExchange(fields: [("x-user", user)]))
            #expect(try fields(server.frames(), &decoder).last == "x-user: \(user)")
        }
        #expect(server.channel.isActive)
    }

    @Test("fill the frames that the server allows, also when it allows longer ones")
    func frameSize() throws {
        let server = try ScriptedServer(settings: [(5, 20_000)])
        server.begin(RecordingExchange("POST", .unknownLength, fields: Self.long))
        let frames = server.frames()
        #expect(frames.first?.payload.count == 20_000 && frames.count == 2)
        #expect(frames.first?.isLast == false)
        server.send(RawFrames.settings([(5, 100_000)]))
        server.begin(RecordingExchange(fields: Self.long.map { ($0.name, $0.value + "a") }))
        #expect(server.frames().filter { $0.type != 4 }.count == 1)
    }

    @Test("Bytes of a body that look like a head stay bytes of the body")
    func body() throws {
        let server = try ScriptedServer()
        let exchange = server.begin(RecordingExchange("POST", .unknownLength))
        _ = server.frames()
        let bytes = RawFrames.headers(1, ScriptedServer.ok) + RawFrames.headers(3, ScriptedServer.ok)
        server.connection.send(ByteBuffer(bytes: bytes), isLast: true, of: exchange)
        #expect(server.frames().map(\.payload) == [bytes])
    }

    @Test("that exceed what the server has announced fail before they are sent, and the connection stays")
    func tooLong() throws {
        let server = try ScriptedServer(settings: [(6, 10_000)])
        let exchange = server.begin(RecordingExchange(fields: Self.long))
        #expect(exchange.failure?.kind == .invalidRequest && exchange.failure?.isUnprocessed == false)
        #expect(exchange.failure?.explanation.contains("10000 at most") == true)
        #expect(server.frames().isEmpty && server.channel.isActive)
        let next = server.begin()
        let request = try #require(server.frames().last)
        server.send(RawFrames.headers(request.id, ScriptedServer.ok, isLast: true))
        #expect(next.isComplete)
    }

    @Test("A head that cannot be encoded ends the connection with everything on it")
    func unknown() throws {
        let server = try ScriptedServer()
        let exchanges = [server.begin(), server.begin()]
        server.connection.write(.headers(.init(headers: HeadFramer.standIn)), on: 99)
        #expect(exchanges.allSatisfy { $0.failure?.kind == .connectionLost })
        #expect(!server.channel.isActive && server.owner.closeCount == 1)
    }

    @Test("An error of the codec while it writes ends the connection with everything on it")
    func codecError() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        // The codec has no such stream.
        server.connection.write(.headers(.init(headers: HeadFramer.standIn)), on: 2)
        #expect(exchange.ends.count == 1 && !server.channel.isActive)
    }

    @Test("A head that the codec holds back is forgotten when its exchange is cancelled")
    func cancelled() throws {
        let server = try ScriptedServer()
        // The codec takes the channel for full, the connection does not.
        server.setWritable(false)
        server.channel.isWritable = true
        let exchange = server.begin(RecordingExchange(fields: Self.long))
        #expect(server.frames().isEmpty)
        server.connection.cancel(exchange)
        server.setWritable(true)
        server.begin(RecordingExchange(fields: [("x-user", "dora")]))
        let frames = server.frames()
        #expect(frames.map(\.type) == [1])
        var decoder = decoder()
        #expect(try fields(frames, &decoder).last == "x-user: dora")
    }

    @Test(
        "The table has the size that the server allows, but 64 KiB at most",
        arguments: [0, 100, 4096, 5000, 1 << 20]
    )
    func table(size: UInt32) throws {
        let server = try ScriptedServer(settings: [(1, size)])
        var decoder = HPACKDecoder(
            allocator: ByteBufferAllocator(),
            maxDynamicTableSize: min(Int(size), 1 << 16),
            maxHeaderListSize: 1 << 20
        )
        for number in 0..<300 {
            let fields = [(name: "x-\(number)", value: String(repeating: "v", count: 500))]
            server.begin(RecordingExchange(fields: fields))
            #expect(try self.fields(server.frames(), &decoder).last == "x-\(number): \(fields[0].value)")
            #expect(decoder.allowedDynamicTableLength == min(Int(size), 1 << 16))
            server.send(RawFrames.headers(UInt32(number) * 2 + 1, ScriptedServer.ok, isLast: true))
            _ = server.frames()
        }
    }
}
#endif

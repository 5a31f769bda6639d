#if NIO
import Foundation
import NIOCore
import Testing

@testable import WaystationNIO

/// Repeats each byte, or fails at a byte `!`.
struct RepeatingDecoder: ContentDecoder {
    struct Damage: Error {}
    private var held: [UInt8] = []
    private var output: [UInt8] = []

    mutating func append(_ part: ByteBuffer) { held += part.readableBytesView }

    mutating func next() throws -> Data? {
        if output.isEmpty, !held.isEmpty {
            let byte = held.removeFirst()
            guard byte != UInt8(ascii: "!") else { throw Damage() }
            output = [UInt8](repeating: byte, count: 2)
        }
        guard !output.isEmpty else { return nil }
        defer { output = [] }
        return Data(output)
    }

    mutating func finish() throws {
        if !held.isEmpty { throw Damage() }
    }
}

@Suite("The parts of a body that have arrived")
struct ArrivedBodyTests {
    private func body(_ decoder: RepeatingDecoder? = nil) -> ArrivedBody {
        var body = ArrivedBody(limits: NIOOptions.Limits())
        body.decoder = decoder
        return body
    }

    @Test("are joined to one")
    func joined() throws {
        var body = body()
        body.append(ByteBuffer(string: "ab"))
        body.append(ByteBuffer(string: ""))
        body.append(ByteBuffer(string: "cd"))
        #expect(try body.next() == Data("abcd".utf8))
        #expect(try body.next() == nil)
        body.append(ByteBuffer(string: "e"))
        #expect(try body.next() == Data("e".utf8))
    }

    @Test("keep no buffer of the socket for each small one")
    func small() throws {
        var body = body()
        var expected = Data()
        for number in 0..<1000 {
            let read = ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: 32 << 10)
            let part = try #require(read.getSlice(at: 0, length: number % 100 == 0 ? 20_000 : 1))
            body.append(part)
            expected += Data(part.readableBytesView)
        }
        let kept = body.parts.reduce(0) { $0 + $1.storageCapacity }
        #expect(kept < 3_000_000)
        #expect(try body.next() == expected)
        body.append(ByteBuffer(string: "e"))
        #expect(try body.next() == Data("e".utf8))
    }

    @Test("leave room for more up to 64 KiB")
    func room() throws {
        var body = body()
        body.append(ByteBuffer(repeating: 0, count: (64 << 10) - 1))
        #expect(body.hasRoom)
        body.append(ByteBuffer(repeating: 0, count: 1))
        #expect(!body.hasRoom)
        _ = try body.next()
        #expect(body.hasRoom)
    }

    @Test("are decoded one piece at a time; what was not asked for stays encoded")
    func decoded() throws {
        var body = body(RepeatingDecoder())
        body.append(ByteBuffer(string: "ab"))
        body.append(ByteBuffer(repeating: UInt8(ascii: "c"), count: 64 << 10))
        #expect(try body.next() == Data("aa".utf8))
        #expect(!body.hasRoom)
        #expect(try body.next() == Data("bb".utf8))
        #expect(try body.next() == Data("cc".utf8))
        #expect(body.hasRoom)
    }

    @Test("fail the load when they cannot be decoded")
    func damaged() {
        var body = body(RepeatingDecoder())
        body.append(ByteBuffer(string: "!"))
        #expect(throws: TransportFailure.self) { try body.next() }
    }

    @Test("A body without bytes is complete, whatever its coding")
    func empty() throws {
        var body = body(RepeatingDecoder())
        body.complete()
        #expect(try body.next() == nil)
    }
}

@Suite("The body of a request")
struct BodySourceTests {
    @Test("fails when the app closes its stream while it is read")
    func closed() async throws {
        let stream = InputStream(data: Data(count: 200 << 10))
        stream.open()
        let body = BodyStream(stream)
        stream.close()
        let piece = await withCheckedContinuation { continuation in body.read { continuation.resume(returning: $0) } }
        guard case .failure(let reason) = piece else {
            Issue.record("\(piece)")
            return
        }
        #expect(reason == "the stream was closed while it was read")
    }

    private func piece(_ next: BodySource.Next) -> (Int, Bool)? {
        guard case .piece(let bytes, let isLast) = next else { return nil }
        return (bytes.readableBytes, isLast)
    }

    @Test("is cut into pieces of 64 KiB, and can be sent again from its start")
    func pieces() {
        var source = BodySource(.data(Data(count: (64 << 10) + 1)[...]))
        for _ in 0..<2 {
            let pieces = [source.next(), source.next(), source.next()].compactMap(piece)
            #expect(pieces.map(\.0) == [64 << 10, 1, 0])
            #expect(pieces.map(\.1) == [false, true, true])
            #expect(source.isRepeatable)
            source.rewind()
        }
    }

    @Test("A slice of other data is sent from its own start")
    func slice() throws {
        var source = BodySource(.data(Data("abcdef".utf8)[2..<4]))
        guard case .piece(let bytes, true) = source.next() else {
            Issue.record("The slice is sent in one piece.")
            return
        }
        #expect(String(buffer: bytes) == "cd")
    }

    @Test("A stream cannot be sent again once it was read")
    func stream() {
        var source = BodySource(.stream(BodyStream(InputStream(data: Data("x".utf8)))))
        #expect(source.isRepeatable)
        _ = source.next()
        #expect(!source.isRepeatable)
    }

    @Test("The progress adds up, and is reported once")
    func progress() throws {
        var progress = UploadProgress(.length(10))
        try progress.send(4)
        try progress.send(3)
        let reports = [progress.takeReport(), progress.takeReport()].compactMap { $0 }
        #expect(reports.count == 1)
        #expect(reports.first.map { [$0.count, $0.total, $0.expected] } == [7, 7, 10])
        #expect(throws: TransportFailure.self) { try progress.end() }
        try progress.send(3)
        try progress.end()
        #expect(throws: TransportFailure.self) { try progress.send(1) }
    }

    @Test("Without a length the expectation is -1, and every length is right")
    func unknownLength() throws {
        var progress = UploadProgress(.unknownLength)
        try progress.send(4)
        try progress.end()
        let report = progress.takeReport()
        #expect(report.map { [$0.count, $0.total, $0.expected] } == [4, 4, -1])
    }
}
#endif

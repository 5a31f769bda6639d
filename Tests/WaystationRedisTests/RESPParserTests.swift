#if Redis
import NIOCore
import Testing
import WaystationTesting

@testable import WaystationRedis

@Suite("The parser of Redis' replies")
struct RESPParserTests {
    /// Every type of RESP2 and RESP3, and what it means.
    private static let replies: [(bytes: String, value: RESPValue)] = [
        ("+OK\r\n", .text("OK")), ("-ERR no\r\n", .error("ERR no")), (":-12\r\n", .number(-12)),
        (":9223372036854775807\r\n", .number(.max)), ("$5\r\nab\r\nc\r\n", .bytes(ByteBuffer(string: "ab\r\nc"))),
        ("$0\r\n\r\n", .bytes(ByteBuffer())), ("$-1\r\n", .null), ("*-1\r\n", .null), ("_\r\n", .null),
        ("*0\r\n", .list([])), ("*2\r\n:1\r\n*1\r\n+a\r\n", .list([.number(1), .list([.text("a")])])),
        ("#t\r\n", .number(1)), ("#f\r\n", .number(0)), (",1.5\r\n", .text("1.5")), ("(123\r\n", .text("123")),
        ("!3\r\nERR\r\n", .error("ERR")), ("=6\r\ntxt:ab\r\n", .bytes(ByteBuffer(string: "ab"))),
        ("%1\r\n+a\r\n:1\r\n", .list([.text("a"), .number(1)])), ("~1\r\n:1\r\n", .list([.number(1)])),
        (">2\r\n+a\r\n_\r\n", .push([.text("a"), .null])),
        // An attribute belongs to the value after it.
        ("|1\r\n+ttl\r\n:3\r\n:7\r\n", .number(7)),
        ("*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n", .list([.number(1), .number(2)])),
    ]

    /// Reads all values of parts.
    private func read(_ parts: [ArraySlice<UInt8>], _ limits: RESPParser.Limits = .init()) throws -> [RESPValue] {
        var parser = RESPParser(limits: limits)
        var values: [RESPValue] = []
        for part in parts {
            parser.append(ByteBuffer(bytes: part))
            while let value = try parser.next() { values.append(value) }
        }
        return values
    }

    @Test("keep no more of the received bytes for the strings of a list than the strings themselves")
    func memoryOfLists() throws {
        var parser = RESPParser()
        // The parser adds what follows to the first buffer, or to copies of it.
        var first = ByteBufferAllocator().buffer(capacity: 1 << 16)
        first.writeString("*100\r\n")
        parser.append(first)
        #expect(try parser.next() == nil)
        for number in 0..<100 {
            var received = ByteBufferAllocator().buffer(capacity: 1 << 16)
            received.writeString("$1\r\nx\r\n")
            parser.append(received)
            guard number == 99 else {
                #expect(try parser.next() == nil)
                continue
            }
            let elements = try #require(try parser.next()?.elements)
            let capacities = elements.map { if case .bytes(let bytes) = $0 { bytes.storageCapacity } else { 0 } }
            #expect(capacities.count == 100 && capacities.allSatisfy { $0 < 1_024 })
        }
    }

    @Test("reads every type, wherever the bytes are split")
    func splits() throws {
        let bytes = Self.replies.flatMap { Array($0.bytes.utf8) }
        let expected = Self.replies.map(\.value)
        #expect(try read([bytes[...]]) == expected)
        #expect(try read(bytes.indices.map { bytes[$0...$0] }) == expected)
        for place in bytes.indices { #expect(try read([bytes[..<place], bytes[place...]]) == expected) }
    }

    @Test(
        "refuses what is not of the protocol",
        arguments: [
            "\r\n", "OK\r\n", ":\r\n", ":+1\r\n", ":1a\r\n", ":99999999999999999999\r\n", ":1\n", "$-2\r\n", "$a\r\n",
            "$1\r\nab\r\n", "*-2\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n", "#x\r\n", "#\r\n", "_x\r\n", "=2\r\nab\r\n",
            "=-1\r\n",
            "$?\r\n", "*?\r\n", "$4294967296\r\n", "HTTP/1.1 400 Bad Request\r\n",
        ]
    )
    func malformed(text: String) {
        #expect(throws: RESPParser.Malformed.self) { try read([Array(text.utf8)[...]]) }
    }

    @Test("reads nothing more after an error")
    func afterError() {
        var parser = RESPParser()
        parser.append(ByteBuffer(string: "x\r\n"))
        #expect(throws: RESPParser.Malformed.self) { try parser.next() }
        parser.append(ByteBuffer(string: "+OK\r\n"))
        #expect(throws: RESPParser.Malformed.self) { try parser.next() }
    }

    @Test(
        "refuses a reply beyond its limits before it has arrived",
        arguments: [
            "$11\r\n", "*2\r\n$6\r\nabcdef\r\n$5\r\n", "*9\r\n", "*8\r\n*1\r\n", "%5\r\n", "%4611686018427387904\r\n",
            "*1\r\n*1\r\n*1\r\n*1\r\n", "*3\r\n+abcd\r\n-abcd\r\n,123\r\n", "+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ]
    )
    func limits(text: String) {
        let limits = RESPParser.Limits(line: 32, bytes: 10, elements: 8, depth: 3)
        #expect(throws: RESPParser.Malformed.self) { try read([Array(text.utf8)[...]], limits) }
    }

    @Test("counts the limits anew for each reply")
    func repeated() throws {
        let limits = RESPParser.Limits(line: 32, bytes: 10, elements: 8, depth: 3)
        let bytes = Array(String(repeating: "*1\r\n$10\r\n0123456789\r\n", count: 100).utf8)
        #expect(try read([bytes[...]], limits).count == 100)
    }

    @Test("ends with values or an error after random damage, in any parts")
    func damage() {
        var generator = SeededGenerator(seed: 16)
        let good = Self.replies.flatMap { Array($0.bytes.utf8) }
        for _ in 0..<20_000 {
            var bytes = good.shuffled(by: Int.random(in: 0..<good.count, using: &generator))
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            var parts: [ArraySlice<UInt8>] = []
            while !bytes.isEmpty {
                let count = Int.random(in: 1...min(40, bytes.count), using: &generator)
                parts.append(bytes.prefix(count))
                bytes.removeFirst(count)
            }
            if let values = try? read(parts) { #expect(values.count <= good.count) }
        }
    }
}

extension [UInt8] {
    /// The bytes from a place on, and then those before it.
    fileprivate func shuffled(by place: Int) -> [UInt8] { Array(self[place...] + self[..<place]) }
}
#endif

#if NIO
import Foundation
import FoundationNetworking
import Testing

@testable import WaystationNIO

@Suite("Hostile responses", .timeLimit(.minutes(5)))
struct HostileResponseTests {
    /// Pieces of which responses are put together, valid and not.
    private static let pieces: [String] = [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 304 Not Modified\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 X\r\n", "HTTP/1.1 099 X\r\n", "HTTP/1.1 200\r\n",
        "HTTP/9.9 200 OK\r\n",
        "HTTP/2.0 200 OK\r\n", "ICY 200 OK\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 99999999999999999999\r\n", "Content-Length: 5, 5\r\n", "content-length:\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding:\u{B}chunked\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n",
        "Connection: Upgrade\r\n",
        "Upgrade: h2c\r\n", "A:\r\n", "A\r\n", ": x\r\n", " folded\r\n", "A: \u{0}\r\n", "Ä: ö\r\n", "A: b\n", "\r",
        "\n", "\r\n",
        "\r\n", "\r\n", "\r\n\r\n", "5\r\n", "hello", "hello\r\n", "0\r\n", "0\r\n\r\n", "5;a=\"b\r\n",
        "FFFFFFFFFFFFFFFF\r\n",
        "fffffffffffffffff\r\n", "-5\r\n", "0x5\r\n", "T: 1\r\n", "T:\r\n", "T", "\u{0}", "Content-Encoding: gzip\r\n",
        "Set-Cookie: a=b\r\n", "Trailer: T\r\n",
    ]

    private static func response(_ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        if Int.random(in: 0..<8, using: &random) > 0 {
            bytes += Array("HTTP/1.1 200 OK\r\n".utf8)
        }
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
            bytes += Array((pieces.randomElement(using: &random) ?? "").utf8)
        }
        // Some are damaged.
        for _ in 0..<Int.random(in: -6..<3, using: &random).clamped where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            }
        }
        return bytes
    }

    /// The bytes in several writes, so that the parser is stopped at any place.
    private static func script(_ seed: UInt64) -> [RawOrigin.Step] {
        var random = SeededRandom(seed: seed)
        var rest = response(&random)[...]
        var steps: [RawOrigin.Step] = [.request]
        while !rest.isEmpty {
            let count = Bool.random(using: &random) ? rest.count : Int.random(in: 1...rest.count, using: &random)
            steps.append(.sendBytes(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return steps + [.close]
    }

    @Test("3,000 responses put together at random each end with an answer or an error", arguments: 0..<30)
    func random(block: Int) async throws {
        let origin = try RawOrigin { number in Self.script(UInt64(block * 1_000_003 + number)) }
        let transport = NIOTransport.plain()
        let methods = ["GET", "POST", "HEAD", "PUT"]
        let recorders = (0..<100).map { number in
            let recorder = Recorder()
            let request = URLRequest(origin.url("/\(number)")) {
                $0.httpMethod = methods[number % methods.count]
                $0.timeoutInterval = 120
            }
            _ = transport.start(request, receiver: recorder)
            return recorder
        }
        for (number, recorder) in recorders.enumerated() {
            let outcome = await recorder.end()
            #expect(outcome.wrongCalls == 0, "block \(block), exchange \(number)")
            #expect(outcome.code != .timedOut, "block \(block), exchange \(number)")
            #expect(outcome.status != nil || outcome.error != nil, "block \(block), exchange \(number)")
        }
        // The loop is still alive.
        let sane = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")] }
        #expect(await transport.load(sane.url()).text == "ok")
    }
}

/// A random number generator that always makes the same numbers from a seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension Int {
    fileprivate var clamped: Int { Swift.max(0, self) }
}
#endif

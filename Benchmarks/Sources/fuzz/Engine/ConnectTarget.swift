#if DEBUG || TESTABLE
import Foundation
import NIOCore
@testable import WaystationNIO

/// Reads a proxy's answer to CONNECT, once in reads and once as a whole: both must give the same result.
struct ConnectTarget: FuzzTarget {
    let maximumLength = 40 << 10

    func seeds() throws -> [Data] {
        [
            "HTTP/1.1 200 OK\r\n\r\nbytes of the tunnel", "HTTP/1.0 204\r\nA: b\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Connection established\r\nProxy-Agent: x\r\n\r\n",
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n",
            "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\nnope", "SSH-2.0-x\r\n\r\n",
            "HTTP/1.1 103 Early\r\nA: \(String(repeating: "a", count: 16_300))\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ].flatMap { text in [UInt8(0), 1, 17].map { Data(InputParts.input(Array(text.utf8), by: $0)) } }
    }

    func run(_ input: Data) throws {
        let parts = Array(InputParts([UInt8](input)[...]))
        var whole = ConnectExchange()
        var cut = ConnectExchange()
        let expected = whole.receive(ByteBuffer(bytes: parts.joined()))
        var answer = ConnectExchange.Answer.needsMore
        var rest: [UInt8] = []
        for part in parts {
            if answer == .needsMore { answer = cut.receive(ByteBuffer(bytes: part)) } else { rest += part }
        }
        if case .open(var early) = answer {
            early.writeBytes(rest)
            answer = .open(early)
        }
        try Finding.unless(answer == expected, "in reads: \(answer), as a whole: \(expected)")
        let length = parts.reduce(0) { $0 + $1.count }
        let isBounded = answer != .needsMore || length < ConnectExchange.maximumHead
        try Finding.unless(isBounded, "\(length) bytes without an answer")
    }
}
#endif

#if NIO
import NIOCore
import Testing

@testable import WaystationNIO

@Suite("CONNECT as a state machine")
struct ConnectExchangeTests {
    @Test("The request names the origin twice and carries the authorization")
    func request() {
        let bytes = ConnectExchange.request(authority: "origin.test:443", authorization: "Basic eA==")
        let expected = """
            CONNECT origin.test:443 HTTP/1.1\r
            Host: origin.test:443\r
            Proxy-Authorization: Basic eA==\r
            Proxy-Connection: Keep-Alive\r
            \r

            """
        #expect(bytes.map { String(buffer: $0) } == expected)
    }

    @Test("The request carries the mark of its sender, if it has one (RFC 9110 §7.6.3)")
    func via() {
        let bytes = ConnectExchange.request(authority: "a:1", authorization: nil, via: "1.1 sender")
        #expect(bytes.map { String(buffer: $0).contains("\r\nVia: 1.1 sender\r\n") } == true)
        #expect(ConnectExchange.request(authority: "a:1", authorization: nil, via: "a\r\nX: y") == nil)
    }

    @Test("Values that would start another line are refused")
    func injection() {
        #expect(ConnectExchange.request(authority: "a\r\nX: y", authorization: nil) == nil)
        #expect(ConnectExchange.request(authority: "a b", authorization: nil) == nil)
        #expect(ConnectExchange.request(authority: "a:1", authorization: "Basic\r\nX: y") == nil)
    }

    @Test("A 2xx opens the tunnel, whatever its fields say, and the bytes after it belong to the tunnel")
    func opens() {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\nbytes"
        #expect(receive(answer) == .open(ByteBuffer(string: "bytes")))
        #expect(receive("HTTP/1.0 204\r\n\r\n") == .open(ByteBuffer()))
    }

    @Test("The answer may arrive byte by byte")
    func byteByByte() {
        var exchange = ConnectExchange()
        let answer = Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8)
        for byte in answer.dropLast() { #expect(exchange.receive(ByteBuffer(bytes: [byte])) == .needsMore) }
        #expect(exchange.receive(ByteBuffer(bytes: answer.suffix(1))) == .open(ByteBuffer()))
    }

    @Test("The largest heads may arrive byte by byte, and need no more work than in one piece")
    func largeByteByByte() {
        var exchange = ConnectExchange()
        let filler = String(repeating: "\r\n\r", count: (ConnectExchange.maximumHead - 100) / 3)
        let answer = Array("HTTP/1.1 103 X\r\nA: \(filler)a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8)
        for byte in answer.dropLast() { #expect(exchange.receive(ByteBuffer(bytes: [byte])) == .needsMore) }
        #expect(exchange.receive(ByteBuffer(bytes: answer.suffix(1))) == .open(ByteBuffer()))
    }

    @Test("Other statuses are refusals that name the status", arguments: [101, 302, 403, 407, 502, 999])
    func refusals(status: Int) throws {
        let answer = receive("HTTP/1.1 \(status) X\r\nContent-Length: 4\r\n\r\nnope")
        #expect(answer == .refused(.status(status)))
        #expect(ConnectFailure.status(status).description.contains("status \(status)"))
    }

    @Test(
        "Other answers are not HTTP",
        arguments: [
            "SSH-2.0-x\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 0999 \r\n\r\n", "\r\n\r\n",
        ]
    )
    func notHTTP(answer: String) {
        #expect(receive(answer) == .refused(.notHTTP))
    }

    @Test("A head of more than 16 KiB is refused, also as a sequence of interim responses")
    func tooLarge() {
        #expect(receive("HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 16 << 10)) == .refused(.headTooLarge))
        let interim = "HTTP/1.1 103 Early\r\nA: " + String(repeating: "a", count: 5000) + "\r\n\r\n"
        #expect(receive(String(repeating: interim, count: 4)) == .refused(.headTooLarge))
    }

    private func receive(_ answer: String) -> ConnectExchange.Answer {
        var exchange = ConnectExchange()
        return exchange.receive(ByteBuffer(string: answer))
    }
}
#endif

#if NIO
import NIOHPACK
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Fields of HTTP/2 requests")
struct RequestFieldsTests {
    private func head(_ fields: [(name: String, value: String)], target: String = "/") -> EngineRequestHead {
        EngineRequestHead(
            method: "GET",
            scheme: "https",
            authority: "o.test:8",
            target: target,
            fields: fields,
            framing: .none
        )
    }

    @Test("Fields of HTTP/1.1 connections are dropped, with those that Connection names")
    func dropped() throws {
        let fields = [
            "Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Proxy-Connection: keep-alive",
            "Transfer-Encoding: chunked", "Upgrade: h2c", "HTTP2-Settings: x", "Host: a.test", "TE: gzip", "X-End: 2",
        ]
        #expect(try sent(fields) == ["x-end: 2"])
    }

    @Test("Names become lower case, order and repetitions stay, and TE: trailers is sent")
    func kept() throws {
        #expect(
            try sent(["X-B: 1", "x-a: 2", "X-B: 3", "TE: trailers"]) == ["x-b: 1", "x-a: 2", "x-b: 3", "te: trailers"]
        )
    }

    @Test("Credentials are kept out of the table of the compression")
    func credentials() throws {
        let headers = try RequestFields.make(head([("Authorization", "s"), ("Cookie", "c")])).get()
        let indexing = headers.reduce(into: [:]) { $0[$1.name] = $1.indexable }
        #expect(indexing["authorization"] == .neverIndexed)
        #expect(indexing["cookie"] == .indexable)
    }

    @Test(
        "What HTTP/2 cannot carry is named",
        arguments: [("a b", "x"), ("", "x"), ("é", "x"), ("a", "x\r\ny"), ("a", "\0"), ("a", " x"), ("a", "x\t")]
    )
    func invalid(name: String, value: String) {
        #expect(throws: RequestFields.Invalid(name: name, value: value)) {
            try RequestFields.make(head([(name, value)])).get()
        }
    }

    @Test("A target with a space or without anything is refused", arguments: ["/a b", "", "/\n"])
    func invalidTarget(target: String) {
        #expect(throws: RequestFields.Invalid(name: ":path", value: target)) {
            try RequestFields.make(head([], target: target)).get()
        }
    }

    @Test("A CONNECT, whose head has another form, is refused")
    func connect() {
        var head = head([])
        head.method = "CONNECT"
        #expect(throws: RequestFields.Invalid(name: ":method", value: "CONNECT")) {
            try RequestFields.make(head).get()
        }
    }

    private func sent(_ lines: [String]) throws -> [String] {
        let fields = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1].dropFirst()))
        }
        return try RequestFields.make(head(fields)).get().dropFirst(4).map { "\($0.name): \($0.value)" }
    }
}
#endif

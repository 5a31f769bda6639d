#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationTesting

/// Values of fields that are not UTF-8 (RFC 9110 §5.5).
@Suite("The bytes of fields at a gateway", .timeLimit(.minutes(10)))
struct FieldBytesTests {
    /// Bytes of a text in ISO 8859-1.
    private static func latin(_ text: String) -> Data {
        Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    private func fixture(_ port: Int, isProxy: Bool = false) async throws -> GatewayFixture {
        try await GatewayFixture {
            $0.isProxy = isProxy
        } interceptor: {
            $0.transport = .nio
            $0.rules.append(.allow("http://127.0.0.1:\(port)/**", via: .network))
        }
    }

    private func answer(to request: Data, at fixture: GatewayFixture) async throws -> Data {
        let connection = try RawConnection(fixture.port)
        connection.send(request)
        return await connection.read()
    }

    @Test("of a response are those of the origin, by its name and by a proxy", arguments: [false, true])
    func response(isProxied: Bool) async throws {
        let lines = [
            "ETag: \"caf\u{E9}\"", "Content-Disposition: attachment; filename=\"caf\u{E9}.txt\"",
            "Set-Cookie: a=caf\u{E9}",
            "X-All: " + String(String.UnicodeScalarView((0x80...0xFF).compactMap(Unicode.Scalar.init(_:)))),
            // UTF-8, byte by byte.
            "X-Text: \u{C3}\u{A9}",
        ]
        let head = (["HTTP/1.1 302 Found"] + lines).joined(separator: "\r\n")
        let origin = try ScriptedOrigin { request in
            let location = "http://\(request.value(of: "Host") ?? "")/caf\u{E9}"
            return .raw(Self.latin(head + "\r\nLocation: \(location)\r\nContent-Length: 2\r\n\r\n\u{E9}\u{A9}"))
        }
        let fixture = try await fixture(Int(origin.port), isProxy: true)
        let name = isProxied ? "127.0.0.1:\(origin.port)" : fixture.name(of: origin)
        let target = isProxied ? "http://\(name)/" : "/"
        let bytes = try await answer(
            to: Data("GET \(target) HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8),
            at: fixture
        )
        for line in lines + ["Location: http://\(name)/caf\u{E9}"] {
            #expect(bytes.range(of: Self.latin("\r\n\(line)\r\n")) != nil, "\(line)")
        }
        #expect(bytes.suffix(6) == Self.latin("\r\n\r\n\u{E9}\u{A9}"))
    }

    @Test("of a request are those of the browser, however its head is cut into reads")
    func request() async throws {
        let server = try EchoServer(answer: Data("HTTP/1.1 304 Not Modified\r\n\r\n".utf8))
        let fixture = try await fixture(server.port)
        let lines = [
            "If-None-Match: \"caf\u{E9}\"", "X-Both: \u{C3}\u{A9} \u{E9}", "X-Text: \u{C3}\u{A9}", "X-Padded: \u{FF}",
        ]
        let host = "127-0-0-1-\(server.port)-http.localhost:\(fixture.port)"
        let request = Self.latin("GET / HTTP/1.1\r\nHost: \(host)\r\n" + lines.joined(separator: "\r\n") + " \r\n\r\n")
        let connection = try RawConnection(fixture.port)
        connection.send(request)
        let isAnswered: @Sendable (Data) -> Bool = { $0.suffix(4) == Data("\r\n\r\n".utf8) }
        #expect(RawResponse(await connection.read(until: isAnswered))?.status == 304)
        for byte in request { connection.send(Data([byte])) }
        #expect(RawResponse(await connection.read(until: isAnswered))?.status == 304)
        let heads = Array(server.received.split(separator: Data("\r\n\r\n".utf8)))
        #expect(heads.count == 2)
        for head in heads {
            for line in lines {
                #expect((head + Data("\r\n".utf8)).range(of: Self.latin("\r\n\(line)\r\n")) != nil, "\(line)")
            }
        }
    }

    @Test("are told from those of bodies, also when a client does not wait for a response")
    func pipelined() async throws {
        let origin = try ScriptedOrigin { .ok($0.body) }
        let fixture = try await fixture(Int(origin.port))
        let body = Data(0...255) + Data("\n\u{E9}".utf8)
        let host = "Host: \(fixture.name(of: origin))\r\n"
        let fields = "X-Text: \u{E9}\r\n"
        var requests = Data("POST /1 HTTP/1.1\r\n\(host)\(fields)Content-Length: \(body.count)\r\n\r\n".utf8)
        requests.append(body)
        let size = String(body.count, radix: 16)
        requests.append(
            Data("POST /2 HTTP/1.1\r\n\(host)\(fields)Transfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8)
        )
        requests.append(body)
        requests.append(Data("\r\n0\r\n\r\n".utf8))
        for number in 3...4 { requests.append(Data("GET /\(number) HTTP/1.1\r\n\(host)\(fields)\r\n".utf8)) }
        requests.append(Data("GET /5 HTTP/1.1\r\n\(host)\(fields)Connection: close\r\n\r\n".utf8))
        _ = try await answer(to: requests, at: fixture)
        #expect(origin.requests.map(\.target) == (1...5).map { "/\($0)" })
        #expect(origin.requests.allSatisfy { $0.value(of: "X-Text") == "\u{E9}" })
        #expect(origin.requests.prefix(2).map(\.body) == [body, body])
    }

    @Test("pass both ways when a web socket opens, and its own bytes are left alone")
    func webSocket() async throws {
        let frames = Data([0x82, 2, 0xE9, 0xC3])
        let answer = Self.latin(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Name: caf\u{E9}\r\n\r\n"
        )
        let server = try EchoServer(answer: answer + frames)
        let fixture = try await fixture(server.port)
        let fields = WebSocketTests.handshake + ["X-Name: caf\u{E9}"]
        let host = "127-0-0-1-\(server.port)-http.localhost:\(fixture.port)"
        let head = ["GET / HTTP/1.1", "Host: \(host)"] + fields + ["", ""]
        let connection = try RawConnection(fixture.port)
        connection.send(Self.latin(head.joined(separator: "\r\n")))
        let bytes = await connection.read { $0.suffix(4) == frames }
        #expect(bytes.suffix(4) == frames)
        #expect(bytes.range(of: Self.latin("\r\nX-Name: caf\u{E9}\r\n")) != nil)
        #expect(server.received.range(of: Self.latin("\r\nX-Name: caf\u{E9}\r\n")) != nil)
    }
}
#endif

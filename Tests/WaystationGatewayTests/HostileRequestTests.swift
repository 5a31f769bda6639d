#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTesting

@Suite("A gateway, asked by a hostile client,", .timeLimit(.minutes(10)))
struct HostileRequestTests {
    /// Requests by what they try; `HOST` stands for a valid name of the origin.
    private static let requests: [String: String] = [
        "no host": "GET / HTTP/1.1\r\n\r\n",
        "two hosts": "GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
        "a host of an attacker": "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "an address": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "a name with another port": "GET / HTTP/1.1\r\nHost: shop.example.localhost:1\r\n\r\n",
        "a name within another": "GET / HTTP/1.1\r\nHost: HOST.evil.example\r\n\r\n",
        "a name and a password": "GET / HTTP/1.1\r\nHost: a:b@HOST\r\n\r\n",
        "a space in the target": "GET /a b HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a fragment": "GET /a#b HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a byte that is no ASCII": "GET /\u{e4} HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "no target": "GET  HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "the asterisk": "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "another scheme": "GET ftp://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "an https URL": "GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a URL of another host than Host": "GET http://evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a URL as of a proxy": "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "CONNECT": "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        "a length and chunks":
            "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "two lengths": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "a list of lengths": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1, 2\r\n\r\nab",
        "a negative length": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n",
        "a length with a sign": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: +1\r\n\r\na",
        "a length beyond all numbers": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "a coding that is not chunked": "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip\r\n\r\n",
        "chunked before another coding":
            "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        "a misspelled coding": "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "a chunk size that is no number": "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "a chunk size beyond all numbers":
            "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "a space before the colon": "GET / HTTP/1.1\r\nHost : HOST\r\n\r\n",
        "a folded line": "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n",
        "a NUL in a value": "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\u{0}b\r\n\r\n",
        "a bare CR in a value": "GET / HTTP/1.1\r\nHost: HOST\r\nX: a\rb\r\n\r\n",
        "a method that is none": "G@T / HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "version 0.9": "GET /\r\n\r\n",
        "version 3": "GET / HTTP/3.0\r\nHost: HOST\r\n\r\n",
        "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a long target": "GET /\(String(repeating: "a", count: 300_000)) HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a long field": "GET / HTTP/1.1\r\nHost: HOST\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n",
        "many fields": "GET / HTTP/1.1\r\nHost: HOST\r\n\(String(repeating: "X: 1\r\n", count: 1_000))\r\n",
        "TLS": "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n",
        "a page of another site that writes":
            "POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: https://evil.example\r\nContent-Length: 1\r\n\r\na",
        "a page of another site that reads": "GET / HTTP/1.1\r\nHost: HOST\r\nOrigin: https://evil.example\r\n\r\n",
        "a page of another port":
            "POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: http://shop.example.localhost:1\r\nContent-Length: 0\r\n\r\n",
        "a page without an origin": "POST / HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nContent-Length: 0\r\n\r\n",
        "a form of another site":
            "POST / HTTP/1.1\r\nHost: HOST\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nContent-Length: 0\r\n\r\n",
    ]

    @Test(
        "refuses it with a status from 400, or closes the connection, and sends nothing on",
        arguments: requests.keys.sorted()
    )
    func refuses(attempt: String) async throws {
        let origin = try ScriptedOrigin { _ in .ok("reached") }
        let fixture = try await GatewayFixture(origin: origin)
        let text = try #require(Self.requests[attempt]).replacing("HOST", with: fixture.name(of: origin))
        let connection = try RawConnection(fixture.port)
        connection.send(Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }))
        connection.endSending()
        let answer = await connection.read()
        if let response = RawResponse(answer) { #expect((400..<600).contains(response.status)) }
        #expect(!String(decoding: answer, as: UTF8.self).contains("reached"))
        #expect(origin.requestCount == 0)
        // The gateway goes on.
        #expect(try await fixture.get("/", host: fixture.name(of: origin)).text == "reached")
    }

    @Test("ends a connection that sends nothing, and a body that does not arrive")
    func slowness() async throws {
        let origin = try ScriptedOrigin { _ in .ok("reached") }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.idleTimeout = .seconds(300)
            $0.requestTimeout = .milliseconds(50)
        }
        let impatient = try await GatewayFixture { $0.idleTimeout = .milliseconds(50) }
        #expect(await (try RawConnection(impatient.port)).read().isEmpty)
        let slow = try RawConnection(fixture.port)
        slow.send("POST / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nContent-Length: 5\r\n\r\nab")
        #expect(RawResponse(await slow.read())?.status == 408)
        #expect(origin.requestCount == 0)
    }

    @Test("takes no request that follows a refused one on a connection that ends")
    func following() async throws {
        let origin = try ScriptedOrigin { _ in .ok("reached") }
        let fixture = try await GatewayFixture(origin: origin)
        let name = fixture.name(of: origin)
        let refused = "POST / HTTP/1.1\r\nHost: \(name)\r\nOrigin: https://evil.example\r\nContent-Length: 1\r\n\r\na"
        let answer = try await fixture.send(
            refused + "POST /order HTTP/1.1\r\nHost: \(name)\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(answer.status == 403)
        #expect(origin.requestCount == 0)
    }

    @Test("gets the reason of a refusal although it still sends a body")
    func lingering() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"]) { $0.maximumBody = .bytes(10) }
        let connection = try RawConnection(fixture.port)
        connection.send("POST /a HTTP/1.1\r\nHost: \(fixture.shop)\r\nContent-Length: 1000000\r\n\r\n")
        connection.send(Data(count: 1_000_000))
        let answer = await connection.read { RawResponse($0)?.text.hasSuffix("allows.\n") ?? false }
        #expect(RawResponse(answer)?.status == 413)
    }

    @Test("is let go when it stays silent after a refusal")
    func silentAfterRefusal() async throws {
        let fixture = try await GatewayFixture { $0.idleTimeout = .milliseconds(50) }
        let connection = try RawConnection(fixture.port)
        connection.send("GET / HTTP/1.1\r\nHost: other.localhost:\(fixture.port)\r\n\r\n")
        #expect(RawResponse(await connection.read())?.status == 403)
    }

    @Test("closes connections beyond the limit, and takes others when some have ended")
    func connections() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"]) { $0.maximumConnections = 2 }
        let first = try RawConnection(fixture.port)
        let second = try RawConnection(fixture.port)
        for connection in [first, second] {
            connection.send("GET /a HTTP/1.1\r\nHost: \(fixture.shop)\r\n\r\n")
            _ = await connection.read { $0.hasSuffix("a") }
        }
        let third = try RawConnection(fixture.port)
        #expect(await third.read().isEmpty)
        first.leave()
        #expect(await first.read().isEmpty)
        var answer: RawResponse?
        while answer == nil {
            let next = try RawConnection(fixture.port)
            next.send("GET /a HTTP/1.1\r\nHost: \(fixture.shop)\r\nConnection: close\r\n\r\n")
            answer = RawResponse(await next.read())
        }
        #expect(answer?.text == "a")
    }
}

extension Data {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count) == Data(text.utf8) }
}
#endif

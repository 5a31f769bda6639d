#if Gateway
import Foundation
import Logging
import Testing
import Waystation
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

@Suite("A gateway, asked by a hostile client,", .timeLimit(.minutes(10)))
struct HostileRequestTests {
    @Test(
        "refuses it with a status from 400, or closes the connection, and sends nothing on",
        arguments: HostileRequest.all
    )
    func refuses(request: HostileRequest) async throws {
        let origin = try ScriptedOrigin { _ in .ok("reached") }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.isProxy = request.isProxy
            // Only a request that should be marked as incomplete comes this far.
            $0.idleTimeout = .seconds(20)
            $0.requestTimeout = .seconds(20)
        }
        let connection = try RawConnection(fixture.port)
        let bytes = request.bytes(fixture, origin)
        Thread.detachNewThread {
            connection.send(bytes)
            if request.isIncomplete { connection.endSending() }
        }
        var answer = await connection.read { answer in
            RawResponse(answer).map { $0.isWhole || request.text.hasPrefix("HEAD") } ?? false
        }
        // The gateway reads on for a while after some refusals, unless the client leaves.
        connection.endSending()
        answer += await connection.read()
        if let response = RawResponse(answer) { #expect((400..<600).contains(response.status)) }
        #expect(!String(decoding: answer, as: UTF8.self).contains("reached"))
        #expect(origin.requestCount == 0)
        // The gateway goes on.
        #expect(try await fixture.get("/", host: fixture.name(of: origin)).text == "reached")
    }

    @Test("sends more than 200 such requests, no two alike")
    func count() {
        #expect(HostileRequest.all.count > 200)
        #expect(Set(HostileRequest.all.map { "\($0.text) \($0.isProxy)" }).count == HostileRequest.all.count)
    }

    /// Requests that are answered, but hide another one, or another field.
    private static let hiding: [String: String] = [
        "a body that looks like a request": body("Content-Length: LENGTH", hidden),
        "a body in chunks that looks like a request": body(
            "Transfer-Encoding: chunked",
            String(hidden.utf8.count, radix: 16) + "\r\n\(hidden)\r\n0\r\n\r\n"
        ),
        "an extension of a chunk that looks like a request": body(
            "Transfer-Encoding: chunked",
            "1;hidden=GET\r\na\r\n0\r\n\r\n"
        ),
        "a length that Connection names": body("Connection: Content-Length\r\nContent-Length: LENGTH", hidden),
        "an offer of HTTP/2, and a request behind it":
            "GET /a HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
            + "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n\(hidden)",
        "an offer of TLS, and a request behind it":
            "GET /a HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: TLS/1.2\r\n\r\n\(hidden)",
        "a request behind the last one": "GET /a HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n\(hidden)",
        "a request behind the last one of HTTP/1.0": "GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n\(hidden)",
        "a field in a path": "GET /a%0d%0aX-Hidden:%201%0d%0a%0d%0aGET%20/hidden HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a field in a query": "GET /a?b=%0D%0AX-Hidden:%201 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "a field in a value": "GET /a HTTP/1.1\r\nHost: HOST\r\nX: %0d%0aX-Hidden: 1\r\n\r\n",
        "a framing for the next server": body("Content-Length: 1\r\nTE: chunked\r\nTrailer: X-Hidden", "a"),
        "a garbage behind a body": body("Content-Length: 1", "a\u{0}\u{1}"),
    ]

    private static let hidden = "GET /hidden HTTP/1.1\r\nHost: HOST\r\nX-Hidden: 1\r\n\r\n"

    private static func body(_ framing: String, _ body: String) -> String {
        "POST /a HTTP/1.1\r\nHost: HOST\r\n\(framing)\r\n\r\n\(body)"
    }

    @Test("has nothing that a request hides taken for a request or a field", arguments: hiding.keys.sorted())
    func hides(attempt: String) async throws {
        let origin = try ScriptedOrigin { _ in .ok("reached") }
        let fixture = try await GatewayFixture(origin: origin)
        let host = fixture.name(of: origin)
        let length = Self.hidden.replacing("HOST", with: host).utf8.count
        // A size in the table counts the bytes of the text with `HOST`.
        let size = String(Self.hidden.utf8.count, radix: 16) + "\r\n"
        let text = try #require(Self.hiding[attempt]).replacing("LENGTH", with: "\(length)")
            .replacing(size + "GET", with: String(length, radix: 16) + "\r\nGET").replacing("HOST", with: host)
        let connection = try RawConnection(fixture.port)
        connection.send(text)
        var answer = await connection.read { $0.range(of: Data("reached".utf8)) != nil }
        // If the connection is still open, what the request hides comes before this.
        connection.send("GET /a/last HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        #expect(RawResponse(answer)?.status == 200)
        answer += await connection.read()
        #expect(origin.requests.first?.path.hasPrefix("/a") == true)
        #expect(origin.requests.allSatisfy { $0.path == "/a/last" || $0.order == origin.requests.first?.order })
        #expect(origin.requests.allSatisfy { $0.value(of: "X-Hidden") == nil })
    }

    @Test("ends a connection that sends nothing, a head of which only a part arrives, and a body that does not arrive")
    func slowness() async throws {
        let origin = try ScriptedOrigin { _ in .ok("reached") }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.idleTimeout = .seconds(300)
            $0.requestTimeout = .milliseconds(50)
        }
        let impatient = try await GatewayFixture { $0.idleTimeout = .milliseconds(50) }
        #expect(await (try RawConnection(impatient.port)).read().isEmpty)
        let half = try RawConnection(impatient.port)
        half.send("GET / HTTP/1.1\r\nHost: shop.exa")
        #expect(await half.read().isEmpty)
        let slow = try RawConnection(fixture.port)
        slow.send("POST / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nContent-Length: 5\r\n\r\nab")
        #expect(RawResponse(await slow.read())?.status == 408)
        #expect(origin.requestCount == 0)
    }

    @Test("is named in the log without the secrets of its URL")
    func log() async throws {
        let messages = MessageLog.Messages()
        let fixture = try await GatewayFixture {
            $0.logger = Logger(label: "test") { _ in MessageLog(messages: messages, logLevel: .debug) }
        }
        let host = "other-example.localhost:\(fixture.port)"
        #expect(try await fixture.get("/a?b=c&access_token=s3cret", host: host).status == 403)
        let line = try #require(messages.all.first { $0.contains("refused with 403") })
        #expect(line.contains("GET http://\(host)/a?b=c&access_token=%5Bredacted%5D"), "\(line)")
        #expect(line.contains("No rule takes https://other.example/a?b=c"))
        #expect(!line.contains("s3cret"))
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
        // The request has to arrive within this time, also on a busy machine: otherwise, a longer time is tried.
        for seconds in [2.0, 20, 200] {
            let fixture = try await GatewayFixture { $0.idleTimeout = .seconds(seconds) }
            let connection = try RawConnection(fixture.port)
            connection.send("GET / HTTP/1.1\r\nHost: other.localhost:\(fixture.port)\r\n\r\n")
            guard let response = RawResponse(await connection.read()) else { continue }
            #expect(response.status == 403)
            return
        }
        Issue.record("no request has arrived in time")
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

import Foundation
import FoundationNetworking
import Testing
import WaystationOrigin
import WaystationTestSupport
import WaystationTesting

@Suite("A scripted origin", .timeLimit(.minutes(10)))
struct ScriptedOriginTests {
    @Test("records a request unchanged: field names as sent and in their order, and the body's bytes")
    func recordsRequests() throws {
        let origin = try ScriptedOrigin { _ in .ok("hi") }
        let client = try RawClient(port: origin.port)
        client.send("POST /a%20b?c=d HTTP/1.1\r\nx-B: 1\r\nX-a:  2 \r\nx-b: 3\r\nContent-Length: 3\r\n\r\nabc")
        #expect(client.receive(until: "hi").hasPrefix("HTTP/1.1 200 OK\r\n"))
        let request = try #require(origin.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/a%20b?c=d")
        #expect(request.path == "/a%20b")
        #expect(request.fields.prefix(3).map(\.description) == ["x-B: 1", "X-a: 2", "x-b: 3"])
        #expect(request.values(of: "X-B") == ["1", "3"])
        #expect(request.body == Data("abc".utf8))
    }

    @Test("keeps its port when it is stopped, so that connections are refused and reach no other server")
    func keepsItsPort() throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        origin.stop()
        #expect(throws: RawClient.Refused.self) { try RawClient(port: origin.port) }
        #expect(bindError(origin.port) == EADDRINUSE)
        // A server that names the port may listen on it.
        let next = try ScriptedOrigin(port: origin.port) { _ in .ok("next") }
        let client = try RawClient(port: next.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "next").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    /// The error with which the system refuses a port to a socket; 0 if the socket gets the port.
    private func bindError(_ port: UInt16) -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return LoopbackAddress.with(port) { bind(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    @Test("removes the chunked coding from a request's body, extensions and trailers included")
    func readsChunkedBodies() throws {
        let origin = try ScriptedOrigin { _ in .ok("done") }
        let client = try RawClient(port: origin.port)
        client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send("3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n")
        _ = client.receive(until: "done")
        #expect(origin.requests.first?.body == Data("abc0123456789".utf8))
    }

    @Test("keeps a connection alive, and answers its requests in order")
    func keepsConnectionsAlive() throws {
        let origin = try ScriptedOrigin { .ok("<\($0.target)>") }
        let client = try RawClient(port: origin.port)
        client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
        let answers = client.receive(until: "</2>")
        #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count == 3)
        #expect(origin.requests.map(\.connection) == [0, 0])
        #expect(origin.requests.map(\.order) == [0, 1])
        #expect(origin.connectionCount == 1)
    }

    @Test("holds an answer that it gives before the body has arrived, like any other answer")
    func holdsEarlyAnswers() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin(early: { _ in .ok("early").held(at: gate) }) { _ in .ok("late") }
        let head = "PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\n"
        let leaving = try RawClient(port: origin.port)
        leaving.send(head)
        _ = await origin.waitForRequests(1)
        leaving.close()
        #expect(await origin.waitForAbandonedRequests(1).count == 1)
        gate.open()
        let client = try RawClient(port: origin.port)
        client.send(head)
        #expect(client.receive(until: "early").hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test("asks for the body of a request that expects 100-continue")
    func continues() throws {
        let origin = try ScriptedOrigin { .ok("\($0.body.count) bytes") }
        let client = try RawClient(port: origin.port)
        client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ab")
        #expect(client.receive(until: "bytes").hasSuffix("2 bytes"))
    }

    @Test("answers early with the body unread, and lets the client send its body to the end")
    func answersEarly() throws {
        let origin = try ScriptedOrigin(early: { $0.path == "/small" ? nil : .status(413) }) { .ok("\($0.body.count)") }
        let small = try RawClient(port: origin.port)
        small.send("PUT /small HTTP/1.1\r\nContent-Length: 2\r\n\r\nab")
        #expect(small.receive(until: "\r\n\r\n2").hasPrefix("HTTP/1.1 200 OK\r\n"))
        let large = try RawClient(port: origin.port)
        large.send("PUT /large HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n")
        large.send(String(repeating: "a", count: 3_000_000))
        #expect(large.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 Unknown\r\n"))
        #expect(origin.requests.map(\.body.count) == [2, 0])
    }

    @Test("opens a tunnel for CONNECT, and answers 502 when nothing listens at its end")
    func tunnels() throws {
        let origin = try ScriptedOrigin { .ok("through \($0.target)") }
        let closed = try ScriptedOrigin { _ in .closed }
        closed.stop()
        let proxy = try ScriptedOrigin { .tunnel(to: $0.target == "gone.test:443" ? closed.port : origin.port) }
        let client = try RawClient(port: proxy.port)
        // The request inside the tunnel may come with the CONNECT request.
        client.send("CONNECT any.test:443 HTTP/1.1\r\nHost: any.test:443\r\n\r\nGET /1 HTTP/1.1\r\n\r\n")
        #expect(
            client.receive(until: "through /1").hasPrefix("HTTP/1.1 200 Connection Established\r\n\r\nHTTP/1.1 200")
        )
        client.send("GET /2 HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "through /2").hasSuffix("through /2"))
        #expect(origin.requests.map(\.target) == ["/1", "/2"])
        let failed = try RawClient(port: proxy.port)
        failed.send("CONNECT gone.test:443 HTTP/1.1\r\nHost: gone.test:443\r\n\r\n")
        #expect(failed.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 502 "))
    }

    @Test("sends fields unchanged, repeated and in order")
    func sendsFields() throws {
        let origin = try ScriptedOrigin { _ in .ok("x", fields: ["sEt-cookie": "a=1", "Set-Cookie": "b=2"]) }
        let client = try RawClient(port: origin.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        let answer = client.receive(until: "\r\n\r\nx")
        #expect(answer == "HTTP/1.1 200 OK\r\nsEt-cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 1\r\n\r\nx")
    }

    @Test(
        "sends no body for HEAD, 204 and 304, and keeps the length of HEAD",
        arguments: [
            ("HEAD", 200, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            ("GET", 204, "HTTP/1.1 204 No Content\r\n\r\n"),
            ("GET", 304, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        ]
    )
    func omitsBodies(method: String, status: Int, head: String) throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/end" ? .closed : .status(status, body: Data("body".utf8))
        }
        let client = try RawClient(port: origin.port)
        client.send("\(method) / HTTP/1.1\r\n\r\nGET /end HTTP/1.1\r\n\r\n")
        #expect(client.receiveAll().bytes == head)
    }

    @Test("holds the rest of a body at a gate until it opens")
    func holdsAtGates() throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("one".utf8)), .wait(gate), .bytes(Data()), .bytes(Data("two".utf8))])
        }
        let client = try RawClient(port: origin.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "3\r\none\r\n").hasSuffix("\r\n\r\n3\r\none\r\n"))
        #expect(client.hasNothingToRead)
        gate.open()
        #expect(client.receive(until: "0\r\n\r\n") == "3\r\ntwo\r\n0\r\n\r\n")
    }

    @Test(
        "closes and resets connections as the script says",
        arguments: [
            (ScriptedOrigin.Response.closed, "", RawClient.Ending.closed),
            (.reset, "", .reset),
            (
                .truncated(Data("0123456789".utf8), after: 4),
                "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123", .closed
            ),
            (.raw(Data("gibberish".utf8)), "gibberish", .closed),
            (
                .stream([.bytes(Data("abc".utf8))], framing: .untilClose),
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc", .closed
            ),
            (
                .stream([.bytes(Data("abc".utf8))], framing: .declaredLength(2)),
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", .closed
            ),
        ]
    )
    func playsFaults(response: ScriptedOrigin.Response, bytes: String, ending: RawClient.Ending) throws {
        let origin = try ScriptedOrigin { _ in response }
        let client = try RawClient(port: origin.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        let received = client.receiveAll()
        #expect(received.bytes == bytes)
        #expect(received.ending == ending)
    }

    @Test("records a request whose client left while its response was held")
    func noticesAbandonedRequests() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { $0.target == "/held" ? .ok().held(at: gate) : .unanswered }
        for target in ["/held", "/unanswered"] {
            let client = try RawClient(port: origin.port)
            client.send("GET \(target) HTTP/1.1\r\n\r\n")
            await origin.waitForRequests(origin.abandonedRequests.count + 1)
            client.close()
            await origin.waitForAbandonedRequests(target == "/held" ? 1 : 2)
        }
        #expect(origin.abandonedRequests.map(\.target) == ["/held", "/unanswered"])
    }

    @Test(
        "refuses malformed requests with 400, and does not record them",
        arguments: [
            "GET /\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ]
    )
    func refusesMalformedRequests(bytes: String) throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let client = try RawClient(port: origin.port)
        client.send(bytes)
        #expect(client.receiveAll().bytes.hasPrefix("HTTP/1.1 400 "))
        #expect(origin.requests.isEmpty)
    }

    @Test("stopping cuts held connections, refuses new ones, and ends every wait")
    func stops() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .ok("never").held(at: gate) }
        let client = try RawClient(port: origin.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        await origin.waitForRequests(1)
        origin.stop()
        #expect(client.receiveAll().bytes.isEmpty)
        #expect(await origin.waitForRequests(2).count == 1)
        #expect(origin.abandonedRequests.isEmpty)
        #expect(throws: (any Error).self) { try RawClient(port: origin.port) }
    }

    @Test("accepts a web socket with the proof of RFC 6455, section 1.3, and echoes its frames")
    func echoesWebSockets() throws {
        let origin = try ScriptedOrigin { _ in .webSocketEcho }
        let client = try RawClient(port: origin.port)
        client.send("GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        #expect(client.receive(until: "\r\n\r\n").contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        // RFC 6455, section 5.7: "Hello" masked, and a masked closing frame.
        client.send(bytes: [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        client.send(bytes: [0x88, 0x80, 0, 0, 0, 0])
        let frames = client.receiveAll().raw
        #expect(frames == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x88, 0x00])
    }

    @Test("decodes the JSON of a request, answers with JSON, and says so when a value cannot be encoded")
    func answersJSON() async throws {
        let origin = try ScriptedOrigin { request in
            guard request.path == "/orders" else { return .json(Double.nan) }
            guard let order = try? request.json(as: [String: Int].self) else { return .status(400) }
            return .json(["unit": request.query("unit"), "celsius": order["celsius"].map { "\($0)" }], status: 201)
        }
        let client = try RawClient(port: origin.port)
        client.send("POST /orders?unit=K HTTP/1.1\r\nConnection: close\r\nContent-Length: 15\r\n\r\n{\"celsius\": 21}")
        let answer = client.receiveAll().bytes
        #expect(answer.hasPrefix("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"))
        #expect(answer.hasSuffix(#"{"celsius":"21","unit":"K"}"#))
        let failing = try RawClient(port: origin.port)
        failing.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(failing.receiveAll().bytes.hasPrefix("HTTP/1.1 500"))
    }

    @Test("answers URLSession")
    func answersURLSession() async throws {
        let origin = try ScriptedOrigin { .ok("hello from \($0.path)") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let (data, response) = try await URLSession(configuration: configuration).data(from: origin.url("/x?y"))
        #expect(String(decoding: data, as: UTF8.self) == "hello from /x")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(origin.requests.map(\.target) == ["/x?y"])
    }
}

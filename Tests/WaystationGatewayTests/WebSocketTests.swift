#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationPacks
import WaystationTesting

@Suite("Web sockets through a gateway", .timeLimit(.minutes(10)))
struct WebSocketTests {
    /// The fields of a handshake (RFC 6455 §1.3).
    static let handshake = [
        "Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    private static func request(_ target: String, _ host: String, _ fields: [String] = []) -> String {
        (["GET \(target) HTTP/1.1", "Host: \(host)"] + handshake + fields + ["", ""]).joined(separator: "\r\n")
    }

    /// A text message of a client, with a mask of zeros (RFC 6455 §5.2).
    private static func message(_ text: String) -> Data {
        Data([0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0]) + Data(text.utf8)
    }

    @Test("are opened at the origin, and their frames pass in both directions")
    func echo() async throws {
        let origin = try ScriptedOrigin { _ in .webSocketEcho }
        let fixture = try await GatewayFixture(origin: origin)
        let host = fixture.name(of: origin)
        let connection = try RawConnection(fixture.port)
        // The first frame does not wait for the answer.
        connection.send(Self.request("/socket?a=1", host, ["Origin: http://\(host)", "Sec-WebSocket-Protocol: chat"]))
        connection.send(Self.message("one"))
        connection.send(Self.message("two"))
        // The server closes after the closing frame.
        connection.send(Data([0x88, 0x80, 0, 0, 0, 0]))
        let answer = await connection.read()
        let end = try #require(answer.range(of: Data("\r\n\r\n".utf8)))
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).lowercased()
        #expect(head.hasPrefix("http/1.1 101 switching protocols\r\n"))
        #expect(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="))
        #expect(head.contains("upgrade: websocket") && head.contains("connection: upgrade"))
        #expect(!head.contains("transfer-encoding") && !head.contains("content-length"))
        let expected = Data([0x81, 3]) + Data("one".utf8) + Data([0x81, 3]) + Data("two".utf8) + Data([0x88, 0])
        #expect(answer[end.upperBound...] == expected)
        let request = try #require(origin.requests.first)
        #expect(request.target == "/socket?a=1")
        #expect(request.value(of: "Host") == "127.0.0.1:\(origin.port)")
        #expect(request.value(of: "Origin") == "http://127.0.0.1:\(origin.port)")
        #expect(request.value(of: "Sec-WebSocket-Protocol") == "chat")
        #expect(origin.requestCount == 1)
    }

    @Test("carry the cookies of the app's store, and store those that the origin sets")
    func cookies() async throws {
        let origin = try ScriptedOrigin { _ in
            .raw(
                Data(
                    """
                    HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r
                    Set-Cookie: seen=1; HttpOnly\r\n\r\nrest
                    """.utf8
                )
            )
        }
        let store = CookieStore()
        try store.insert(
            Cookie(
                name: "token",
                value: "t",
                domain: "127.0.0.1",
                isHostOnly: true,
                isHTTPOnly: true,
                sameSite: .strict,
                creation: Date()
            )
        )
        let fixture = try await GatewayFixture(origin: origin, cookies: store)
        let host = fixture.name(of: origin)
        let connection = try RawConnection(fixture.port)
        connection.send(Self.request("/", host, ["Origin: http://\(host)", "Cookie: token=forged"]))
        let answer = String(decoding: await connection.read(), as: UTF8.self)
        // These bytes arrived with the head.
        #expect(answer.hasSuffix("\r\n\r\nrest"))
        #expect(!answer.contains("seen=1"))
        #expect(origin.requests.first?.value(of: "Cookie") == "token=t")
        #expect(Set(store.cookies.map(\.pair)) == ["token=t", "seen=1"])
    }

    @Test(
        "that the origin refuses are answered with its response",
        arguments: [ScriptedOrigin.Response.Framing.contentLength, .chunked, .untilClose]
    )
    func refusedByOrigin(framing: ScriptedOrigin.Response.Framing) async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 3) })
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(body)], status: 403, fields: ["X-Reason": "full"], framing: framing)
        }
        let fixture = try await GatewayFixture(origin: origin)
        let response = try await fixture.send(Self.request("/", fixture.name(of: origin)))
        #expect(response.status == 403)
        #expect(response["X-Reason"] == "full")
        #expect(response["Connection"] == "close")
        #expect(response.body == body)
    }

    @Test("whose origin closes the connection, or does not answer in time, are refused", arguments: [true, false])
    func noAnswer(closes: Bool) async throws {
        let origin = try ScriptedOrigin { _ in closes ? .closed : .unanswered }
        let fixture = try await GatewayFixture(origin: origin) { $0.requestTimeout = .milliseconds(50) }
        let response = try await fixture.send(Self.request("/", fixture.name(of: origin)))
        #expect(response.status == 502)
        #expect(response.text.contains("closed the connection, or did not answer in time"))
    }

    @Test("of an origin that cannot be reached are refused")
    func unreachable() async throws {
        let origin = try ScriptedOrigin { _ in .closed }
        let fixture = try await GatewayFixture(origin: origin)
        let host = fixture.name(of: origin)
        origin.stop()
        #expect(try await fixture.send(Self.request("/", host)).status == 502)
    }

    @Test("are refused when no rule takes them, when their rule leads to no network, and for pages of other sites")
    func rules() async throws {
        let origin = try ScriptedOrigin { _ in .webSocketEcho }
        let fixture = try await GatewayFixture(origin: origin)
        let host = fixture.name(of: origin)
        for fields in [["Origin: http://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"]] {
            let response = try await fixture.send(Self.request("/", host, fields))
            #expect(response.status == 403, "\(fields)")
        }
        let unclaimed = try await fixture.send(Self.request("/", "other-example.localhost:\(fixture.port)"))
        #expect(unclaimed.status == 403)

        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let blocking = try Interceptor {
            $0.rules = [
                .block("\(origin.url("/blocked").absoluteString)"),
                .allow("\(origin.url())**", via: .pack(orElse: .nowhere)),
            ]
            $0.packs = try PackLibrary(directory: folder)
        }
        let gateway = Gateway(blocking)
        try await gateway.start()
        let port = try #require(gateway.port)
        for target in ["/blocked", "/other"] {
            let connection = try RawConnection(port)
            connection.send(Self.request(target, "127-0-0-1-\(origin.port)-http.localhost:\(port)"))
            let response = try #require(RawResponse(await connection.read()))
            #expect(response.status == 403, "\(target)")
        }
        #expect(origin.requestCount == 0)
    }

    @Test("wait for a login that their rule requires, and end with a log-out")
    func login() async throws {
        let origin = try ScriptedOrigin { _ in .webSocketEcho }
        let store = CookieStore()
        let login = LoginSession(
            cookie: .named("token", domain: "127.0.0.1", isHostOnly: true, isSecure: false),
            timeout: .minutes(5)
        ) { "signed-in" }
        let interceptor = try Interceptor {
            $0.rules = [.allow("\(origin.url())**", via: .network, requiresLogin: .always)]
            $0.cookies = store
            $0.login = login
        }
        let gateway = Gateway(interceptor)
        try await gateway.start()
        let port = try #require(gateway.port)
        let connection = try RawConnection(port)
        connection.send(Self.request("/", "127-0-0-1-\(origin.port)-http.localhost:\(port)"))
        connection.send(Self.message("hello"))
        let answer = await connection.read { $0.suffix(5) == Data("hello".utf8) }
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 101"))
        #expect(origin.requests.first?.value(of: "Cookie") == "token=signed-in")
        await login.logOut()
        // The gateway has closed the connection: nothing more arrives.
        #expect(await connection.read().isEmpty)
    }

    @Test("are refused when their request has a body")
    func body() async throws {
        let origin = try ScriptedOrigin { _ in .webSocketEcho }
        let fixture = try await GatewayFixture(origin: origin)
        let request = Self.request("/", fixture.name(of: origin), ["Content-Length: 4"])
        #expect(try await fixture.send(request + "body").status == 400)
        #expect(origin.requestCount == 0)
    }

    @Test("are not opened by a Connection field that only resembles one, also with another request behind it")
    func otherToken() async throws {
        let origin = try ScriptedOrigin { request in request.path == "/end" ? .ok("end") : .webSocketEcho }
        let fixture = try await GatewayFixture(origin: origin)
        let host = fixture.name(of: origin)
        let connection = try RawConnection(fixture.port)
        connection.send(
            Self.request("/", host).replacing("keep-alive, Upgrade", with: "up grade")
                + "GET /end HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
        )
        let answer = String(decoding: await connection.read(), as: UTF8.self)
        // The origin needs an upgrade, which the gateway does not pass on.
        #expect(answer.hasPrefix("HTTP/1.1 426"))
        #expect(answer.hasSuffix("\r\n\r\nend"))
    }

    @Test("do not take over the connection for another protocol, which is answered without it")
    func otherProtocol() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"])
        let response = try await fixture.get("/a", ["Upgrade: h2c"])
        #expect(response.status == 200)
        #expect(response.text == "a")
    }
}
#endif

#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationTestSupport

@Suite("A gateway with an authority", .timeLimit(.minutes(10)))
struct SecuredTests {
    @Test("answers an https URL by the rules, in HTTP/1.1, with the cookies of the app and none of the client")
    func rules() async throws {
        let store = CookieStore()
        try store.insert(
            Cookie(
                name: "sid",
                value: "1",
                domain: "shop.example",
                isHostOnly: true,
                isSecure: true,
                isHTTPOnly: true,
                creation: Date()
            )
        )
        let shop = try await ShopFixture(cookies: store) { _ in
            .ok("api", fields: ["Set-Cookie": "sid=2; Path=/; Secure; HttpOnly"])
        }
        let answer = try await shop.curl(
            "/api/order?a=b",
            .authority,
            ["--http2", "--cookie", "sid=old", "--include", "--write-out", " %{http_version} %{ssl_verify_result}"]
        )
        #expect(answer.text.hasSuffix("\r\n\r\napi 1.1 0"), "\(answer.text) \(answer.errorText)")
        #expect(!answer.text.contains("Set-Cookie"))
        #expect(shop.origin.requests.first?.target == "/api/order?a=b")
        #expect(shop.origin.requests.first?.value(of: "Cookie") == "sid=1")
        #expect(store.cookies.map(\.value) == ["2"])
    }

    @Test("refuses what no rule takes, and what a page of another site sends")
    func refusals() async throws {
        let shop = try await ShopFixture()
        let blocked = try await shop.curl("/blocked", .authority, ["--write-out", "%{http_code}"])
        #expect(blocked.text.hasSuffix("403"))
        let unclaimed = try await shop.curl("/a.txt", .authority, ["--data", "a=b", "--write-out", "%{http_code}"])
        #expect(unclaimed.text.contains("No rule takes https://shop.example/a.txt"))
        #expect(unclaimed.text.hasSuffix("403"))
        let foreign = try await shop.curl(
            "/api/order",
            .authority,
            ["--data", "a=b", "--header", "Origin: https://evil.example", "--write-out", "%{http_code}"]
        )
        #expect(foreign.text.hasSuffix("403"))
        let own = try await shop.curl(
            "/api/order",
            .authority,
            ["--data", "a=b", "--header", "Origin: https://shop.example", "--write-out", "%{http_code}"]
        )
        #expect(own.text.hasSuffix("200"))
        #expect(shop.origin.requestCount == 1)
    }

    @Test(
        "refuses a request for another host than that of the connection",
        arguments: [
            "evil.example", "shop.example:8443", "shop.example.evil.example", "a.shop.example", "shop.example.",
        ]
    )
    func otherHost(host: String) async throws {
        let shop = try await ShopFixture()
        let answer = try await shop.curl(
            "/api/a",
            .authority,
            ["--header", "Host: \(host)", "--write-out", " %{http_code}"]
        )
        #expect(answer.text.contains("This connection is for https://shop.example; the request is for “\(host)”"))
        #expect(answer.text.hasSuffix(" 421"))
        #expect(shop.origin.requestCount == 0)
    }

    @Test(
        "takes the forms of a target that mean the same, and refuses all others",
        arguments: [
            ("https://shop.example/a.txt", "200"), ("https://shop.example:443/a.txt", "200"),
            ("https://evil.example/a.txt", "400"), ("http://shop.example/a.txt", "400"),
            ("https://shop.example@evil.example/a.txt", "400"), ("*", "400"), ("shop.example:443", "400"),
        ]
    )
    func targets(target: String, status: String) async throws {
        let shop = try await ShopFixture()
        let answer = try await shop.curl(
            "/",
            .authority,
            ["--request-target", target, "--output", "/dev/null", "--write-out", "%{http_code}"]
        )
        #expect(answer.text == status)
        #expect(shop.origin.requestCount == 0)
    }

    @Test("shows no certificate to a client without its root, and none for a host outside")
    func untrusted() async throws {
        let shop = try await ShopFixture()
        let proxy = ["--proxy", "http://127.0.0.1:\(shop.port)"]
        let stranger = try await Programs.curl(proxy + ["https://shop.example/a.txt"])
        #expect(stranger.ending == .exited(60), "\(stranger.errorText)")
        // It is a tunnel: no such host exists, and the gateway says so in its answer to CONNECT.
        let outside = try await Programs.curl(proxy + ["https://outside.invalid/a.txt"])
        #expect(outside.ending == .exited(56), "\(outside.errorText)")
        #expect(outside.errorText.contains("502"))
    }

    @Test("refuses CONNECT when the authority has expired, and says what to do")
    func expired() async throws {
        let shop = try await ShopFixture(openedAt: Date() - 31 * 86_400)
        let connection = try RawConnection(shop.port)
        connection.send("CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n")
        let answer = try #require(RawResponse(await connection.read()))
        #expect(answer.status == 502)
        #expect(answer.text.contains("There is no certificate for shop.example: the authority is valid only until"))
    }

    @Test("ends a connection that never begins TLS")
    func silence() async throws {
        let shop = try await ShopFixture(idleTimeout: .seconds(2))
        #expect(
            try await eventually {
                let connection = try RawConnection(shop.port)
                connection.send("CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n")
                // On a busy machine, the time may end before the gateway has signed the certificate.
                let received = String(decoding: await connection.read(), as: UTF8.self)
                return received == "HTTP/1.1 200 Connection Established\r\n\r\n"
            }
        )
    }

    @Test("takes a client's first bytes of TLS together with its CONNECT")
    func early() async throws {
        let shop = try await ShopFixture()
        let answer = try await Programs.run(
            "/usr/bin/python3",
            ["-c", Self.eagerClient, "\(shop.port)", shop.authority.rootCertificate.path]
        )
        #expect(answer.text.hasPrefix("HTTP/1.1 200 OK"), "\(answer.text) \(answer.errorText)")
        #expect(answer.text.hasSuffix("0123456789"))
    }

    /// A client that does not wait for the answer to CONNECT.
    private static let eagerClient = """
        import socket, ssl, sys
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=sys.argv[2])
        tls = context.wrap_bio(incoming, outgoing, server_hostname="shop.example")
        connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        connection.sendall(b"CONNECT shop.example:443 HTTP/1.1\\r\\nHost: shop.example:443\\r\\n\\r\\n" + outgoing.read())
        received = b""
        while b"\\r\\n\\r\\n" not in received:
            received += connection.recv(65536)
        incoming.write(received.split(b"\\r\\n\\r\\n", 1)[1])
        def step(work):
            while True:
                try:
                    result = work()
                    connection.sendall(outgoing.read())
                    return result
                except ssl.SSLWantReadError:
                    connection.sendall(outgoing.read())
                    more = connection.recv(65536)
                    if more: incoming.write(more)
                    else: incoming.write_eof()
        step(tls.do_handshake)
        step(lambda: tls.write(b"GET /a.txt HTTP/1.1\\r\\nHost: shop.example\\r\\nConnection: close\\r\\n\\r\\n"))
        answer = b""
        while True:
            try:
                part = step(lambda: tls.read(65536))
            except ssl.SSLError:
                break
            if not part: break
            answer += part
        sys.stdout.write(answer.decode())
        """

    @Test("ends its connections over TLS, too, when it is stopped")
    func stopping() async throws {
        let shop = try await ShopFixture()
        #expect(try await shop.curl("/a.txt", .authority).text == "0123456789")
        await shop.gateway.stop(within: .seconds(600))
        #expect(shop.gateway.port == nil)
    }

    // MARK: - Tunnels beside it

    @Test("tunnels all bytes to a host outside the rules, as they are")
    func bytes() async throws {
        let shop = try await ShopFixture()
        let echo = try EchoServer()
        // It begins like TLS, and like HTTP after that.
        let body =
            Data([0x16, 0x03, 0x01, 0x02, 0x00]) + Data("GET / HTTP/1.1\r\n\r\n".utf8)
            + ShopFixture.film.prefix(5 << 20)
        let connection = try RawConnection(shop.port)
        let authority = "localhost:\(echo.port)"
        connection.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        let head = Data("HTTP/1.1 200 Connection Established\r\n\r\n".utf8)
        #expect(await connection.read { $0.count >= head.count } == head)
        Thread.detachNewThread {
            connection.send(body)
            connection.endSending()
        }
        #expect(await connection.read() == body)
    }

    @Test("lets curl see the certificate of a host outside the rules itself, and its whole content")
    func tunnelledTLS() async throws {
        let shop = try await ShopFixture()
        let certificates = try Certificates()
        try shop.writeFilm()
        let server = try await TLSServer(
            certificate: certificates.path("name.pem"),
            key: certificates.path("name.key"),
            in: shop.folder.url.appending(path: "site")
        )
        let answer = try await Programs.curl([
            "--proxy", "http://127.0.0.1:\(shop.port)", "--cacert", certificates.path("ca.pem"), "--output",
            shop.folder.path("downloaded"), "https://localhost:\(server.port)/film",
        ])
        #expect(answer.ending == .exited(0), "\(answer.errorText)")
        #expect(try Data(contentsOf: shop.folder.url.appending(path: "downloaded")) == ShopFixture.film)
        let refused = try await Programs.curl([
            "--proxy", "http://127.0.0.1:\(shop.port)", "--cacert", shop.authority.rootCertificate.path,
            "https://localhost:\(server.port)/film",
        ])
        #expect(refused.ending == .exited(60))
    }

    // MARK: - Browsers

    @Test(
        "shows Chromium a page of https, after the commands that install its root, and not after those that remove it"
    )
    func chromium() async throws {
        let shop = try await ShopFixture()
        let user = try ChromiumUser()
        let switches = ["--proxy-server=http://127.0.0.1:\(shop.port)"]
        let steps = shop.authority.trustSteps[0]
        try await user.run(steps.install)
        // Once more, as after a renewal.
        try await user.run(steps.install)
        let shown = try await user.show("https://shop.example/", switches)
        #expect(shown.document.contains("the shop"), "\(shown.errors)")
        try await user.run(steps.remove)
        let refused = try await user.show("https://shop.example/", switches)
        #expect(!refused.document.contains("the shop"))
        #expect(refused.errors.contains("ERR_CERT_AUTHORITY_INVALID"), "\(refused.errors)")
    }
}
#endif

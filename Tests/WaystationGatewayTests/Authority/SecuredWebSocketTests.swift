#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationNIO
import WaystationProcesses
import WaystationTesting

@Suite("Web sockets over TLS through a gateway with an authority", .timeLimit(.minutes(10)))
struct SecuredWebSocketTests {
    /// A gateway whose rules lead to an origin over TLS, and the answer that a client within TLS gets through it.
    private final class Fixture: Sendable {
        let origin: SecuredOrigin
        let gateway: Gateway
        private let authority: CertificateAuthority
        private let folder: TemporaryFolder

        init(
            cookies: CookieStore? = nil,
            via route: Route = .network,
            trustsOrigin: Bool = true,
            _ script: @escaping ScriptedOrigin.Script = { _ in .webSocketEcho }
        ) async throws {
            let origin = try await SecuredOrigin(script: script)
            let rules: [Rule] = [.allow("https://localhost:\(origin.port)/**", via: route)]
            let folder = try TemporaryFolder()
            let interceptor = try Interceptor {
                $0.rules = rules
                $0.cookies = cookies
                $0.transport = .nio(trustsOrigin ? origin.options : NIOOptions())
            }
            let authority = try CertificateAuthority.open(in: folder.url.appending(path: "authority"), for: rules)
            gateway = Gateway(interceptor) {
                $0.isProxy = true
                $0.authority = authority
            }
            try await gateway.start()
            (self.origin, self.folder, self.authority) = (origin, folder, authority)
        }

        var site: String { "localhost:\(origin.port)" }

        /// Sends a handshake and further bytes within TLS, and returns all bytes until the gateway has ended TLS.
        func answer(_ fields: [String] = [], frames: Data = Data()) async throws -> Data {
            let lines = ["GET /socket?a=1 HTTP/1.1", "Host: \(site)"] + WebSocketTests.handshake + fields + ["", ""]
            try folder.write(Data(lines.joined(separator: "\r\n").utf8) + frames, to: "request")
            let client = try await Programs.run(
                "/usr/bin/python3",
                [
                    "-c", SecuredWebSocketTests.client, "\(try #require(gateway.port))", site,
                    authority.rootCertificate.path, folder.path("request"),
                ]
            )
            #expect(client.ending == .exited(0), "\(client.errorText)")
            return client.output
        }
    }

    /// A client of a proxy that sends a file within TLS, while it reads until the end of TLS.
    ///
    /// It fails if the connection ends without the alert that ends TLS (RFC 8446 §6.1).
    private static let client = """
        import socket, ssl, sys, threading
        port, site, root, request = sys.argv[1:]
        connection = socket.create_connection(("127.0.0.1", int(port)))
        connection.sendall(f"CONNECT {site} HTTP/1.1\\r\\nHost: {site}\\r\\n\\r\\n".encode())
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += connection.recv(1)
        assert head.startswith(b"HTTP/1.1 200 "), head
        context = ssl.create_default_context(cafile=root)
        tls = context.wrap_socket(connection, server_hostname="localhost", suppress_ragged_eofs=False)
        def send():
            with open(request, "rb") as file:
                tls.sendall(file.read())
        threading.Thread(target=send).start()
        while part := tls.recv(65536):
            sys.stdout.buffer.write(part)
        """

    /// A binary message of a client, with a mask of zeros and a length of eight bytes (RFC 6455 §5.2).
    private static func message(_ body: Data) -> Data {
        let length = withUnsafeBytes(of: UInt64(body.count).bigEndian) { Data($0) }
        return Data([0x82, 0xff]) + length + Data([0, 0, 0, 0]) + body
    }

    private static let closing = Data([0x88, 0x80, 0, 0, 0, 0])

    @Test("are opened at the origin over TLS, and their frames pass in both directions")
    func echo() async throws {
        let fixture = try await Fixture()
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let messages = (0..<20).reduce(Data()) { all, _ in all + Self.message(body) }
        let answer = try await fixture.answer(
            ["Origin: https://\(fixture.site)", "Sec-WebSocket-Protocol: chat"],
            // The first frame does not wait for the answer, and the server closes after the closing frame.
            frames: messages + Self.closing
        )
        let end = try #require(answer.range(of: Data("\r\n\r\n".utf8)))
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).lowercased()
        #expect(head.hasPrefix("http/1.1 101 switching protocols\r\n"))
        #expect(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="))
        let echoed = Data([0x82, 0x7f]) + withUnsafeBytes(of: UInt64(body.count).bigEndian) { Data($0) } + body
        let expected = (0..<20).reduce(Data()) { all, _ in all + echoed } + Data([0x88, 0])
        #expect(answer[end.upperBound...] == expected)
        let request = try #require(fixture.origin.requests.first)
        #expect(request.target == "/socket?a=1")
        #expect(request.value(of: "Host") == fixture.site)
        #expect(request.value(of: "Origin") == "https://\(fixture.site)")
        #expect(request.value(of: "Sec-WebSocket-Protocol") == "chat")
        #expect(fixture.origin.connectionVersions == ["http/1.1"])
    }

    @Test("carry the app's cookies and none of the client, and store those that the origin sets")
    func cookies() async throws {
        let store = CookieStore()
        try store.insert(
            Cookie(
                name: "token",
                value: "t",
                domain: "localhost",
                isHostOnly: true,
                isSecure: true,
                isHTTPOnly: true,
                sameSite: .strict,
                creation: Date()
            )
        )
        let fixture = try await Fixture(cookies: store) { _ in
            .raw(
                Data(
                    """
                    HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r
                    Set-Cookie: seen=1; Secure; HttpOnly\r\n\r\nrest
                    """.utf8
                )
            )
        }
        let bytes = try await fixture.answer(["Origin: https://\(fixture.site)", "Cookie: token=forged"])
        let answer = String(decoding: bytes, as: UTF8.self)
        #expect(answer.hasSuffix("\r\n\r\nrest"))
        #expect(!answer.contains("seen=1"))
        #expect(fixture.origin.requests.first?.value(of: "Cookie") == "token=t")
        #expect(Set(store.cookies.map(\.pair)) == ["token=t", "seen=1"])
    }

    @Test("that the origin refuses are answered with its response, and then TLS ends")
    func refusedByOrigin() async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 3) })
        let fixture = try await Fixture { _ in .status(403, fields: ["X-Reason": "full"], body: body) }
        let response = try #require(RawResponse(try await fixture.answer()))
        #expect(response.status == 403)
        #expect(response["X-Reason"] == "full")
        #expect(response.body == body)
    }

    @Test("are refused within TLS for pages of other sites, and when their rule leads to no network")
    func refusals() async throws {
        let fixture = try await Fixture()
        let foreign = try #require(RawResponse(try await fixture.answer(["Origin: https://evil.example"])))
        #expect(foreign.status == 403)
        let blocked = try await Fixture(via: .nowhere)
        #expect(try #require(RawResponse(try await blocked.answer())).status == 403)
        #expect(fixture.origin.requests.isEmpty && blocked.origin.requests.isEmpty)
    }

    @Test("of an origin whose certificate is not trusted are refused, with the reason")
    func untrusted() async throws {
        let fixture = try await Fixture(trustsOrigin: false)
        let response = try #require(RawResponse(try await fixture.answer()))
        #expect(response.status == 502)
        #expect(response.text.contains("certificate"), "\(response.text)")
    }
}
#endif

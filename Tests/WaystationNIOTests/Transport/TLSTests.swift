#if NIO
import WaystationTestSupport
import Foundation
import FoundationNetworking
import NIOCore
import Testing
import WaystationProcesses
import Waystation

@testable import WaystationNIO

@Suite("TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func origin(_ name: String, wantsClient: Bool = false, protocols: [String] = []) throws -> RawOrigin {
        let context = try Certificates.shared.get()
            .server(name, wantsClient: wantsClient, protocols: protocols)
        return try RawOrigin(tls: context) { _ in [.request, .send(Self.ok), .again] }
    }

    private func transport(
        trusts: Bool = true,
        _ change: (inout NIOOptions) -> Void = { _ in }
    ) throws -> NIOTransport {
        let root = try Certificates.shared.get().path("ca.pem")
        return NIOTransport.plain { options in
            if trusts { options.additionalTrustedRoots = [.pemFile(path: root)] }
            change(&options)
        }
    }

    @Test("A certificate of an additional root is accepted, and the connection is kept")
    func trusted() async throws {
        let origin = try origin("name")
        let transport = try transport()
        for _ in 0..<3 {
            let outcome = await transport.load(origin.url(scheme: "https", host: "localhost"))
            #expect(outcome.text == "ok")
            #expect(outcome.error == nil)
        }
        #expect(origin.connectionCount == 1)
    }

    @Test("A file of roots that cannot be read for a while fails only the loads of that time")
    func rootsReplaced() async throws {
        let origin = try origin("name")
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        let transport = try transport(trusts: false) {
            $0.additionalTrustedRoots = [.pemFile(path: file.path(percentEncoded: false))]
        }
        let url = origin.url(scheme: "https", host: "localhost")
        let early = await transport.load(url)
        #expect(early.error?.localizedDescription.contains("TLS cannot be set up") == true)
        try FileManager.default.copyItem(
            at: URL(filePath: try Certificates.shared.get().path("ca.pem")),
            to: file
        )
        #expect(await transport.load(url).text == "ok")
    }

    @Test("A root in DER form is accepted")
    func der() async throws {
        let origin = try origin("name")
        let pem = try String(contentsOfFile: Certificates.shared.get().path("ca.pem"), encoding: .utf8)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let bytes = try #require(Data(base64Encoded: lines.joined()))
        let transport = try transport(trusts: false) { $0.additionalTrustedRoots = [.der(bytes)] }
        #expect(await transport.load(origin.url(scheme: "https", host: "localhost")).text == "ok")
    }

    @Test("A certificate for the address is accepted")
    func address() async throws {
        let origin = try origin("address")
        #expect(await (try transport()).load(origin.url(scheme: "https")).text == "ok")
    }

    @Test(
        "Certificates that do not prove the server's identity end the load with -1",
        arguments: [
            ("name", "127.0.0.1"), ("address", "localhost"), ("expired", "localhost"), ("stranger", "localhost"),
        ]
    )
    func refused(name: String, host: String) async throws {
        let origin = try origin(name)
        let outcome = await (try transport()).load(origin.url(scheme: "https", host: host))
        #expect(outcome.code == .unknown)
        #expect(outcome.error?.localizedDescription.contains(host) == true)
        #expect(origin.requests.isEmpty)
    }

    /// A transport whose connections all lead to an origin, as if through the tunnel of a proxy there.
    private func tunneling(to origin: RawOrigin, at host: String) throws -> NIOTransport {
        var parts = EngineParts()
        let proxy = Route.Proxy(host: host, port: origin.port)
        parts.makeRoutes = { _ in { _, _, _ in .tunnel(proxy) } }
        parts.openTunnel = { channel, _, _, _ in channel.eventLoop.makeSucceededVoidFuture() }
        var options = NIOOptions()
        options.additionalTrustedRoots = [.pemFile(path: try Certificates.shared.get().path("ca.pem"))]
        return NIOTransport(configuration: .ephemeral, options: options, parts: parts)
    }

    @Test("Through a tunnel, a certificate for the address of the URL is accepted, whatever the proxy's address is")
    func tunnelToAddress() async throws {
        let context = try Certificates.shared.get().server("address")
        let origin = try RawOrigin(tls: context, host: "127.0.0.2") { _ in [.request, .send(Self.ok)] }
        let outcome = await (try tunneling(to: origin, at: "127.0.0.2")).load(URLRequest("https://127.0.0.1/"))
        #expect(outcome.error == nil)
        #expect(outcome.text == "ok")
    }

    @Test(
        "Through a tunnel, a certificate that is not for the address of the URL, or not trusted, is refused",
        arguments: [
            ("address", "127.0.0.2"), ("name", "127.0.0.1"), ("stranger", "127.0.0.1"), ("expired", "127.0.0.1"),
        ]
    )
    func tunnelToAnotherAddress(name: String, host: String) async throws {
        let origin = try origin(name)
        let outcome = await (try tunneling(to: origin, at: "127.0.0.1")).load(URLRequest("https://\(host)/"))
        #expect(outcome.code == .unknown)
        #expect(origin.requests.isEmpty)
    }

    @Test("Without the additional root, its certificates are refused, with the reason and no place in a source file")
    func untrusted() async throws {
        let origin = try origin("name")
        let outcome = await (try transport(trusts: false)).load(origin.url(scheme: "https", host: "localhost"))
        #expect(outcome.code == .unknown)
        #expect(
            outcome.error?.localizedDescription
                == "The TLS handshake with localhost failed: certificate verify failed. Check the server's certificate "
                + "and the trusted roots."
        )
        #expect(origin.requests.isEmpty)
    }

    @Test("The client's certificate is shown to a server that asks for it", arguments: [true, false])
    func clientIdentity(hasIdentity: Bool) async throws {
        let certificates = try Certificates.shared.get()
        let origin = try origin("name", wantsClient: true)
        let transport = try transport {
            guard hasIdentity else { return }
            $0.clientIdentity = .init(
                certificatePath: certificates.path("client.pem"),
                privateKeyPath: certificates.path("client.key")
            )
        }
        let outcome = await transport.load(origin.url(scheme: "https", host: "localhost"))
        #expect(outcome.text == (hasIdentity ? "ok" : ""))
        #expect((outcome.error == nil) == hasIdentity)
    }

    @Test("A root file that does not exist ends https loads with a clear error; http loads work")
    func missingRoot() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok)] }
        let transport = try transport(trusts: false) {
            $0.additionalTrustedRoots = [.pemFile(path: "/nonexistent/root.pem")]
        }
        let outcome = await transport.load(origin.url(scheme: "https"))
        #expect(outcome.code == .unknown)
        #expect(outcome.error?.localizedDescription.contains("options") == true)
        #expect(await transport.load(origin.url()).error == nil || origin.connectionCount > 0)
    }

    /// The files that the options name.
    enum OptionFile: CaseIterable { case root, certificate, key }

    @Test("A file of 64 GiB is not read, and the error names it and the limit", arguments: OptionFile.allCases)
    func huge(file: OptionFile) async throws {
        let certificates = try Certificates.shared.get()
        let origin = try origin("name")
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "huge.pem")
        try SparseFile.make(at: url)
        let path = url.path(percentEncoded: false)
        let transport = try transport(trusts: file != .root) {
            switch file {
            case .root: $0.additionalTrustedRoots = [.pemFile(path: path)]
            case .certificate, .key:
                $0.clientIdentity = .init(
                    certificatePath: file == .certificate ? path : certificates.path("client.pem"),
                    privateKeyPath: file == .key ? path : certificates.path("client.key")
                )
            }
        }
        let outcome = await transport.load(origin.url(scheme: "https", host: "localhost"))
        let text = outcome.error?.localizedDescription ?? ""
        #expect(text.contains(path), "\(text)")
        #expect(text.contains("68719476736 bytes, more than the 16777216 bytes"), "\(text)")
    }

    @Test(
        "A body that no field bounds is whole if the connection ends with close_notify, and cut without it",
        arguments: [true, false]
    )
    func endOfBody(hasFarewell: Bool) async throws {
        let context = try Certificates.shared.get().server("name")
        let origin = try RawOrigin(tls: context) { _ in
            [.request, .send("HTTP/1.1 200 OK\r\n\r\nhalf"), hasFarewell ? .close : .cut]
        }
        let outcome = await (try transport()).load(origin.url(scheme: "https", host: "localhost"))
        #expect(outcome.text == "half")
        #expect(outcome.code == (hasFarewell ? nil : .unknown))
        #expect(outcome.error?.localizedDescription.contains("within the body") == (hasFarewell ? nil : true))
    }

    @Test("A server that asks for a renegotiation ends the load with an error in words")
    func renegotiation() async throws {
        let certificates = try Certificates.shared.get()
        let server = try SpawnedProcess(
            "/usr/bin/openssl",
            [
                "s_server", "-tls1_2", "-accept", "127.0.0.1:0", "-cert", certificates.path("name.pem"),
                "-key", certificates.path("name.key"),
            ],
            output: .lines
        )
        defer { server.send(SIGKILL) }
        let line = await server.lines { $0.hasPrefix("ACCEPT ") }.last
        let port = try #require(line?.split(separator: ":").last)
        let recorder = Recorder()
        var request = URLRequest("https://localhost:\(port)/")
        request.httpMethod = "POST"
        let exchange = try transport().start(request, receiver: recorder)
        _ = await server.lines { $0.hasPrefix("POST / ") }
        server.write("r\n")
        let outcome = await recorder.end()
        #expect(
            outcome.error?.localizedDescription
                == "The server asks for a renegotiation of TLS 1.2, which this engine refuses. Ask its operator to do "
                + "without."
        )
        withExtendedLifetime(exchange) {}
    }

    @Test("HTTP/1.1 is spoken when the server prefers HTTP/2 and the engine cannot")
    func negotiation() async throws {
        let origin = try origin("name", protocols: ["h2", "http/1.1"])
        #expect(await (try transport()).load(origin.url(scheme: "https", host: "localhost")).text == "ok")
    }

    @Test("A server that does not speak TLS, or closes at once, ends the load with an error", arguments: [true, false])
    func noTLS(answers: Bool) async throws {
        let origin = try RawOrigin { _ in (answers ? [.send("HTTP/1.1 400 Bad Request\r\n\r\n")] : []) + [.close] }
        // The close can come before, while and after the TLS context is made, so this is tried several times.
        for _ in 0..<30 {
            let outcome = await (try transport()).load(origin.url(scheme: "https"))
            #expect(outcome.code == .unknown)
        }
    }

    @Test("A large body arrives whole, paused and resumed again and again")
    func large() async throws {
        let context = try Certificates.shared.get().server("name")
        let part = String(repeating: "y", count: 1 << 16)
        let origin = try RawOrigin(tls: context) { _ in
            [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: \(64 << 16)\r\n\r\n"), .flood(part, times: 64)]
        }
        let box = ExchangeBox()
        let recorder = Recorder {
            box.exchange?.pause()
            box.exchange?.resume()
        }
        let transport = try transport()
        box.exchange = transport.start(
            URLRequest(origin.url(scheme: "https", host: "localhost")),
            receiver: recorder
        )
        let outcome = await recorder.end()
        #expect(outcome.error == nil)
        #expect(outcome.body.count == 64 << 16)
    }
}
#endif

#if NIO
import WaystationTestSupport
import WaystationTesting
import Foundation
import FoundationNetworking
import Testing
import Waystation

@testable import WaystationNIO

/// The other tests leave parts of the engine out; these have all of them together.
@Suite("A transport as an app makes it", .timeLimit(.minutes(10)))
struct WholeTransportTests {
    private func transport(_ change: (inout NIOOptions) -> Void = { _ in }) throws -> NIOTransport {
        var options = NIOOptions()
        options.environment = [:]
        options.additionalTrustedRoots = [.pemFile(path: try Certificates.shared.get().path("ca.pem"))]
        change(&options)
        return NIOTransport(configuration: .ephemeral, options: options)
    }

    private func post(_ url: String, _ count: Int) -> URLRequest {
        URLRequest(url) {
            $0.httpMethod = "POST"
            $0.httpBody = Data((0..<count).map { UInt8($0 % 251) })
        }
    }

    @Test("speaks HTTP/2 with a server that offers it in the TLS handshake, with all loads on one connection")
    func negotiated() async throws {
        let context = try Certificates.shared.get().server("name", protocols: ["h2"])
        let server = try await HTTP2EchoServer.start(tls: context)
        let transport = try transport()
        let url = "https://localhost:\(server.port)/"
        #expect(await transport.load(url).fields["x-method"] == "GET")
        await withTaskGroup { group in
            for count in stride(from: 0, through: 300_000, by: 30_000) {
                let request = post(url, count)
                group.addTask {
                    let outcome = await transport.load(request)
                    #expect(outcome.error == nil)
                    #expect(outcome.body == request.httpBody ?? Data())
                }
            }
        }
        #expect(server.connectionCount == 1)
        try await server.stop()
    }

    @Test("speaks HTTP/2 at once with prior knowledge")
    func priorKnowledge() async throws {
        let server = try await HTTP2EchoServer.start()
        let transport = try transport { $0.httpVersions = .http2PriorKnowledge }
        let request = post("http://127.0.0.1:\(server.port)/", 100_000)
        #expect(await transport.load(request).body == request.httpBody)
        #expect(await transport.load(request).body == request.httpBody)
        #expect(server.connectionCount == 1)
        try await server.stop()
    }

    @Test("loads through a proxy's tunnel, and checks the server's certificate inside it")
    func tunnel() async throws {
        let context = try Certificates.shared.get().server("name", protocols: ["h2"])
        let server = try await HTTP2EchoServer.start(tls: context)
        let proxy = try ScriptedOrigin { _ in .tunnel(to: UInt16(server.port)) }
        let transport = try transport {
            $0.environment = ["https_proxy": "http://user:secret@127.0.0.1:\(proxy.port)"]
        }
        let request = post("https://localhost:\(server.port)/", 1_000)
        #expect(await transport.load(request).body == request.httpBody)
        let asked = try #require(proxy.requests.first)
        #expect(asked.method == "CONNECT")
        #expect(asked.target == "localhost:\(server.port)")
        #expect(asked.value(of: "Proxy-Authorization") == "Basic dXNlcjpzZWNyZXQ=")
        // The certificate is for localhost, and not for this name.
        let other = await transport.load(post("https://other.test:\(server.port)/", 1))
        #expect(other.code == .unknown)
        #expect(proxy.requests.count == 2)
        try await server.stop()
    }

    @Test(
        "asks a proxy for http URLs with their whole text, by HTTP/1.1",
        arguments: [NIOOptions.HTTPVersions.automatic, .http2PriorKnowledge]
    )
    func absoluteForm(versions: NIOOptions.HTTPVersions) async throws {
        let proxy = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .again] }
        let transport = try transport {
            $0.environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
            $0.httpVersions = versions
        }
        #expect(await transport.load("http://somewhere.test/a?b=1").text == "ok")
        #expect(proxy.requests.map(\.line) == ["GET http://somewhere.test/a?b=1 HTTP/1.1"])
        #expect(proxy.requests.first?.values(of: "host") == ["somewhere.test"])
    }

    @Test("asks for the codings that it can remove, and removes them")
    func coding() async throws {
        // "hello" by gzip.
        let gzip: [UInt8] = [
            0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0, 0x86, 0xa6, 0x10, 0x36,
            0x05, 0, 0, 0,
        ]
        let origin = try RawOrigin { _ in
            [
                .request, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n"),
                .sendBytes(gzip), .again,
            ]
        }
        #expect(await (try transport()).load(origin.url()).text == "hello")
        let asked = try #require(origin.requests.first?.values(of: "accept-encoding").first)
        #expect(asked.contains("gzip") && asked.contains("deflate"))
    }

    @Test("a connect that the system refuses within the call fails the load at once")
    func refusedAtOnce() async throws {
        // The system needs a zone for such an address, so it sends nothing.
        let outcome = await (try transport()).load("http://[fe80::1]:9/")
        #expect(outcome.code == .cannotConnectToHost)
    }

    @Test("a start and its cancel in one turn of the event loop send nothing, also if a connection is free")
    func cancelledInBatch() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .again] }
        let transport = try transport()
        let first = Recorder {
            // On the event loop, so both commands are in one batch.
            transport.start(URLRequest(origin.url("/cancelled")), receiver: Recorder()).cancel()
        }
        #expect(await transport.load(origin.url("/warm")).text == "ok")
        _ = transport.start(URLRequest(origin.url("/first")), receiver: first)
        #expect(await first.end().text == "ok")
        #expect(await transport.load(origin.url("/last")).text == "ok")
        #expect(origin.requests.map(\.line) == ["/warm", "/first", "/last"].map { "GET \($0) HTTP/1.1" })
    }
}
#endif

#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Servers that require HTTP/1.1 (HTTP_1_1_REQUIRED)", .timeLimit(.minutes(10)))
struct HTTP1RequiredTests {
    private func server(_ refusal: HTTP1RequiringServer.Refusal = .resetStream) async throws -> HTTP1RequiringServer {
        let context = try Certificates.shared.get().server("name", protocols: ["h2", "http/1.1"])
        return try await HTTP1RequiringServer.start(tls: context, refusal)
    }

    private func transport(_ versions: NIOOptions.HTTPVersions = .automatic) throws -> NIOTransport {
        var options = NIOOptions()
        options.environment = [:]
        options.httpVersions = versions
        options.additionalTrustedRoots = [.pemFile(path: try Certificates.shared.get().path("ca.pem"))]
        return NIOTransport(configuration: .ephemeral, options: options)
    }

    @Test("get the request again over HTTP/1.1, whatever its method, and are asked over HTTP/2 only once")
    func switches() async throws {
        let server = try await server()
        let transport = try transport()
        let post = URLRequest(server.url) {
            $0.httpMethod = "POST"
            $0.httpBody = Data("body".utf8)
        }
        #expect(await transport.load(post).text == "POST body")
        #expect(await transport.load(server.url).text == "GET ")
        #expect(await transport.load(post).text == "POST body")
        #expect(server.counts == .init(http2Connections: 1, http2Requests: 1, http1Requests: 3))
        try await server.stop()
    }

    @Test("get all requests of a connection again")
    func several() async throws {
        let server = try await server()
        let transport = try transport()
        let recorders = (0..<20).map { _ in Recorder() }
        for recorder in recorders { _ = transport.start(URLRequest(server.url), receiver: recorder) }
        for recorder in recorders { #expect(await recorder.end().text == "GET ") }
        #expect(server.counts.http1Requests == 20)
        try await server.stop()
    }

    @Test("may say so by GOAWAY")
    func goAway() async throws {
        let server = try await server(.goAway)
        let transport = try transport()
        #expect(await transport.load(server.url).text == "GET ")
        #expect(await transport.load(server.url).text == "GET ")
        #expect(server.counts == .init(http2Connections: 1, http2Requests: 1, http1Requests: 2))
        try await server.stop()
    }

    @Test("may say so by a GOAWAY that covers a request: a lost GET is sent again, a lost POST is not")
    func lateGoAway() async throws {
        for method in ["GET", "POST"] {
            let server = try await server(.lateGoAway)
            let transport = try transport()
            let request = URLRequest(server.url) { $0.httpMethod = method }
            let outcome = await transport.load(request)
            // The server may have processed the POST.
            if method == "POST" {
                #expect(outcome.code == .badServerResponse)
                #expect(server.counts == .init(http2Connections: 1, http2Requests: 1))
            } else {
                #expect(outcome.text == "GET ")
            }
            #expect(await transport.load(request).text == "\(method) ")
            #expect(server.counts.http2Requests == 1)
            try await server.stop()
        }
    }

    @Test("fail the load if the transport speaks HTTP/2 only")
    func priorKnowledge() async throws {
        let server = try await server()
        let transport = try transport(.http2PriorKnowledge)
        let outcome = await transport.load(URLRequest(server.url) { $0.httpMethod = "POST" })
        #expect(outcome.code == .badServerResponse)
        #expect(outcome.error?.localizedDescription.isEmpty == false)
        #expect(server.counts == .init(http2Connections: 1, http2Requests: 1))
        try await server.stop()
    }
}
#endif

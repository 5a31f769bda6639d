#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("Connections are shared", .timeLimit(.minutes(10)))
struct ReuseTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test("Requests one after the other use one connection")
    func reuse() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        let transport = NIOTransport.plain()
        for _ in 0..<5 { #expect(await transport.load(origin.url()).text == "ok") }
        #expect(origin.connectionCount == 1)
        #expect(origin.requests.count == 5)
    }

    @Test(
        "A connection is not used again when the server closes it",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ]
    )
    func close(answer: String) async throws {
        let origin = try RawOrigin { _ in [.request, .send(answer), .again] }
        let transport = NIOTransport.plain()
        for _ in 0..<3 { #expect(await transport.load(origin.url()).text == "ok") }
        #expect(origin.connectionCount == 3)
        #expect(await eventually { origin.closedCount == 3 })
    }

    @Test("A connection is not used again when the request asked to close it")
    func requestedClose() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        let transport = NIOTransport.plain()
        let request = URLRequest(origin.url()) { $0.setValue("close", forHTTPHeaderField: "Connection") }
        for _ in 0..<2 { #expect(await transport.load(request).text == "ok") }
        #expect(origin.connectionCount == 2)
    }

    @Test("At most six connections lead to a host, and the other requests wait")
    func limit() async throws {
        let gate = Gate()
        let origin = try RawOrigin { _ in [.request, .gate(gate), .send(Self.ok), .again] }
        let transport = NIOTransport.plain()
        let recorders = (0..<20).map { _ in Recorder() }
        for recorder in recorders { _ = transport.start(URLRequest(origin.url()), receiver: recorder) }
        #expect(await eventually { origin.requests.count == 6 })
        gate.open()
        for recorder in recorders { #expect(await recorder.end().text == "ok") }
        #expect(origin.connectionCount == 6)
    }

    @Test("The configuration's httpMaximumConnectionsPerHost is the limit")
    func ownLimit() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        let transport = NIOTransport.plain(configuration: configuration)
        let recorders = (0..<10).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            _ = transport.start(URLRequest(origin.url("/\(number)")), receiver: recorder)
        }
        for recorder in recorders { #expect(await recorder.end().text == "ok") }
        #expect(origin.connectionCount == 1)
        #expect(origin.requests.map(\.line) == (0..<10).map { "GET /\($0) HTTP/1.1" })
    }

    @Test("Bytes on an idle connection close it")
    func stray() async throws {
        let gate = Gate()
        let origin = try RawOrigin { number in
            number == 0 ? [.request, .send(Self.ok), .gate(gate), .send("HTT")] : [.request, .send(Self.ok)]
        }
        let transport = NIOTransport.plain()
        #expect(await transport.load(origin.url()).text == "ok")
        gate.open()
        #expect(await eventually { origin.closedCount == 1 })
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(origin.connectionCount == 2)
    }

    @Test("A second response, which no request asked for, closes the connection")
    func surplusResponse() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok + Self.ok), .again] }
        let transport = NIOTransport.plain()
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(await eventually { origin.closedCount == 1 })
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(origin.connectionCount == 2)
    }

    @Test(
        "The beginning of a second response, in the same read, closes the connection",
        arguments: [
            "H", "HTTP/1.1 302 Found", "HTTP/1.1 302 Found\r\nLocation: https://other.example/\r\nX: ",
            "HTTP/1.1 302 Found\r\nLocation: https://other.example/\r\n", "HTTP/1.1 103 Early Hints\r\nX: ",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-",
        ]
    )
    func begunResponse(_ surplus: String) async throws {
        let origin = try RawOrigin { number in
            [.request, .send(Self.ok + (number == 0 ? surplus : "")), .again]
        }
        let transport = NIOTransport.plain()
        #expect(await transport.load(origin.url()).text == "ok")
        let second = await transport.load(origin.url())
        #expect(second.text == "ok" && second.status == 200)
        #expect(origin.connectionCount == 2)
    }

    @Test("Idle connections are closed when their time is over")
    func idleTime() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        let transport = NIOTransport.plain { $0.idleConnectionLifetime = 0.02 }
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(await eventually { origin.closedCount == 1 })
    }

    @Test("Idle connections are closed when the transport is released, and running exchanges continue")
    func release() async throws {
        let gate = Gate()
        let origin = try RawOrigin { number in
            number == 0 ? [.request, .gate(gate), .send(Self.ok)] : [.request, .send(Self.ok)]
        }
        let recorder = Recorder()
        do {
            let transport = NIOTransport.plain()
            _ = transport.start(URLRequest(origin.url()), receiver: recorder)
            #expect(await eventually { origin.requests.count == 1 })
            #expect(await transport.load(origin.url()).text == "ok")
        }
        #expect(await eventually { origin.closedCount == 1 })
        #expect(!recorder.outcome.hasEnded)
        gate.open()
        #expect(await recorder.end().text == "ok")
        #expect(await eventually { origin.closedCount == 2 })
    }

    @Test("The engine is released with its transport, as soon as nothing runs any more")
    func engine() async throws {
        final class Token: Sendable {}
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        weak var token: Token?
        do {
            let held = Token()
            token = held
            var parts = EngineParts()
            parts.makeDecoder = { _, _ in
                _ = held
                return nil
            }
            let transport = NIOTransport(configuration: .ephemeral, options: .init(), parts: parts)
            #expect(await transport.load(origin.url()).text == "ok")
            let exchange = transport.start(URLRequest(origin.url()), receiver: Recorder())
            exchange.cancel()
        }
        #expect(await eventually { token == nil })
    }

    @Test("At most `idleConnections` connections are kept")
    func idleLimit() async throws {
        let gate = Gate()
        let origin = try RawOrigin { _ in [.request, .gate(gate), .send(Self.ok), .again] }
        let transport = NIOTransport.plain { $0.limits.idleConnections = 2 }
        let recorders = (0..<5).map { _ in Recorder() }
        for recorder in recorders { _ = transport.start(URLRequest(origin.url()), receiver: recorder) }
        #expect(await eventually { origin.requests.count == 5 })
        gate.open()
        for recorder in recorders { #expect(await recorder.end().text == "ok") }
        #expect(await eventually { origin.closedCount == 3 })
    }
}
#endif

#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Testing
import WaystationTestSupport
import WaystationTesting
import Waystation

@testable import WaystationNIO

@Suite("Time-outs", .timeLimit(.minutes(10)))
struct TimeoutTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test(
        "A server that falls silent ends the load with -1001, and its connection is closed",
        arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na"]
    )
    func silence(answer: String) async throws {
        let origin = try RawOrigin { _ in [.request, .send(answer)] }
        let outcome = await NIOTransport.plain().load(URLRequest(origin.url()) { $0.timeoutInterval = 0.05 })
        #expect(outcome.code == .timedOut)
        #expect(outcome.wrongCalls == 0)
        #expect(await eventually { origin.closedCount == 1 })
    }

    @Test("The wait for a connection counts as well")
    func waiting() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let gate = Gate()
        let origin = try RawOrigin { _ in [.request, .gate(gate), .send(Self.ok), .again] }
        let transport = NIOTransport.plain(configuration: configuration)
        let first = Recorder()
        _ = transport.start(URLRequest(origin.url()), receiver: first)
        #expect(await eventually { origin.requests.count == 1 })
        let outcome = await transport.load(URLRequest(origin.url("/2")) { $0.timeoutInterval = 0.05 })
        #expect(outcome.code == .timedOut)
        gate.open()
        #expect(await first.end().text == "ok")
        #expect(origin.requests.count == 1)
    }

    @Test("A paused exchange has no time-out")
    func paused() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na")] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url()) { $0.timeoutInterval = 0.05 }, receiver: recorder)
        exchange.pause()
        let other = await transport.load(URLRequest(origin.url()) { $0.timeoutInterval = 0.2 })
        #expect(other.code == .timedOut)
        #expect(!recorder.outcome.hasEnded)
        exchange.resume()
        #expect(await recorder.end().code == .timedOut)
    }

    @Test("A connection that is closed before it is ready fails at once, not when its time is over")
    func closedEarly() async throws {
        let origin = try RawOrigin { _ in [] }
        let gate = Gate()
        var parts = EngineParts()
        let proxy = Route.Proxy(host: "127.0.0.1", port: origin.port)
        parts.makeRoutes = { _ in { _, _, _ in .tunnel(proxy) } }
        // A tunnel that never opens, on a channel that is closed.
        parts.openTunnel = { channel, _, _, _ in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            gate.whenOpen { promise.succeed() }
            channel.close(promise: nil)
            return promise.futureResult
        }
        var options = NIOOptions()
        options.connectTimeout = 3600
        let transport = NIOTransport(configuration: .ephemeral, options: options, parts: parts)
        #expect(await transport.load(URLRequest("https://h/") { $0.timeoutInterval = 3600 }).code == .unknown)
        gate.open()
    }

    @Test("A TLS handshake that gets no answer ends with the connect time-out")
    func handshake() async throws {
        let origin = try RawOrigin { _ in [.gate(Gate())] }
        let outcome = await NIOTransport.plain { $0.connectTimeout = 0.05 }.load(origin.url(scheme: "https"))
        #expect(outcome.code == .timedOut)
        #expect(await eventually { origin.closedCount == 1 })
    }
}
#endif

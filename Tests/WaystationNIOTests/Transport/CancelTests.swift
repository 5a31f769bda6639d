#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("Cancelling", .timeLimit(.minutes(10)))
struct CancelTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Nothing of a cancelled load may arrive; another load through the same loop shows that its turn is over.
    private func check(_ recorder: Recorder, _ transport: NIOTransport) async throws {
        let before = recorder.outcome
        let other = try RawOrigin { _ in [.request, .send(Self.ok)] }
        #expect(await transport.load(other.url()).text == "ok")
        #expect(recorder.outcome.body == before.body)
        #expect(!recorder.outcome.hasEnded)
    }

    @Test("before the head arrives closes the connection")
    func head() async throws {
        let origin = try RawOrigin { _ in [.request] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        #expect(await eventually { origin.requests.count == 1 })
        exchange.cancel()
        #expect(await eventually { origin.closedCount == 1 })
        try await check(recorder, transport)
    }

    @Test("within the body closes the connection", arguments: [false, true])
    func body(isPaused: Bool) async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        _ = await recorder.until { $0.text == "abc" }
        if isPaused { exchange.pause() }
        exchange.cancel()
        #expect(await eventually { origin.closedCount == 1 })
        try await check(recorder, transport)
    }

    @Test("at once, before anything was done, sends nothing")
    func atOnce() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        let first = try RawOrigin { _ in [.request, .send(Self.ok)] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let request = URLRequest(origin.url())
        // On the event loop, so that nothing can be done between the start and the cancel.
        let starter = Recorder { transport.start(request, receiver: recorder).cancel() }
        _ = transport.start(URLRequest(first.url()), receiver: starter)
        #expect(await starter.end().text == "ok")
        try await check(recorder, transport)
        #expect(origin.requests.isEmpty)
    }

    @Test("a waiting request gives up its place, and the others are sent")
    func queued() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let gate = Gate()
        let origin = try RawOrigin { _ in [.request, .gate(gate), .send(Self.ok), .again] }
        let transport = NIOTransport.plain(configuration: configuration)
        let recorders = (0..<3).map { _ in Recorder() }
        let exchanges = recorders.enumerated().map { number, recorder in
            transport.start(URLRequest(origin.url("/\(number)")), receiver: recorder)
        }
        #expect(await eventually { origin.requests.count == 1 })
        exchanges[1].cancel()
        // The event loop takes commands in their order: when this refused request has ended, the cancel has taken effect.
        let refused = Recorder()
        var request = URLRequest(origin.url())
        request.httpMethod = "NO METHOD"
        _ = transport.start(request, receiver: refused)
        #expect(await refused.end().error != nil)
        gate.open()
        #expect(await recorders[0].end().text == "ok")
        #expect(await recorders[2].end().text == "ok")
        #expect(origin.requests.map(\.line) == ["GET /0 HTTP/1.1", "GET /2 HTTP/1.1"])
        #expect(!recorders[1].outcome.hasEnded)
    }

    @Test("while an upload is running closes the connection")
    func upload() async throws {
        let origin = try RawOrigin { _ in [.requestHead, .gate(Gate())] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBody = Data(count: 64 << 20)
        }
        let exchange = transport.start(request, receiver: recorder)
        _ = await recorder.until { !$0.sent.isEmpty }
        exchange.cancel()
        #expect(await eventually { origin.closedCount == 1 })
        try await check(recorder, transport)
    }

    @Test("twice, and after the end, has no effect")
    func late() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .again] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        _ = await recorder.end()
        exchange.cancel()
        exchange.cancel()
        exchange.resume()
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(origin.connectionCount == 1)
        #expect(recorder.outcome.wrongCalls == 0)
    }

    @Test("releases the receiver")
    func receiver() async throws {
        let origin = try RawOrigin { _ in [.request] }
        let transport = NIOTransport.plain()
        weak var weakly: Recorder?
        let exchange: any TransportExchange
        do {
            let recorder = Recorder()
            weakly = recorder
            exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        }
        #expect(await eventually { origin.requests.count == 1 })
        #expect(weakly != nil)
        exchange.cancel()
        #expect(await eventually { weakly == nil })
    }
}
#endif

#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Synchronization
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("Connections with several streams", .timeLimit(.minutes(10)))
struct MultiplexingTests {
    private let log = FakeMultiplexedConnection.Log()

    private func transport(capacity: Int = 100, refusals: Int = 0, answers: Bool = true) -> NIOTransport {
        var options = NIOOptions()
        options.httpVersions = .http2PriorKnowledge
        var parts = EngineParts()
        parts.afterPause = { _, _, work in work() }
        parts.makeHTTP2Connection = { [log] channel, owner, _ in
            FakeMultiplexedConnection(
                channel,
                owner,
                log,
                capacity: capacity,
                refusals: refusals,
                answers: answers
            )
        }
        return NIOTransport(configuration: .ephemeral, options: options, parts: parts)
    }

    private func origin() throws -> RawOrigin { try RawOrigin { _ in [] } }

    @Test("carry all requests of an origin, and the other connects are given up")
    func shared() async throws {
        let origin = try origin()
        let transport = transport()
        let recorders = (0..<50).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            _ = transport.start(URLRequest(origin.url("/\(number)")), receiver: recorder)
        }
        for (number, recorder) in recorders.enumerated() { #expect(await recorder.end().text == "/\(number)") }
        #expect(log.state.withLock { $0.connections } == 1)
        #expect(await transport.load(origin.url("/last")).text == "/last")
        #expect(log.state.withLock { $0.connections } == 1)
    }

    @Test("are never given more exchanges than they report")
    func capacity() async throws {
        let origin = try origin()
        let transport = transport(capacity: 3)
        let recorders = (0..<50).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            _ = transport.start(URLRequest(origin.url("/\(number)")), receiver: recorder)
        }
        for (number, recorder) in recorders.enumerated() { #expect(await recorder.end().text == "/\(number)") }
        #expect(log.state.withLock { $0.connections } <= 6)
    }

    @Test("may refuse a request, of any method, which is then sent again", arguments: ["GET", "POST"])
    func refused(method: String) async throws {
        let origin = try origin()
        let transport = transport(refusals: 3)
        let outcome = await transport.load(URLRequest(origin.url("/x")) { $0.httpMethod = method })
        #expect(outcome.text == "/x")
        #expect(log.state.withLock { $0.begun } == ["/x", "/x", "/x", "/x"])
    }

    @Test("that refuse for ever end the load with an error")
    func refusedForEver() async throws {
        let origin = try origin()
        let outcome = await transport(refusals: .max).load(origin.url("/x"))
        #expect(outcome.code == .badServerResponse)
        #expect(log.state.withLock { $0.begun.count } == 6)
    }

    @Test("stay open when one of their exchanges is cancelled")
    func cancelled() async throws {
        let origin = try origin()
        let transport = transport(answers: false)
        let first = transport.start(URLRequest(origin.url("/1")), receiver: Recorder())
        let second = transport.start(URLRequest(origin.url("/2")), receiver: Recorder())
        #expect(await eventually { log.state.withLock { $0.begun.count } == 2 })
        first.cancel()
        #expect(await eventually { log.state.withLock { $0.cancelled } == 1 })
        second.cancel()
        #expect(await eventually { log.state.withLock { $0.cancelled } == 2 })
        #expect(log.state.withLock { $0.connections } == 1)
    }

    @Test("are closed when the transport is released")
    func released() async throws {
        let origin = try origin()
        do {
            let transport = transport()
            #expect(await transport.load(origin.url("/x")).text == "/x")
        }
        #expect(await eventually { origin.closedCount == origin.connectionCount })
    }
}
#endif

#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("Backpressure", .timeLimit(.minutes(10)))
struct BackpressureTests {
    private static let part = String(repeating: "x", count: 64 << 10)
    /// 64 MiB: far more than the buffers of both sockets hold.
    private static let partCount = 1024

    private func flood() throws -> RawOrigin {
        try RawOrigin { _ in
            [
                .request, .send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.partCount * (64 << 10))\r\n\r\n"),
                .flood(Self.part, times: Self.partCount),
            ]
        }
    }

    /// Waits until a number of bytes does not change any more, and returns it.
    ///
    /// The bytes stop when the buffers of both sockets are full. Other loads of the same event loop serve as the clock.
    private func standstill(of transport: NIOTransport, _ bytes: () -> Int) async throws -> Int {
        let clock = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .again] }
        var last = 0
        var unchanged = 0
        while unchanged < 100 {
            #expect(await transport.load(clock.url()).text == "ok")
            let now = bytes()
            unchanged = now == last && now > 0 ? unchanged + 1 : 0
            last = now
        }
        return last
    }

    @Test("A paused exchange stops the server; resuming delivers everything")
    func pause() async throws {
        let origin = try flood()
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        exchange.pause()
        let last = try await standstill(of: transport) { origin.floodedBytes }
        #expect(last < 32 << 20)
        #expect(recorder.outcome.body.isEmpty)
        exchange.resume()
        let outcome = await recorder.end()
        #expect(outcome.error == nil)
        #expect(outcome.body.count == Self.partCount * (64 << 10))
    }

    @Test("Pausing and resuming again and again loses nothing")
    func often() async throws {
        let origin = try flood()
        let transport = NIOTransport.plain()
        let box = ExchangeBox()
        let recorder = Recorder {
            box.exchange?.pause()
            box.exchange?.resume()
        }
        box.exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        let outcome = await recorder.end()
        #expect(outcome.body.count == Self.partCount * (64 << 10))
        #expect(outcome.error == nil)
    }

    @Test("A paused exchange delivers its end only after it is resumed")
    func pausedEnd() async throws {
        let gate = Gate()
        let answer = RawOrigin.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let origin = try RawOrigin { [.request] + ($0 == 0 ? [.gate(gate)] : []) + [answer, .again] }
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url()), receiver: recorder)
        #expect(await eventually { !origin.requests.isEmpty })
        exchange.pause()
        // When this load has ended, its event loop has also paused the exchange.
        #expect(await transport.load(origin.url()).text == "ok")
        gate.open()
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(await transport.load(origin.url()).text == "ok")
        #expect(!recorder.outcome.hasEnded)
        exchange.resume()
        #expect(await recorder.end().text == "ok")
    }

    @Test("An upload waits for the server to read")
    func upload() async throws {
        let gate = Gate()
        let origin = try RawOrigin(stalled: gate)
        let transport = NIOTransport.plain()
        let recorder = Recorder()
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBody = Data(count: 64 << 20)
        }
        let exchange = transport.start(request, receiver: recorder)
        let last = try await standstill(of: transport) { Int(recorder.outcome.sent.last?.total ?? 0) }
        #expect(last < 32 << 20)
        exchange.cancel()
    }
}

/// An exchange that its own receiver uses.
final class ExchangeBox: @unchecked Sendable {
    // Set once, before the first part arrives from another thread.
    var exchange: (any TransportExchange)?
}
#endif

import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The pace of an exchange", .timeLimit(.minutes(10)))
struct ExchangePaceTests {
    private let start = "https://a.example/start"
    private let part = Data(repeating: 7, count: 100 << 10)

    private func interceptor(_ transport: DrivenTransport, _ cache: ResponseCache? = nil) throws -> Interceptor {
        try Interceptor {
            $0.rules = [.allow("https://*.example/**", via: cache == nil ? .network : .cache(.standard))]
            $0.cache = cache
            $0.makeTransport = { _ in transport }
        }
    }

    @Test("changes above the upper limit and again at the lower one")
    func limits() {
        var waiting = WaitingBytes()
        let counts = [
            0, WaitingBytes.upperLimit, WaitingBytes.upperLimit + 1, WaitingBytes.upperLimit,
            WaitingBytes.lowerLimit + 1, WaitingBytes.lowerLimit, WaitingBytes.upperLimit,
        ]
        #expect(counts.map { waiting.update($0) } == [false, false, true, false, false, true, false])
    }

    @Test("rests while a suspended load has too many bytes, and goes on when they are taken")
    func suspended() async throws {
        let transport = DrivenTransport()
        let client = RecordingJourneyClient()
        let load = Journey(client, try URLRequest("GET", start), by: try interceptor(transport))
        try load.begin()
        let receiver = try await transport.receiver(1)
        receiver.transportDidReceive(try .head(200))
        load.suspend()
        for _ in 1...2 { receiver.transportDidReceive(part) }
        #expect(transport.calls.isEmpty)
        for _ in 1...2 { receiver.transportDidReceive(part) }
        #expect(transport.calls == [.pause])
        load.start()
        #expect(await eventually { transport.calls.count >= 2 })
        #expect(transport.calls == [.pause, .resume])
        receiver.transportDidEnd(nil)
        #expect(await client.completion().count == 6)
    }

    @Test("rests only when no load that shares the exchange can take more")
    func shared() async throws {
        let folder = try TemporaryDirectory()
        let transport = DrivenTransport()
        let cache = try ResponseCache(directory: folder.url, environment: .patient)
        let interceptor = try interceptor(transport, cache)
        let network = interceptor.makeNetwork(.ephemeral)
        let clients = [RecordingJourneyClient(), RecordingJourneyClient()]
        let loads = try clients.map { Journey($0, try URLRequest("GET", start), by: interceptor, through: network) }
        for load in loads { try load.begin() }
        let fetches = try #require(interceptor.sources.fetches)
        #expect(await eventually { fetches.waiterCount == 2 })
        let receiver = try await transport.receiver(1)
        receiver.transportDidReceive(try .head(200, ["Cache-Control": "max-age=60"]))
        loads[0].suspend()
        for count in 1...4 {
            receiver.transportDidReceive(part)
            #expect(await eventually { clients[1].calls.count == count + 1 })
        }
        #expect(transport.calls.isEmpty)
        loads[1].suspend()
        for _ in 1...4 { receiver.transportDidReceive(part) }
        #expect(transport.calls == [.pause])
        // The one that rests less leaves; the other one still rests.
        loads[1].cancel()
        #expect(transport.calls == [.pause])
        loads[0].start()
        #expect(await eventually { transport.calls.count >= 2 })
        #expect(transport.calls == [.pause, .resume])
        receiver.transportDidEnd(nil)
        #expect(await clients[0].completion().last == .end(nil))
    }

    @Test("goes on when a load joins that can take more")
    func joining() async throws {
        let folder = try TemporaryDirectory()
        let transport = DrivenTransport()
        let interceptor = try interceptor(transport, ResponseCache(directory: folder.url, environment: .patient))
        let network = interceptor.makeNetwork(.ephemeral)
        let clients = [RecordingJourneyClient(), RecordingJourneyClient()]
        let loads = try clients.map { Journey($0, try URLRequest("GET", start), by: interceptor, through: network) }
        try loads[0].begin()
        let receiver = try await transport.receiver(1)
        receiver.transportDidReceive(try .head(200, ["Cache-Control": "max-age=60"]))
        loads[0].suspend()
        for _ in 1...3 { receiver.transportDidReceive(part) }
        #expect(transport.calls == [.pause])
        try loads[1].begin()
        #expect(await eventually { transport.calls.count >= 2 })
        #expect(transport.calls.prefix(2) == [.pause, .resume])
        receiver.transportDidEnd(nil)
        #expect(await clients[1].completion().last == .end(nil))
    }

    @Test(
        "a transport that may be started on any queue is started on the thread of the load",
        arguments: [false, true]
    )
    func anyQueue(startsOnAnyQueue: Bool) async throws {
        let transport = DrivenTransport(startsOnAnyQueue: startsOnAnyQueue)
        let interceptor = try interceptor(transport)
        let network = interceptor.makeNetwork(.ephemeral)
        // The first request makes the transport, on a global queue.
        let first = Journey(RecordingJourneyClient(), try URLRequest("GET", start), by: interceptor, through: network)
        try first.begin()
        _ = try await transport.receiver(1)
        let second = Journey(RecordingJourneyClient(), try URLRequest("GET", start), by: interceptor, through: network)
        let isHere = try Self.isStarted(second, here: transport)
        #expect(isHere == startsOnAnyQueue)
        _ = try await transport.receiver(2)
    }

    /// Begins a load, and returns whether its request was started on this thread meanwhile.
    private static func isStarted(_ load: Journey, here transport: DrivenTransport) throws -> Bool {
        let count = transport.threads.count
        let thread = Thread.current
        try load.begin()
        return transport.threads.count > count && transport.threads[count] === thread
    }

    @Test("a request that the transport cannot carry is sent by Foundation's")
    func notCarried() async throws {
        let origin = try ScriptedOrigin { _ in .ok("from Foundation") }
        let transport = DrivenTransport(startsOnAnyQueue: true) { $0.url?.path != "/other" }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.transport = .init { _ in transport }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (body, _) = try await session.data(from: origin.url("/other"))
        #expect(String(decoding: body, as: UTF8.self) == "from Foundation")
        #expect(transport.count == 0)
        // Uploads stay with Foundation, too.
        var post = URLRequest(url: origin.url("/upload"))
        post.httpMethod = "POST"
        let (uploaded, _) = try await session.upload(for: post, from: Data("x".utf8))
        #expect(String(decoding: uploaded, as: UTF8.self) == "from Foundation")
        #expect(transport.count == 0)
    }
}

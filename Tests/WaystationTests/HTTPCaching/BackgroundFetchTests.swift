import Foundation
import FoundationNetworking
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import Waystation

@Suite("A fetch whose loads all have their answers", .timeLimit(.minutes(10)))
struct BackgroundFetchTests {
    private let url = "https://a.example/page"
    private let fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
    private let unstored = ["Cache-Control": "no-store"]
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    /// An app whose cache has a response.
    private struct App {
        let interceptor: Interceptor
        let network: Network
        let fetches: Fetches
        let transport: DrivenTransport

        /// Begins a load.
        func load(_ url: String) throws -> (client: RecordingJourneyClient, journey: Journey) {
            let client = RecordingJourneyClient()
            let journey = Journey(client, try URLRequest("GET", url), by: interceptor, through: network)
            try journey.begin()
            return (client, journey)
        }
    }

    private func app(
        _ strategy: CacheStrategy = .networkFirst(timeout: .seconds(3)),
        maximumEntrySize: ByteCount = .mebibytes(32),
        onStart: @escaping @Sendable (_ number: Int, any TransportReceiver) -> Void = { _, _ in }
    ) async throws -> App {
        let transport = DrivenTransport(onStart: onStart)
        let interceptor = try Interceptor { [directory, clock] in
            $0.rules = [.allow("https://*.example/**", via: .cache(strategy))]
            $0.cache = try ResponseCache(
                directory: directory.url,
                limits: StoreLimits(maximumEntrySize: maximumEntrySize),
                environment: .patient
            )
            $0.schedule = clock.schedule
            $0.makeTransport = { _ in transport }
        }
        let app = App(
            interceptor: interceptor,
            network: interceptor.makeNetwork(.ephemeral),
            fetches: try #require(interceptor.sources.fetches),
            transport: transport
        )
        let (client, _) = try app.load(url)
        let receiver = try await app.transport.receiver(1)
        receiver.transportDidReceive(try .head(200, fields, at: url))
        receiver.transportDidReceive(Data("kept".utf8))
        receiver.transportDidEnd(nil)
        #expect(await client.completion().last == .end(nil))
        return app
    }

    /// Answers a load with the stored response, because the network is late.
    ///
    /// - Returns: The receiver of the late response.
    private func standIn(in app: App) async throws -> any TransportReceiver {
        let (client, _) = try app.load(url)
        let receiver = try await app.transport.receiver(2)
        clock.fire()
        #expect(await client.completion() == [.head(200, of: url), .part("kept"), .end(nil)])
        return receiver
    }

    @Test("delivers a late response that may not be stored to the load that waits for it")
    func waitingLoad() async throws {
        let url = url
        let app = try await app { number, receiver in
            guard number > 2, let head = try? ResponseHead.head(200, at: url) else { return }
            receiver.transportDidReceive(head)
            receiver.transportDidEnd(nil)
        }
        let late = try await standIn(in: app)
        let (client, _) = try app.load(url)
        #expect(await eventually { app.fetches.waiterCount == 2 })
        late.transportDidReceive(try .head(200, unstored, at: url))
        late.transportDidReceive(Data("new".utf8))
        late.transportDidEnd(nil)
        #expect(await client.completion() == [.head(200, of: url), .part("new"), .end(nil)])
        #expect(app.transport.count == 2)
    }

    @Test("rests while the load that waits for the late response can take no more")
    func resting() async throws {
        let app = try await app()
        let late = try await standIn(in: app)
        let (client, journey) = try app.load(url)
        #expect(await eventually { app.fetches.waiterCount == 2 })
        late.transportDidReceive(try .head(200, fields, at: url))
        journey.suspend()
        for _ in 1...4 { late.transportDidReceive(Data(repeating: 7, count: 100 << 10)) }
        #expect(app.transport.calls == [.pause])
        journey.start()
        #expect(await eventually { app.transport.calls == [.pause, .resume] })
        late.transportDidEnd(nil)
        #expect(await client.completion().last == .end(nil))
    }

    @Test("is cancelled when the late response may not be stored")
    func unstoredResponse() async throws {
        let app = try await app()
        let late = try await standIn(in: app)
        #expect(app.transport.calls.isEmpty)
        late.transportDidReceive(try .head(200, unstored, at: url))
        #expect(app.transport.calls == [.cancel])
        #expect(app.fetches.waiterCount == 0)
    }

    @Test("is cancelled also when the stored response was the answer within the start of the exchange")
    func answeredWithinStart() async throws {
        let app = try await app { [clock] number, _ in if number == 2 { clock.fire() } }
        let (client, _) = try app.load(url)
        #expect(await client.completion() == [.head(200, of: url), .part("kept"), .end(nil)])
        let late = try await app.transport.receiver(2)
        late.transportDidReceive(try .head(200, unstored, at: url))
        // The thread that starts the exchange may not have left the fetch yet.
        #expect(
            await eventually {
                late.transportDidReceive(Data("endless".utf8))
                return app.transport.calls == [.cancel]
            }
        )
    }

    @Test(
        "is cancelled when the body becomes larger than the store takes",
        arguments: [CacheStrategy.staleWhileRevalidate(upTo: .days(1)), .networkFirst(timeout: .seconds(3))]
    )
    func tooLarge(strategy: CacheStrategy) async throws {
        let app = try await app(strategy, maximumEntrySize: .kibibytes(64))
        let late: any TransportReceiver
        if case .networkFirst = strategy.kind {
            late = try await standIn(in: app)
        } else {
            let (client, _) = try app.load(url)
            #expect(await client.completion() == [.head(200, of: url), .part("kept"), .end(nil)])
            late = try await app.transport.receiver(2)
        }
        // The length of the body is not stated.
        late.transportDidReceive(try .head(200, fields, at: url))
        for _ in 1...2 { late.transportDidReceive(Data(repeating: 7, count: 32 << 10)) }
        #expect(app.transport.calls.isEmpty)
        for _ in 1...2 { late.transportDidReceive(Data(repeating: 7, count: 32 << 10)) }
        try #require(app.transport.calls == [.cancel])
        #expect(app.fetches.waiterCount == 0)
        // The late response has shown that the stored one is outdated.
        let (client, _) = try app.load(url)
        let next = try await app.transport.receiver(3)
        next.transportDidReceive(try .head(200, fields, at: url))
        next.transportDidReceive(Data("new".utf8))
        next.transportDidEnd(nil)
        #expect(await client.completion() == [.head(200, of: url), .part("new"), .end(nil)])
    }
}

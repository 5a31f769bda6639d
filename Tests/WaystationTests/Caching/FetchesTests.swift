import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTesting

@testable import Waystation

@Suite("Fetches that are under way", .timeLimit(.minutes(10)))
struct FetchesTests {
    private let directory: TemporaryDirectory
    private let clock = WatchedClock()

    init() throws { directory = try TemporaryDirectory() }

    private func engine(_ network: ScriptedTransport) throws -> Engine {
        try Interceptor {
            $0.rules = [.allow("http://fetch.test/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.now = { [clock] in clock.now() }
            $0.makeTransport = { _ in network }
        }.engine
    }

    @Test("a load looks up again each time that another fetch has ended since its last look-up")
    func endedAgain() async throws {
        let count = Counter()
        let network = ScriptedTransport { _ in
            .ok("a", fields: ["Cache-Control": count.next() == 1 ? "no-store" : "max-age=60"])
        }
        let engine = try engine(network)
        let behind = engine.makeNetwork(.ephemeral)
        let request = URLRequest(url: try #require(URL(string: "http://fetch.test/")))
        let canonical = try #require(CanonicalRequest(request))
        let entry = try #require(engine.cacheRequest(request, canonical))
        @Sendable func load() -> Answered {
            let answered = Answered()
            let ends = engine.fetches.ends(of: entry.key)
            engine.cache?.store.lookup(entry.key) { responses in
                DispatchQueue.global().async {
                    let finding = CacheFinding(
                        .standard,
                        request,
                        entry,
                        StoredVariants(responses),
                        engine,
                        lookedUp: ends
                    )
                    let hops = HopTransport(rule: 0, first: .found(finding), engine: engine, network: behind)
                    _ = hops.start(request, receiver: answered)
                }
            }
            return answered
        }
        // Between each look-up and the fetch that would follow it, another load makes that fetch.
        clock.onNext { [clock] in
            load().wait()
            clock.onNext { load().wait() }
        }
        let last = load()
        await last.end()
        #expect(last.cacheStatus == "Waystation; hit; ttl=60")
        #expect(network.requests.count == 2)
    }

    @Test("a load that joins just after a fetch's end looks up again, since the response may be stored by now")
    func justAfterTheEnd() async throws {
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { _ in
            .init([.head(200, fields: ["Cache-Control": "max-age=60"]), .part(Data("a".utf8)), .wait(gate), .end])
        }
        let engine = try engine(network)
        let behind = engine.makeNetwork(.ephemeral)
        let request = URLRequest(url: try #require(URL(string: "http://fetch.test/")))
        let canonical = try #require(CanonicalRequest(request))
        let entry = try #require(engine.cacheRequest(request, canonical))
        let plan = FetchPlan(
            request: request,
            entry: entry,
            variants: .none,
            strategy: .standard,
            lookedUp: engine.fetches.ends(of: entry.key)
        )
        @Sendable func ask(_ waiter: Waiter) -> Fetches.Participation? {
            engine.fetches.fetch(plan, for: waiter, isAlone: false, engine: engine, through: behind)
        }
        let (first, second) = (Waiter(), Waiter())
        _ = ask(first)
        await network.waitForRequests(1)
        await first.arrival()
        // The next call of the clock comes from the code that counts the fetch's end; no load can join after that.
        let (participations, participation) = AsyncStream.makeStream(of: Fetches.Participation?.self)
        clock.onNext { participation.yield(ask(second)) }
        gate.open()
        guard case .outdated? = await participations.first(where: { _ in true }) else {
            Issue.record("the second load makes a fetch of its own")
            return
        }
        #expect(network.requests.count == 1)
        #expect(await engine.cache?.store.lookup(entry.key).count == 1)
    }
}

/// A clock that runs an action when it is read next.
private final class WatchedClock: Sendable {
    private let work = Mutex<(@Sendable () -> Void)?>(nil)

    func onNext(_ work: @escaping @Sendable () -> Void) { self.work.withLock { $0 = work } }

    func now() -> Date {
        work.withLock { $0.take() }?()
        return Date()
    }
}

/// A waiter of a fetch, whose first part of the body a test can await.
private final class Waiter: FetchWaiter {
    private let (parts, hasPart) = AsyncStream.makeStream(of: Void.self)

    func arrival() async { for await _ in parts { return } }

    func fetchDidReceive(_: HTTPURLResponse) {}
    func fetchDidReceive(_: Data) { hasPart.yield() }
    func fetchDidAnswer(_: Answer) {}
    func fetchDidEnd(_: (any Error)?) {}
    func fetchIsNotShared(_: UnsharedReason) {}
}

/// Waits for the end of an exchange.
private final class Answered: TransportReceiver {
    private let ended = DispatchSemaphore(value: 0)
    private let (ends, hasEnded) = AsyncStream.makeStream(of: Void.self)
    private let head = Mutex<HTTPURLResponse?>(nil)

    var cacheStatus: String? { head.withLock { $0?.value(forHTTPHeaderField: "Cache-Status") } }

    /// Blocks the thread until the end.
    func wait() { ended.wait() }
    func end() async { for await _ in ends { return } }

    func transportDidReceive(_ head: HTTPURLResponse) { self.head.withLock { $0 = head } }
    func transportDidReceive(_: Data) {}

    func transportDidEnd(_: (any Error)?) {
        ended.signal()
        hasEnded.yield()
    }
}

import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation
@testable import WaystationStorage

@Suite("Identical requests in flight", .timeLimit(.minutes(10)))
struct SharedFetchTests {
    @Test(
        "64 of them make one request to the origin, and each gets the whole body",
        arguments: [CacheStrategy.standard, .cacheFirst(for: .days(1))]
    )
    func one(strategy: CacheStrategy) async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture(strategy) { _ in
            .ok(String(repeating: "x", count: 100_000), fields: ["Cache-Control": "max-age=60"]).held(at: gate)
        }
        let loads = (0..<64).map { _ in Task { try await fixture.load().body.utf8.count } }
        await fixture.origin.waitForRequests(1)
        gate.open()
        for load in loads { #expect(try await load.value == 100_000) }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a cancelled load does not affect the others that share its fetch")
    func cancelling() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": "max-age=60"]).held(at: gate) }
        let first = Task { try await fixture.load().body }
        await fixture.origin.waitForRequests(1)
        let second = Task { try await fixture.load().body }
        first.cancel()
        await #expect(throws: URLError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == "body")
        #expect(fixture.origin.requestCount <= 2)
    }

    @Test("a response that may not be stored is not shared")
    func unshared() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture { _ in
            .ok("\(count.next())", fields: ["Cache-Control": "no-store"]).held(at: gate)
        }
        let loads = (0..<8).map { _ in Task { try await fixture.load().body } }
        await fixture.origin.waitForRequests(1)
        gate.open()
        var bodies: Set<String> = []
        for load in loads { bodies.insert(try await load.value) }
        #expect(bodies.count == 8)
    }

    @Test("a failure of the first load does not fail the others")
    func failure() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() <= 2
                ? .raw(Data()).held(at: gate) : .ok("good", fields: ["Cache-Control": "max-age=60"])
        }
        let loads = (0..<8).map { _ in Task { try? await fixture.load().body } }
        await fixture.origin.waitForRequests(1)
        gate.open()
        var good = 0
        for load in loads where await load.value == "good" { good += 1 }
        #expect(good >= 7)
    }

    @Test(
        "requests that differ make separate requests to the origin",
        arguments: [
            (["X-Kind": "a"], ["X-Kind": "b"]), ([:], ["Accept": "text/html"]),
            ([:], ["Authorization": "Bearer a"]), (["Range": "bytes=0-1"], [:]),
            (["Cache-Control": "no-cache"], [:]),
        ]
    )
    func different(one: [String: String], other: [String: String]) async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": "max-age=60"]).held(at: gate) }
        let loads = [one, other].map { fields in Task { try await fixture.load("/", fields).body } }
        await fixture.origin.waitForRequests(2)
        gate.open()
        for load in loads { #expect(try await load.value == "body") }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("64 loads that validate the same stored page make one conditional request, and its 304 answers all")
    func oneValidation() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
            return request.value(of: "If-None-Match") == nil
                ? .ok("page", fields: fields) : .status(304, fields: fields).held(at: gate)
        }
        try await fixture.load()
        fixture.clock.advance(by: 100)
        let loads = (0..<64).map { _ in Task { try await fixture.load().body } }
        await fixture.origin.waitForRequests(2)
        gate.open()
        for load in loads { #expect(try await load.value == "page") }
        #expect(fixture.asked == ["GET /", "GET / \"a\""])
    }

    @Test("a load whose look-up was before a fetch stored the response makes no second request", arguments: 0..<4)
    func noSecondTrip(round: Int) async throws {
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": "max-age=60"]) }
        // Without a gate, look-ups and ends of fetches happen in any order.
        let loads = (0..<64).map { _ in Task { try await fixture.load().body } }
        for load in loads { #expect(try await load.value == "body") }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("with the network down, waiting loads all fail, with fewer requests than loads")
    func networkDown() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { _ in .closed.held(at: gate) }
        let loads = (0..<32).map { _ in Task { try await fixture.load().body } }
        await fixture.origin.waitForRequests(1)
        gate.open()
        for load in loads { await #expect(throws: URLError.self) { try await load.value } }
        #expect(fixture.origin.requestCount < 32)
    }

    @Test("with the network down, the stored response answers all waiting loads")
    func networkDownStored() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1 ? .ok("kept", fields: ["Cache-Control": "max-age=60"]) : .closed.held(at: gate)
        }
        try await fixture.load()
        fixture.clock.advance(by: 100)
        let loads = (0..<32).map { _ in Task { try await fixture.load() } }
        await fixture.origin.waitForRequests(2)
        gate.open()
        for load in loads {
            let got = try await load.value
            #expect(got.body == "kept")
            #expect(got.standsIn)
        }
    }

    @Test("after a failure of the first fetch the other loads share one more fetch")
    func secondTrip() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture { _ in
            // The first fetch sends its request twice.
            count.next() <= 2 ? .closed.held(at: gate) : .ok("good", fields: ["Cache-Control": "max-age=60"])
        }
        let loads = (0..<16).map { _ in Task { try? await fixture.load().body } }
        await fixture.origin.waitForRequests(1)
        // A load that came after the fetch's end would make a fetch of its own.
        #expect(await eventually { fixture.interceptor.sources.fetches?.waiterCount == 16 })
        gate.open()
        var bodies: [String?] = []
        for load in loads { bodies.append(await load.value) }
        #expect(bodies.count { $0 == "good" } >= 15)
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("after a failure of the first fetch, a load that comes after the end of the second looks up what it stored")
    func afterSecondTrip() async throws {
        let directory = try TemporaryDirectory()
        let url = try #require(URL(string: "http://fetch.test/"))
        // The second fetch ends before the loads that follow can join it.
        let network = DrivenTransport(
            startsOnAnyQueue: true,
            onStart: { number, receiver in
                guard number > 1 else { return }
                let fields = ["Cache-Control": "max-age=60"]
                receiver.transportDidReceive(ResponseHead(url: url, statusCode: 200, fields: fields))
                receiver.transportDidReceive(Data("good".utf8))
                receiver.transportDidEnd(nil)
            }
        )
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://fetch.test/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.makeTransport = { _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let loads = (0..<4).map { _ in Task { try? await session.data(from: url).0 } }
        #expect(await eventually { interceptor.sources.fetches?.waiterCount == 4 })
        try await network.receiver(1).transportDidEnd(URLError(.notConnectedToInternet))
        var bodies: [Data?] = []
        for load in loads { bodies.append(await load.value) }
        #expect(bodies.count { $0 == Data("good".utf8) } == 3)
        #expect(network.count == 2)
    }

    @Test("the time of networkFirst also counts when it passes while a load looks up again after a failure")
    func timeDuringLookUp() async throws {
        let (directory, clock) = (try TemporaryDirectory(), ManualClock())
        let url = try #require(URL(string: "http://fetch.test/"))
        let network = DrivenTransport(
            startsOnAnyQueue: true,
            onStart: { number, receiver in
                guard number == 1 else { return }
                receiver.transportDidReceive(ResponseHead(url: url, statusCode: 200, fields: ["ETag": "\"a\""]))
                receiver.transportDidReceive(Data("kept".utf8))
                receiver.transportDidEnd(nil)
            }
        )
        let cache = try ResponseCache(
            directory: directory.url,
            limits: StoreLimits(residentLimit: .bytes(0)),
            environment: .patient
        )
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://fetch.test/**", via: .cache(.networkFirst(timeout: .seconds(3))))]
            $0.cache = cache
            $0.schedule = clock.schedule
            $0.makeTransport = { _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        _ = try await session.data(from: url)
        await cache.flush()
        let loads = (0..<2).map { _ in Task { try await session.data(from: url).0 } }
        #expect(await eventually { interceptor.sources.fetches?.waiterCount == 2 })
        let renewal = try await network.receiver(2)
        cache.store.readQueue.suspend()
        renewal.transportDidEnd(URLError(.notConnectedToInternet))
        clock.fire()
        cache.store.readQueue.resume()
        // The network does not answer the second fetch.
        for load in loads { #expect(try await load.value == Data("kept".utf8)) }
        #expect(network.count == 3)
    }

    @Test("when the last waiting load is cancelled the traffic stops, and nothing is stored")
    func allCancelled() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture { _ in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60"]
            guard count.next() == 1 else { return .ok("whole", fields: fields) }
            return .stream([.bytes(Data("half".utf8)), .wait(gate), .bytes(Data("rest".utf8))], fields: fields)
        }
        let load = Task { try await fixture.load().body }
        await fixture.origin.waitForRequests(1)
        load.cancel()
        await #expect(throws: URLError.self) { try await load.value }
        await fixture.origin.waitForAbandonedRequests(1)
        #expect(try await fixture.load().body == "whole")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("a load joins a fetch whose body is small so far, but not a large one", arguments: [false, true])
    func lateJoiner(isLarge: Bool) async throws {
        let gate = try ScriptedOrigin.Gate()
        let part = Data(repeating: 120, count: isLarge ? 2 << 20 : 1000)
        let (begun, continuation) = AsyncStream<Int>.makeStream()
        let fixture = try CachingFixture { _ in
            .stream([.bytes(part), .wait(gate), .bytes(part)], fields: ["Cache-Control": "max-age=60"])
        }
        let delegate = RecordingDelegate(received: { _ in continuation.yield(1) })
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: fixture.interceptor)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        // Longer than a load takes on a busy machine.
        let request = URLRequest(url: fixture.origin.url(), cachePolicy: .useProtocolCachePolicy, timeoutInterval: 600)
        session.dataTask(with: request).resume()
        // The delegate gets bytes before the end.
        for await _ in begun where delegate.body.count == part.count { break }
        let other = RecordingDelegate(received: { _ in continuation.yield(2) })
        let another = URLSession(configuration: configuration, delegate: other, delegateQueue: nil)
        another.dataTask(with: request).resume()
        for await who in begun where who == 2 { break }
        gate.open()
        await delegate.completion()
        await other.completion()
        #expect((delegate.body == part + part) as Bool)
        #expect((other.body == part + part) as Bool)
        #expect(fixture.origin.requestCount == (isLarge ? 2 : 1))
    }

    @Test("requests with different time-outs make separate requests to the origin")
    func timeouts() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": "max-age=60"]).held(at: gate) }
        let loads = [600.0, 700.0].map { timeout in
            Task {
                let request = URLRequest(url: fixture.origin.url(), timeoutInterval: timeout)
                return try await fixture.session.data(for: request).0.count
            }
        }
        await fixture.origin.waitForRequests(2)
        gate.open()
        for load in loads { #expect(try await load.value == 4) }
    }
}

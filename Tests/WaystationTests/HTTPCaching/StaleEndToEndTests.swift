import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Stale responses in place of the network, end to end (RFC 9111 §4.2.4, RFC 5861)")
struct StaleEndToEndTests {
    /// A way in which the network fails a load.
    enum Failure: CaseIterable, Sendable { case stopped, closed, reset, cutInHead }

    private func fixture(
        _ strategy: CacheStrategy,
        _ directives: String,
        then failure: Failure
    ) throws -> CachingFixture {
        let count = Counter()
        return try CachingFixture(strategy) { _ in
            guard count.next() > 1 else { return .ok("kept", fields: ["Cache-Control": directives, "ETag": "\"a\""]) }
            return switch failure {
            case .stopped, .closed: .closed
            case .reset: .reset
            case .cutInHead: .raw(Data("HTTP/1.1 200 O".utf8))
            }
        }
    }

    @Test(
        "the stored response is served at any failure of the network",
        arguments: Failure.allCases.filter { $0 != .cutInHead },
        [CacheStrategy.standard, .revalidate, .networkFirst(), .networkFirst(timeout: .seconds(3))]
    )
    func failures(failure: Failure, strategy: CacheStrategy) async throws {
        let fixture = try fixture(strategy, "max-age=10", then: failure)
        try await fixture.load()
        fixture.clock.advance(by: 100)
        if failure == .stopped { fixture.origin.stop() }
        let got = try await fixture.load()
        #expect(got.body == "kept")
        #expect(got.standsIn)
        // The waystation repeats a request once after a dropped connection; curl does too if the connection was reused.
        if failure != .stopped {
            #expect((3...4).contains(fixture.origin.requestCount))
            #expect(fixture.asked.dropFirst().allSatisfy { $0 == "GET / \"a\"" })
        }
    }

    @Test(
        "a directive that forbids stale responses leads to an error",
        arguments: ["max-age=10, must-revalidate", "max-age=10, no-cache", "no-cache"]
    )
    func forbidden(directives: String) async throws {
        let fixture = try fixture(.standard, directives, then: .closed)
        try await fixture.load()
        fixture.clock.advance(by: 100)
        await #expect(throws: URLError.self) { try await fixture.load() }
        #expect(fixture.seen(1, "If-None-Match") == "\"a\"")
    }

    @Test(
        "a request that demands a fresh response gets an error",
        arguments: ["no-cache", "max-age=0", "min-fresh=1", "max-age=50"]
    )
    func wantsFresh(directive: String) async throws {
        let fixture = try fixture(.standard, "max-age=10", then: .closed)
        try await fixture.load()
        fixture.clock.advance(by: 100)
        await #expect(throws: URLError.self) { try await fixture.load("/", ["Cache-Control": directive]) }
    }

    @Test(
        "a reload policy gets the network's error",
        arguments: [
            URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .reloadRevalidatingCacheData,
        ]
    )
    func reload(policy: URLRequest.CachePolicy) async throws {
        let fixture = try fixture(.standard, "max-age=1000", then: .closed)
        try await fixture.load()
        await #expect(throws: URLError.self) { try await fixture.load(policy: policy) }
        #expect(try await fixture.load().body == "kept")
    }

    @Test("cacheFirst serves nothing older than its limit, network or not")
    func cacheFirst() async throws {
        let fixture = try fixture(.cacheFirst(for: .seconds(50)), "max-age=10", then: .stopped)
        try await fixture.load()
        fixture.origin.stop()
        fixture.clock.advance(by: 49)
        #expect(try await fixture.load().body == "kept")
        fixture.clock.advance(by: 1)
        await #expect(throws: URLError.self) { try await fixture.load() }
    }

    @Test("the caching rules may limit the staleness, or forbid stale responses", arguments: [0, 50, 200])
    func bounded(limit: Int) async throws {
        var rules = CachingRules()
        rules.staleWhenDisconnected = limit == 0 ? .never : .upTo(.seconds(limit))
        let fixture = try CachingFixture(rules: rules) { _ in .ok("kept", fields: ["Cache-Control": "max-age=10"]) }
        try await fixture.load()
        fixture.clock.advance(by: 110)
        fixture.origin.stop()
        if limit == 200 {
            #expect(try await fixture.load().body == "kept")
        } else {
            await #expect(throws: URLError.self) { try await fixture.load() }
        }
    }

    @Test(
        "stale-if-error serves the stored response at a server error, within its time (RFC 5861 §4)",
        arguments: [500, 502, 503, 504, 404, 410],
        [50, 150]
    )
    func staleIfError(status: Int, staleness: Int) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1
                ? .ok("good", fields: ["Cache-Control": "max-age=10, stale-if-error=100", "ETag": "\"a\""])
                : .status(status)
        }
        try await fixture.load()
        fixture.clock.advance(by: Double(10 + staleness))
        let got = try await fixture.load()
        let standsIn = status >= 500 && staleness <= 100
        #expect(got.status == (standsIn ? 200 : status))
        #expect(got.body == (standsIn ? "good" : ""))
        #expect(fixture.asked == ["GET /", "GET / \"a\""])
    }

    @Test("must-revalidate takes precedence over stale-if-error (§5.2.2.2)")
    func mustRevalidate() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1
                ? .ok("good", fields: ["Cache-Control": "max-age=10, stale-if-error=100, must-revalidate"])
                : .status(503)
        }
        try await fixture.load()
        fixture.clock.advance(by: 20)
        #expect(try await fixture.load().status == 503)
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("the request may have stale-if-error as well (RFC 5861 §4)")
    func requestStaleIfError() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1 ? .ok("good", fields: ["Cache-Control": "max-age=10"]) : .status(503)
        }
        try await fixture.load()
        fixture.clock.advance(by: 20)
        #expect(try await fixture.load("/", ["Cache-Control": "stale-if-error=60"]).body == "good")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test(
        "stale-while-revalidate serves at once and validates in the background, within its time (RFC 5861 §3)",
        arguments: [11, 110, 111]
    )
    func staleWhileRevalidate(age: Int) async throws {
        let fixture = try CachingFixture { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=10, stale-while-revalidate=100", "ETag": "\"a\""]
            return request.value(of: "If-None-Match") == "\"a\""
                ? .status(304, fields: fields) : .ok("1", fields: fields)
        }
        try await fixture.load()
        fixture.clock.advance(by: Double(age))
        let got = try await fixture.load()
        #expect(got.body == "1")
        #expect(got.isHit == (age <= 110))
        await fixture.origin.waitForRequests(2)
        #expect(fixture.asked == ["GET /", "GET / \"a\""])
    }

    @Test("one renewal at a time is under way, however many loads are served meanwhile")
    func oneRenewal() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture(.staleWhileRevalidate(upTo: .days(1))) { _ in
            let number = count.next()
            return number == 1 ? .ok("1") : .ok("\(number)").held(at: gate)
        }
        try await fixture.load()
        let events = fixture.interceptor.events
        for _ in 0..<8 { #expect(try await fixture.load().body == "1") }
        await fixture.origin.waitForRequests(2)
        for _ in 0..<8 { #expect(try await fixture.load().body == "1") }
        #expect(fixture.origin.requestCount == 2)
        gate.open()
        await fixture.event(events) { if case .stored = $0 { true } else { false } }
        #expect(try await fixture.load().body == "2")
    }

    @Test(
        "a renewal that gets an error, a refusal or half a body is not repeated at each hit, but after 10 s",
        arguments: [200, 403, 429, 503]
    )
    func failedRenewal(status: Int) async throws {
        let count = Counter()
        let fixture = try CachingFixture(.staleWhileRevalidate(upTo: .days(1))) { _ in
            guard count.next() > 1 else { return .ok("1") }
            return status == 200 ? .truncated(Data("whole".utf8), after: 3) : .status(status)
        }
        try await fixture.load()
        let fetches = try #require(fixture.interceptor.sources.fetches)
        let url = fixture.origin.url("/")
        let key = try CacheRequest.key(of: URLRequest(url: url), at: url)
        for round in 1...2 {
            let ends = fetches.ends(of: key)
            #expect(try await fixture.load().body == "1")
            await fixture.origin.waitForRequests(1 + round)
            #expect(await eventually { fetches.ends(of: key) == ends + 1 })
            for _ in 0..<8 { #expect(try await fixture.load().body == "1") }
            #expect(fetches.waiterCount == 0)
            #expect(fixture.origin.requestCount == 1 + round)
            fixture.clock.advance(by: 10)
        }
    }

    @Test(
        "a renewal that the server refuses with Retry-After is not repeated before that time, whatever the request's fields",
        arguments: [("60", 60), (CachingFixture.date(60), 60), ("99999999", 3600), ("3", 10), ("soon", 10)]
    )
    func refusedRenewal(value: String, pause: TimeInterval) async throws {
        let count = Counter()
        let fixture = try CachingFixture(.staleWhileRevalidate(upTo: .days(1))) { _ in
            count.next() == 1 ? .ok("1") : .status(503, fields: ["Retry-After": value])
        }
        let fetches = try await fixture.refuseRenewal()
        fixture.clock.advance(by: pause - 1)
        // The shorter pause after each failure is for repetitions of the same request.
        let others = pause > 10 ? [["X-Request-ID": "2"]] : []
        for fields in [[:], [:]] + others { #expect(try await fixture.load("/", fields).body == "1") }
        #expect(fetches.waiterCount == 0)
        #expect(fixture.origin.requestCount == 2)
        fixture.clock.advance(by: 1)
        #expect(try await fixture.load().body == "1")
        await fixture.origin.waitForRequests(3)
    }

    @Test("a load that needs the server does not wait for the time of Retry-After, and ends it only by a good response")
    func endedPause() async throws {
        let count = Counter()
        let fixture = try CachingFixture(.staleWhileRevalidate(upTo: .days(1))) { _ in
            switch count.next() {
            case 2: .status(503, fields: ["Retry-After": "600"])
            case 3: .status(503)
            case let number: .ok("\(number)")
            }
        }
        let fetches = try await fixture.refuseRenewal()
        for reloaded in ["", "4"] {
            fixture.clock.advance(by: 10)
            #expect(try await fixture.load().body == "1")
            #expect(fetches.waiterCount == 0)
            #expect(try await fixture.load(policy: .reloadIgnoringLocalCacheData).body == reloaded)
        }
        #expect(fixture.origin.requestCount == 4)
        #expect(try await fixture.load().body == "4")
        await fixture.origin.waitForRequests(5)
    }

    @Test("networkFirst serves the stored response after its time-out, and stores the late response")
    func networkFirst() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture(.networkFirst(timeout: .seconds(3))) { _ in
            let number = count.next()
            return number == 2 ? .ok("\(number)").held(at: gate) : .ok("\(number)")
        }
        try await fixture.load()
        let events = fixture.interceptor.events
        let late = Task { try await fixture.load() }
        await fixture.origin.waitForRequests(2)
        fixture.clock.fire()
        let got = try await late.value
        #expect(got.body == "1")
        #expect(got.standsIn)
        gate.open()
        await fixture.event(events) { if case .stored = $0 { true } else { false } }
        fixture.origin.stop()
        #expect(try await fixture.load().body == "2")
    }

    @Test("networkFirst asks the network also if its time has passed at once")
    func networkFirstWithoutTime() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { _ in .ok("\(count.next())") }
        let folder = try TemporaryDirectory()
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.networkFirst(timeout: .zero)))]
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
            $0.schedule = { _, work in work() }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let first = try await session.data(from: origin.url()).0
        #expect(first == Data("1".utf8))
        let second = try await session.data(from: origin.url()).0
        #expect(second == Data("1".utf8))
        await origin.waitForRequests(2)
    }

    @Test("networkFirst waits for a body that has begun, also after its time-out")
    func networkFirstBegun() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture(.networkFirst(timeout: .seconds(3))) { _ in
            count.next() == 1
                ? .ok("old")
                : .stream([.bytes(Data("ne".utf8)), .wait(gate), .bytes(Data("w".utf8))])
        }
        try await fixture.load()
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let streaming = RecordingDelegate(received: { _ in continuation.yield() })
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: fixture.interceptor),
            delegate: streaming,
            delegateQueue: nil
        )
        session.dataTask(with: fixture.origin.url()).resume()
        for await _ in begun { break }
        fixture.clock.fire()
        gate.open()
        await streaming.completion()
        #expect(streaming.body == Data("new".utf8))
        #expect(streaming.calls == [.response(200), .data(3), .completed(nil)])
    }
}

extension CachingFixture {
    /// Stores a response, and serves it while the server refuses its renewal.
    ///
    /// - Returns: The fetches of the interceptor.
    fileprivate func refuseRenewal() async throws -> Fetches {
        try await load()
        let fetches = try #require(interceptor.sources.fetches)
        let url = origin.url("/")
        let key = try CacheRequest.key(of: URLRequest(url: url), at: url)
        let ends = fetches.ends(of: key)
        #expect(try await load().body == "1")
        #expect(await eventually { fetches.ends(of: key) == ends + 1 })
        return fetches
    }
}

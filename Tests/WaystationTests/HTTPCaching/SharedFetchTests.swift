import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@testable import Waystation

@Suite("Identical requests in flight")
struct SharedFetchTests {
    @Test(
        "64 of them make one trip, and each gets the whole body",
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

    @Test("one that is cancelled does not disturb the others; with the last the traffic stops")
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

    @Test("what may not be stored is shared with nobody")
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

    @Test("a failure of the first does not fail the rest")
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
        "requests that differ make trips of their own",
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

    @Test("64 that ask about the same stored page make one conditional request, and its 304 answers all")
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

    @Test("who looked before another stored it, and asks after, makes no second trip", arguments: 0..<4)
    func noSecondTrip(round: Int) async throws {
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": "max-age=60"]) }
        // With no gate: look-ups and ends of fetches meet in every order.
        let loads = (0..<64).map { _ in Task { try await fixture.load().body } }
        for load in loads { #expect(try await load.value == "body") }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("with the network down, many who wait make two trips, and all hear of it")
    func networkDown() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { _ in .closed.held(at: gate) }
        let loads = (0..<32).map { _ in Task { try await fixture.load().body } }
        await fixture.origin.waitForRequests(1)
        gate.open()
        for load in loads { await #expect(throws: URLError.self) { try await load.value } }
        #expect(fixture.origin.requestCount < 32)
    }

    @Test("with the network down, what is stored answers all who wait")
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
            #expect(got.isHit)
        }
    }

    @Test("a failure of the first becomes one more trip, whose answer all the others share")
    func secondTrip() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let fixture = try CachingFixture { _ in
            // The first trip is tried twice.
            count.next() <= 2 ? .closed.held(at: gate) : .ok("good", fields: ["Cache-Control": "max-age=60"])
        }
        let loads = (0..<16).map { _ in Task { try? await fixture.load().body } }
        await fixture.origin.waitForRequests(1)
        // Who came after its end would make a first trip of his own.
        await eventually { fixture.interceptor.engine.fetches.waiterCount == 16 }
        gate.open()
        var bodies: [String?] = []
        for load in loads { bodies.append(await load.value) }
        #expect(bodies.count { $0 == "good" } >= 15)
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("when the last who waits is cancelled the traffic stops, and nothing is stored")
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

    @Test("who comes while a small body arrives shares it; a large one is a trip of his own", arguments: [false, true])
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
        // Longer than a crowded machine may leave anyone waiting.
        let request = URLRequest(url: fixture.origin.url(), cachePolicy: .useProtocolCachePolicy, timeoutInterval: 600)
        session.dataTask(with: request).resume()
        // Bytes reach a delegate before the end.
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

    @Test("requests with other time-outs make trips of their own")
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

import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("A request's cache policy, end to end")
struct CachePolicyEndToEndTests {
    enum Stored: CaseIterable, Sendable { case nothing, fresh, stale }

    enum Outcome: Sendable {
        /// The stored response, without a request to the origin.
        case hit
        /// The whole response from the origin, by a request without conditions.
        case loaded
        /// The stored response, after the origin has confirmed it.
        case confirmed
        /// An error, without a request to the origin.
        case unavailable
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let policy: URLRequest.CachePolicy
        let strategy: CacheStrategy
        let stored: Stored
        let outcome: Outcome
        /// The `Cache-Control` of the request to the origin.
        var directive: String? {
            switch policy {
            case .reloadIgnoringLocalAndRemoteCacheData: "no-cache"
            case .reloadRevalidatingCacheData: "max-age=0"
            default: nil
            }
        }
        var testDescription: String { "\(policy) by a rule of \(strategy), \(stored) stored: \(outcome)" }
    }

    /// The outcome of a policy for each state of the cache, whatever the rule's strategy.
    private static let overriding: [(URLRequest.CachePolicy, [Outcome])] = [
        (.reloadIgnoringLocalCacheData, [.loaded, .loaded, .loaded]),
        (.reloadIgnoringLocalAndRemoteCacheData, [.loaded, .loaded, .loaded]),
        (.reloadRevalidatingCacheData, [.loaded, .confirmed, .confirmed]),
        (.returnCacheDataElseLoad, [.loaded, .hit, .hit]),
        (.returnCacheDataDontLoad, [.unavailable, .hit, .hit]),
    ]

    private static let strategies: [(CacheStrategy, [Outcome])] = [
        (.standard, [.loaded, .hit, .confirmed]),
        (.revalidate, [.loaded, .confirmed, .confirmed]),
        (.cacheFirst(for: .days(1)), [.loaded, .hit, .hit]),
        (.cacheFirst(for: .seconds(90)), [.loaded, .hit, .confirmed]),
        (.networkFirst(), [.loaded, .confirmed, .confirmed]),
        (.networkFirst(timeout: .seconds(3)), [.loaded, .confirmed, .confirmed]),
        (.staleWhileRevalidate(upTo: .seconds(90)), [.loaded, .hit, .confirmed]),
    ]

    private static let cases =
        strategies.flatMap { strategy, outcomes in
            ([(.useProtocolCachePolicy, outcomes)] + overriding).flatMap { policy, outcomes in
                zip(Stored.allCases, outcomes).map {
                    Case(policy: policy, strategy: strategy, stored: $0, outcome: $1)
                }
            }
        }

    @Test("takes precedence over the rule's strategy", arguments: cases)
    func policy(known: Case) async throws {
        let count = Counter()
        let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        let fixture = try CachingFixture(known.strategy) { request in
            let number = count.next()
            return request.value(of: "If-None-Match") == "\"a\""
                ? .status(304, fields: fields) : .ok("\(number)", fields: fields)
        }
        if known.stored != .nothing { try await fixture.load() }
        fixture.clock.advance(by: known.stored == .stale ? 100 : 10)
        let before = fixture.origin.requestCount
        guard known.outcome != .unavailable else {
            let error = await #expect(throws: URLError.self) { try await fixture.load(policy: known.policy) }
            #expect(error?.code == .resourceUnavailable)
            #expect(fixture.origin.requestCount == before)
            return
        }
        // The count is read at once, because a renewal in the background may follow a hit.
        let got = try await fixture.load(policy: known.policy)
        #expect(got.status == 200)
        switch known.outcome {
        case .hit:
            #expect(got.body == "1")
            #expect(got.isHit)
            if case .standard = known.strategy { #expect(fixture.origin.requestCount == before) }
        case .loaded:
            #expect(got.body == "\(before + 1)")
            #expect(fixture.origin.requestCount == before + 1)
            #expect(fixture.seen(before, "If-None-Match") == nil)
            #expect(fixture.seen(before, "Cache-Control") == known.directive)
            #expect(fixture.seen(before, "Pragma") == (known.directive == "no-cache" ? "no-cache" : nil))
        case .confirmed:
            #expect(got.body == "1")
            #expect(got.cacheStatus.contains("fwd-status=304"))
            #expect(fixture.origin.requestCount == before + 1)
            #expect(fixture.seen(before, "If-None-Match") == "\"a\"")
            #expect(fixture.seen(before, "Cache-Control") == known.directive)
        case .unavailable: break
        }
    }

    @Test("that reloads asks about an immutable response only when it is stale (RFC 8246 §2)")
    func immutable() async throws {
        let fixture = try CachingFixture { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60, immutable", "ETag": "\"a\""]
            return request.value(of: "If-None-Match") == nil ? .ok("a", fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load()
        #expect(try await fixture.load(policy: .reloadRevalidatingCacheData).isHit)
        fixture.clock.advance(by: 60)
        #expect(try await fixture.load(policy: .reloadRevalidatingCacheData).body == "a")
        #expect(fixture.asked == ["GET /", "GET / \"a\""])
        #expect(try await !fixture.load(policy: .reloadIgnoringLocalCacheData).isHit)
    }

    @Test(
        "that reloads asks about an immutable response that an ordinary load would ask about, too",
        arguments: [("max-age=60, immutable, no-cache", [:]), ("max-age=60, immutable", ["Cache-Control": "no-cache"])]
    )
    func immutableToBeAsked(directives: String, fields: [String: String]) async throws {
        let fixture = try CachingFixture { _ in .ok("a", fields: ["Cache-Control": directives]) }
        try await fixture.load()
        #expect(try await !fixture.load("/", fields, policy: .reloadRevalidatingCacheData).isHit)
    }

    @Test(
        "that reloads replaces the stored response",
        arguments: [URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData]
    )
    func replacing(policy: URLRequest.CachePolicy) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=60"]) }
        try await fixture.load()
        try await fixture.load(policy: policy)
        let hit = try await fixture.load()
        #expect(hit.body == "2")
        #expect(hit.isHit)
        #expect(fixture.origin.requestCount == 2)
    }

    /// A response that the cache does not store.
    enum Unstored: CaseIterable, Sendable { case noStore, coded, tooLarge, tooLargeOfUnknownLength, notFound }

    @Test("that reloads removes the stored response when the new one is not stored", arguments: Unstored.allCases)
    func removing(unstored: Unstored) async throws {
        let count = Counter()
        let strategy: CacheStrategy = unstored == .notFound ? .cacheFirst(for: .days(7)) : .standard
        let zipped = try #require(Data(base64Encoded: "H4sIAAAAAAACAzMCAA2+1RoBAAAA"))
        let fixture = try CachingFixture(strategy, maximumEntrySize: .bytes(1_000)) { _ in
            let number = count.next()
            guard number == 2 else { return .ok("\(number)", fields: ["Cache-Control": "max-age=60"]) }
            let large = Data(repeating: 1, count: 2_000)
            return switch unstored {
            case .noStore: .ok("2", fields: ["Cache-Control": "no-store"])
            case .coded: .ok(zipped, fields: ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"])
            case .tooLarge: .status(200, fields: ["Cache-Control": "max-age=60"], body: large)
            case .tooLargeOfUnknownLength: .stream([.bytes(large)], fields: ["Cache-Control": "max-age=60"])
            case .notFound: .status(404)
            }
        }
        try await fixture.load()
        let asksForCoding = unstored == .coded ? ["Accept-Encoding": "gzip"] : [:]
        try await fixture.load("/", asksForCoding, policy: .reloadIgnoringLocalCacheData)
        let after = try await fixture.load()
        #expect(after.body == "3")
        #expect(!after.isHit)
    }

    @Test("that reloads replaces the stored response also when the new one no longer varies (RFC 9111 §4.1)")
    func replacingVariant() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            let number = count.next()
            return number == 1
                ? .ok("1", fields: ["Cache-Control": "max-age=3600", "Vary": "X-Kind"])
                : .ok("\(number)", fields: ["Cache-Control": "max-age=3600"])
        }
        try await fixture.load()
        try await fixture.load(policy: .reloadIgnoringLocalCacheData)
        let hit = try await fixture.load()
        #expect(hit.body == "2")
        #expect(hit.isHit)
    }

    @Test("that reloads keeps the stored response when the new one is a part, a 304 or an error")
    func keeping() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            switch count.next() {
            case 1: .ok("good", fields: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
            case 2: .status(206, fields: ["Content-Range": "bytes 0-0/4"], body: Data("g".utf8))
            case 3: .status(304, fields: ["ETag": "\"a\""])
            default: .status(503, fields: ["Cache-Control": "max-age=60"])
            }
        }
        try await fixture.load()
        for fields in [["Range": "bytes=0-0"], ["If-None-Match": "\"a\""], [:]] {
            try await fixture.load("/", fields, policy: .reloadIgnoringLocalCacheData)
        }
        #expect(fixture.origin.requestCount == 4)
        let hit = try await fixture.load()
        #expect(hit.body == "good")
        #expect(hit.isHit)
    }

    @Test("for stored data serves a stale response despite must-revalidate", arguments: [true, false])
    func mustRevalidate(isOffline: Bool) async throws {
        let fixture = try CachingFixture { _ in .ok("1", fields: ["Cache-Control": "max-age=1, must-revalidate"]) }
        try await fixture.load()
        fixture.clock.advance(by: 100)
        if isOffline { fixture.origin.stop() }
        #expect(try await fixture.load(policy: .returnCacheDataElseLoad).body == "1")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("cacheOnly sends no request to the origin", arguments: [Stored.nothing, .fresh])
    func cacheOnly(stored: Stored) async throws {
        let fixture = try CachingFixture(.cacheOnly) { _ in .ok("1") }
        await #expect(throws: URLError.self) { try await fixture.load() }
        await #expect(throws: URLError.self) { try await fixture.load(policy: .returnCacheDataDontLoad) }
        #expect(fixture.origin.requestCount == 0)
    }

    @Test("networkOnly neither serves nor stores")
    func networkOnly() async throws {
        let count = Counter()
        let fixture = try CachingFixture(.networkOnly) { _ in
            .ok("\(count.next())", fields: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
        }
        for number in 1...3 { #expect(try await fixture.load().body == "\(number)") }
        #expect(fixture.asked == ["GET /", "GET /", "GET /"])
    }
}

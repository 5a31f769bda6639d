import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationStorage
import WaystationTesting

@testable import Waystation

/// The cache makes the decision for equal requests about once in two seconds, and repeats it meanwhile.
///
/// The app must not see a difference.
@Suite("A repeated hit")
struct RepeatedHitTests {
    private func fixture(
        _ strategy: CacheStrategy = .standard,
        _ fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60"],
        isResident: Bool = true
    ) throws -> CachingFixture {
        let loads = Counter()
        return try CachingFixture(strategy, residentLimit: .mebibytes(isResident ? 32 : 0)) { _ in
            .ok("\(loads.next())", fields: fields)
        }
    }

    /// Whether the cache has a hit to repeat for a request with these fields.
    private func isKnown(_ fixture: CachingFixture, _ fields: [String: String] = [:]) async throws -> Bool {
        var request = URLRequest(url: fixture.origin.url("/"))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let key = try CacheRequest.key(of: request, at: fixture.origin.url("/"))
        guard let access = fixture.interceptor.sources.fetches?.cache else { return false }
        let stored = await fixture.cache.store.lookup(key)
        return RepeatedHit.find(for: request, by: .standard, among: stored, in: access) != nil
    }

    @Test("is known until its Age must change, and only for requests with the same fields", arguments: [true, false])
    func known(isResident: Bool) async throws {
        let fixture = try fixture(isResident: isResident)
        try await fixture.load()
        #expect(try await fixture.load().isHit)
        #expect(try await isKnown(fixture))
        #expect(try await !isKnown(fixture, ["Accept": "text/html"]))
        #expect(try await !isKnown(fixture, ["Cache-Control": "min-fresh=9"]))
        fixture.clock.advance(by: 1)
        #expect(try await isKnown(fixture))
        fixture.clock.advance(by: 1)
        #expect(try await !isKnown(fixture))
    }

    @Test("ends when the response becomes stale, also within a second", arguments: [true, false])
    func freshness(isResident: Bool) async throws {
        let fixture = try fixture(.standard, ["Cache-Control": "max-age=2"], isResident: isResident)
        try await fixture.load()
        fixture.clock.advance(by: 1)
        #expect(try await fixture.load().isHit)
        fixture.clock.advance(by: 0.9)
        #expect(try await fixture.load().isHit)
        fixture.clock.advance(by: 0.1)
        #expect(try await fixture.load().body == "2")
    }

    @Test("ends at the strategy's limit, also within a second", arguments: [true, false])
    func limit(isResident: Bool) async throws {
        let fixture = try fixture(.cacheFirst(for: .milliseconds(1_500)), isResident: isResident)
        try await fixture.load()
        fixture.clock.advance(by: 1.2)
        #expect(try await fixture.load().body == "1")
        fixture.clock.advance(by: 0.2)
        #expect(try await fixture.load().body == "1")
        fixture.clock.advance(by: 0.2)
        #expect(try await fixture.load().body == "2")
    }

    @Test("is not used after the clock was set back", arguments: [true, false])
    func setBack(isResident: Bool) async throws {
        let fixture = try fixture(isResident: isResident)
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load().isHit)
        fixture.clock.advance(by: -3_600)
        #expect(try await fixture.load().body == "2")
    }

    @Test("has an Age that is at most two seconds too low", arguments: [true, false])
    func age(isResident: Bool) async throws {
        let fixture = try fixture(isResident: isResident)
        try await fixture.load()
        for second in stride(from: 0.4, to: 12, by: 0.4) {
            fixture.clock.advance(by: 0.4)
            let age = try #require(try await fixture.load()["Age"].flatMap(Double.init))
            #expect(age <= second && second - age < 2.01)
        }
    }

    @Test(
        "is not used for a request that differs in its fields or policy",
        arguments: [
            (fields: ["Cache-Control": "no-cache"], policy: URLRequest.CachePolicy.useProtocolCachePolicy),
            (fields: ["Cache-Control": "min-fresh=61"], policy: .useProtocolCachePolicy),
            (fields: ["Pragma": "no-cache"], policy: .useProtocolCachePolicy),
            (fields: ["Accept-Language": "en"], policy: .useProtocolCachePolicy),
            (fields: [:], policy: .reloadIgnoringLocalCacheData),
        ]
    )
    func otherRequests(fields: [String: String], policy: URLRequest.CachePolicy) async throws {
        for isResident in [true, false] {
            let answered: KeyValuePairs = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
            let fixture = try fixture(.standard, answered, isResident: isResident)
            try await fixture.load()
            fixture.clock.advance(by: 0.1)
            #expect(try await fixture.load().isHit)
            #expect(try await fixture.load("/", fields, policy: policy).body == "2")
        }
    }

    @Test("of a part has the bytes of that part, wherever the body is", arguments: [true, false], [10, 100_000])
    func part(isResident: Bool, length: Int) async throws {
        let body = String(repeating: "0123456789", count: length / 10)
        let limit = ByteCount.mebibytes(isResident ? 32 : 0)
        let fixture = try CachingFixture(residentLimit: limit) { _ in
            .ok(body, fields: ["Cache-Control": "max-age=60"])
        }
        try await fixture.load()
        for _ in 0..<2 {
            for _ in 0..<2 { #expect(try await fixture.load("/", ["Range": "bytes=2-4"]).body == "234") }
            for _ in 0..<2 { #expect(try await fixture.load().body == body) }
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("of a part in memory is data whose indices begin at 0")
    func indices() throws {
        guard case .data(let part) = Answer.Body.data(Data("0123456789".utf8)).part(.bytes(5..<7)) else {
            Issue.record("not in memory")
            return
        }
        #expect(part == Data("56".utf8))
        #expect(part.startIndex == 0)
    }

    @Test("is what the next load gets, from memory and from the disk", arguments: [true, false])
    func repeated(isResident: Bool) async throws {
        let fixture = try fixture(isResident: isResident)
        try await fixture.load()
        #expect(try await fixture.load().isHit)
        let url = fixture.origin.url("/")
        let key = try CacheRequest.key(of: URLRequest(url: url), at: url)
        let stored = try #require(await fixture.cache.store.lookup(key).first)
        let marked = ResponseHead(url: url, statusCode: 203, fields: [:])
        stored.prepared.withLock { value in
            value = (value as? RepeatedHit)?.marked(marked)
        }
        #expect(try await fixture.load().status == 203)
    }

    @Test("is not used for a request with a body, or after an invalidation", arguments: [true, false])
    func unsafe(isResident: Bool) async throws {
        let fixture = try fixture(isResident: isResident)
        try await fixture.load()
        #expect(try await fixture.load().isHit)
        #expect(try await fixture.load(method: "POST", body: Data("x".utf8)).body == "2")
        #expect(try await fixture.load().body == "3")
    }
}

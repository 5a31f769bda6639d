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
        _ fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60"]
    ) throws -> CachingFixture {
        let loads = Counter()
        return try CachingFixture(strategy) { _ in .ok("\(loads.next())", fields: fields) }
    }

    /// Whether the cache has a hit to repeat for a request with these fields.
    private func isKnown(_ fixture: CachingFixture, _ fields: [String: String] = [:]) -> Bool {
        var request = URLRequest(url: fixture.origin.url("/"))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let key = CacheRequest.key(of: request, canonical: fixture.origin.url("/").absoluteString)
        guard let resident = fixture.cache.store.resident(key), let access = fixture.interceptor.sources.fetches?.cache
        else { return false }
        return RepeatedHit.find(for: request, by: .standard, among: resident, in: access) != nil
    }

    @Test("is known until its Age must change, and only for requests with the same fields")
    func known() async throws {
        let fixture = try fixture()
        try await fixture.load()
        #expect(try await fixture.load().isHit)
        #expect(isKnown(fixture))
        #expect(!isKnown(fixture, ["Accept": "text/html"]))
        #expect(!isKnown(fixture, ["Cache-Control": "min-fresh=9"]))
        fixture.clock.advance(by: 1)
        #expect(isKnown(fixture))
        fixture.clock.advance(by: 1)
        #expect(!isKnown(fixture))
    }

    @Test("ends when the response becomes stale, also within a second")
    func freshness() async throws {
        let fixture = try fixture(.standard, ["Cache-Control": "max-age=2"])
        try await fixture.load()
        fixture.clock.advance(by: 1)
        #expect(try await fixture.load().isHit)
        fixture.clock.advance(by: 0.9)
        #expect(try await fixture.load().isHit)
        fixture.clock.advance(by: 0.1)
        #expect(try await fixture.load().body == "2")
    }

    @Test("ends at the strategy's limit, also within a second")
    func limit() async throws {
        let fixture = try fixture(.cacheFirst(for: .milliseconds(1_500)))
        try await fixture.load()
        fixture.clock.advance(by: 1.2)
        #expect(try await fixture.load().body == "1")
        fixture.clock.advance(by: 0.2)
        #expect(try await fixture.load().body == "1")
        fixture.clock.advance(by: 0.2)
        #expect(try await fixture.load().body == "2")
    }

    @Test("is not used after the clock was set back")
    func setBack() async throws {
        let fixture = try fixture()
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load().isHit)
        fixture.clock.advance(by: -3_600)
        #expect(try await fixture.load().body == "2")
    }

    @Test("has an Age that is at most two seconds too low")
    func age() async throws {
        let fixture = try fixture()
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
        let fixture = try fixture(.standard, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
        try await fixture.load()
        fixture.clock.advance(by: 0.1)
        #expect(try await fixture.load().isHit)
        #expect(try await fixture.load("/", fields, policy: policy).body == "2")
    }

    @Test("is not used for a request with a body, or after an invalidation")
    func unsafe() async throws {
        let fixture = try fixture()
        try await fixture.load()
        #expect(try await fixture.load().isHit)
        #expect(try await fixture.load(method: "POST", body: Data("x".utf8)).body == "2")
        #expect(try await fixture.load().body == "3")
    }
}

import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("Requests with a Host field that the app sets (RFC 9110 §7.2)")
struct HostFieldTests {
    private static let script: CachingFixture.Script = { request in
        .ok(request.value(of: "Host") ?? "", fields: ["Cache-Control": "max-age=3600"])
    }

    private static let strategies: [CacheStrategy] = [
        .standard, .revalidate, .cacheFirst(for: .days(1)), .networkFirst(), .staleWhileRevalidate(upTo: .days(1)),
    ]

    @Test("the response to another host's request is not stored under the URL's host", arguments: strategies)
    func notStored(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy, Self.script)
        #expect(try await fixture.load("/", ["Host": "evil.example"]).body == "evil.example")
        #expect(await fixture.cache.statistics.entries == 0)
        #expect(try await fixture.load().body == "127.0.0.1:\(fixture.origin.port)")
    }

    @Test("a response that is stored for the URL's host is not served for another host", arguments: strategies)
    func notServed(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy, Self.script)
        for _ in 0..<2 { try await fixture.load() }
        for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example/", "a@127.0.0.1:\(fixture.origin.port)"]
        {
            #expect(try await fixture.load("/", ["Host": host]).body == host)
        }
    }

    @Test("a Host field with the URL's own host, in any spelling, changes nothing")
    func ownHost() async throws {
        let fixture = try CachingFixture(.cacheFirst(for: .days(1)), Self.script)
        let own = "127.0.0.1:\(fixture.origin.port)"
        try await fixture.load("/", ["Host": own])
        #expect(try await fixture.load().isHit)
        #expect(try await fixture.load("/", ["host": own]).isHit)
        #expect(try await fixture.load("/", ["Host": "127.0.0.1:0\(fixture.origin.port)"]).isHit)
    }

    @Test("a session that adds a Host field to all its requests does not use the cache")
    func additional() async throws {
        let fixture = try CachingFixture(.cacheFirst(for: .days(1)), Self.script)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Host": "evil.example"]
        let session = URLSession(configuration: configuration.intercepted(by: fixture.interceptor))
        _ = try await session.data(from: fixture.origin.url("/"))
        await fixture.cache.flush()
        #expect(await fixture.cache.statistics.entries == 0)
    }
}

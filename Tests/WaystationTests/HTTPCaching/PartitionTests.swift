import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("Responses that belong to one login")
struct CachePartitionTests {
    private static let challenged: CachingFixture.Script = { request in
        request.value(of: "Authorization") == nil
            ? .status(401, fields: ["WWW-Authenticate": "Basic realm=\"a\""])
            : .ok("secret of alice", fields: ["Cache-Control": "max-age=3600"])
    }

    @Test(
        "a response after an answered challenge is not served to requests without credentials",
        arguments: [CacheStrategy.standard, .cacheFirst(for: .days(1)), .networkFirst()]
    )
    func challenge(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy, Self.challenged)
        let alice = RecordingDelegate(credential: { _ in
            (.useCredential, URLCredential(user: "alice", password: "a", persistence: .none))
        })
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: fixture.interceptor)
        let session = URLSession(configuration: configuration, delegate: alice, delegateQueue: nil)
        session.dataTask(with: fixture.origin.url("/account")).resume()
        await alice.completion()
        #expect(alice.body == Data("secret of alice".utf8))
        await fixture.cache.flush()
        #expect(try await fixture.load("/account").status == 401)
    }

    @Test("additional fields of a session count for Vary")
    func additionalFields() async throws {
        let fixture = try CachingFixture { request in
            .ok(
                request.value(of: "Accept-Language") ?? "-",
                fields: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
            )
        }
        for language in ["de", "fr", "de"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["Accept-Language": language]
            let session = URLSession(configuration: configuration.intercepted(by: fixture.interceptor))
            let (data, _) = try await session.data(from: fixture.origin.url())
            #expect(String(decoding: data, as: UTF8.self) == language)
            await fixture.cache.flush()
        }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("Vary: Cookie prevents storing after a redirect to another origin, where Foundation adds unknown cookies")
    func hiddenCookies() async throws {
        let count = Counter()
        let other = try ScriptedOrigin { _ in
            .ok("\(count.next())", fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"])
        }
        let target = other.url("/page").absoluteString
        let fixture = try CachingFixture { _ in .redirect(301, to: target) }
        for expected in ["1", "2"] {
            #expect(try await fixture.load("/", ["Cookie": "a=1"]).body == expected)
        }
    }

    @Test("a policy for stored data only never reaches the network, also with a range", arguments: ["HEAD", "GET"])
    func dontLoad(method: String) async throws {
        let fixture = try CachingFixture(.cacheFirst(for: .days(1))) { _ in .ok("1") }
        await #expect(throws: URLError.self) {
            try await fixture.load(method: method, ["Range": "bytes=0-1"], policy: .returnCacheDataDontLoad)
        }
        #expect(fixture.origin.requestCount == 0)
    }
}

@Suite("A load that has ended")
struct LoadLifetimeTests {
    @Test("does not keep its interceptor, cache or network alive", arguments: [true, false])
    func released(isCached: Bool) async throws {
        weak var interceptor: Interceptor?
        weak var cache: ResponseCache?
        do {
            let fixture = try CachingFixture(isCached ? .standard : .networkOnly) { request in
                request.path == "/a" ? .redirect(302, to: "/b") : .ok("x", fields: ["ETag": "\"e\""])
            }
            interceptor = fixture.interceptor
            cache = fixture.cache
            for _ in 0..<3 { try await fixture.load("/a", ["Authorization": "Bearer t"]) }
            await #expect(throws: URLError.self) { try await fixture.load("/c", policy: .returnCacheDataDontLoad) }
            fixture.session.invalidateAndCancel()
        }
        // Sessions release their delegates and caches on their own queues.
        #expect(await eventually { interceptor == nil && cache == nil })
        #expect(interceptor == nil)
        #expect(cache == nil)
    }
}

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

    @Test("a page that a redirect leads to is stored under the cookie that the redirect has set")
    func loginByRedirect() async throws {
        let fixture = try CachingFixture { request in
            request.path == "/callback"
                ? .status(302, fields: ["Location": "/home", "Set-Cookie": "sid=A; Path=/"])
                : .ok(request.value(of: "Cookie") ?? "none", fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"])
        }
        let storage = try #require(fixture.session.configuration.httpCookieStorage)
        storage.setCookie(try cookie("a", "1"))
        #expect(try await fixture.load("/home").body == "a=1")
        #expect(try await fixture.load("/callback").body.contains("sid=A"))
        #expect(try await fixture.load("/home").body.contains("sid=A"))
        for cookie in storage.cookies ?? [] where cookie.name == "sid" { storage.deleteCookie(cookie) }
        let loggedOut = try await fixture.load("/home")
        #expect(loggedOut.body == "a=1")
        #expect(loggedOut.isHit)
        #expect(fixture.asked.count == 3)
    }

    @Test("a page of another origin that a redirect leads to is stored under the cookies of its own origin")
    func cookiesOfAnotherOrigin() async throws {
        let other = try ScriptedOrigin { request in
            .ok(request.value(of: "Cookie") ?? "none", fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"])
        }
        let target = "http://localhost:\(other.port)/page"
        let fixture = try CachingFixture(hosts: ["127.0.0.1", "localhost"]) { _ in .redirect(301, to: target) }
        let storage = try #require(fixture.session.configuration.httpCookieStorage)
        storage.setCookie(try cookie("ours", "1"))
        for (value, requests) in [("1", 1), ("2", 2), ("1", 2)] {
            storage.setCookie(try cookie("b", value, domain: "localhost"))
            #expect(try await fixture.load().body == "b=\(value)")
            #expect(other.requestCount == requests)
        }
    }

    @Test("a request that is sent again has the cookies under which its response is stored")
    func cookieOfRefusedValidation() async throws {
        let fixture = try CachingFixture { request in
            guard request.value(of: "If-None-Match") == nil else {
                return .status(304, fields: ["ETag": "\"2\"", "Set-Cookie": "sid=A; Path=/"])
            }
            let fields: KeyValuePairs = ["ETag": "\"1\"", "Cache-Control": "max-age=10", "Vary": "Cookie"]
            return .ok(request.value(of: "Cookie") ?? "none", fields: fields)
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load().body == "none")
        #expect(fixture.asked == ["GET /", "GET / \"1\"", "GET /"])
        #expect(try await fixture.load().body == "sid=A")
    }

    private func cookie(_ name: String, _ value: String, domain: String = "127.0.0.1") throws -> HTTPCookie {
        try #require(HTTPCookie(properties: [.name: name, .value: value, .domain: domain, .path: "/"]))
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

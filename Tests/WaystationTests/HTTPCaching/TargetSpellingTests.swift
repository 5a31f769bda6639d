import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationStorage
import WaystationTesting

/// One URL may have many spellings, and origins read some of them differently.
///
/// The response that is stored under a URL must be the answer to a request for exactly that URL.
@Suite("Spellings of a URL")
struct TargetSpellingTests {
    private static let folders = [
        "", "./", "%2e/", "%2E/", "evil/../", "evil/%2e%2e/", "evil/.%2E/", "evil/%2E./", "evil/%2e%2E/", "%2e%2e/",
        "a/b/%2e%2e/%2e%2e/", "a/%2e/b/.%2e/../", "a/./b/", "a//", "a//%2e%2e/", "a/%2e%2e%2f", "a/..%2f", "...%2e/",
        "a/..;/", "%61/", "%41/", "%7euser/", "caf%c3%a9/", "caf%C3%A9/", "a%5c..%5c",
    ]
    private static let names = [
        "v2", "%762", "v%32", "%56%32", "v2?x=%7e", "v2?", "v2?%2e%2e/v2", "v%2f2", "v2/%2e", "w/%2e%2e/v2", "v2;p=%2D",
    ]
    static let all = folders.flatMap { folder in names.map { "/" + folder + $0 } }

    private static let script: CachingFixture.Script = { request in
        .ok(request.target, fields: ["Cache-Control": "max-age=3600", "ETag": "\"\(request.target)\""])
    }

    @Test(
        "in more than 200 spellings the target that is sent equals the key of the stored response",
        arguments: [CacheStrategy.standard, .cacheFirst(for: .days(1)), .networkFirst(), .revalidate]
    )
    func keyAndWire(strategy: CacheStrategy) async throws {
        #expect(Self.all.count > 200)
        let fixture = try CachingFixture(strategy, Self.script)
        for spelling in Self.all {
            let loaded = try await fixture.load(spelling)
            #expect(loaded.status == 200)
        }
        let keys = try StoreKeys(fixture).targets
        #expect(keys.count > 50)
        #expect(Set(fixture.origin.requests.map(\.target)) == keys)
        for key in keys {
            #expect(try await fixture.load(key, policy: .returnCacheDataDontLoad).body == key)
        }
    }

    @Test("an attacker's spelling of another path does not become the answer for that path")
    func poisoning() async throws {
        let fixture = try CachingFixture(.cacheFirst(for: .days(1)), Self.script)
        for spelling in ["/evil/%2e%2e/v2", "/%2e/v2", "/evil/.%2E/v2", "/%762"] { try await fixture.load(spelling) }
        #expect(try await fixture.load("/v2").body == "/v2")
    }

    @Test("redirects, conditional requests and unsafe methods use the same target and key")
    func otherRequests() async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            if request.path == "/moved" { return .redirect(to: "/evil/%2e%2e/v2") }
            if request.method == "POST" { return .ok("done") }
            let fields: KeyValuePairs = ["Cache-Control": "max-age=10", "ETag": "\"\(request.target)\""]
            return request.value(of: "If-None-Match") == "\"\(request.target)\""
                ? .status(304, fields: fields) : .ok("\(request.target) \(count.next())", fields: fields)
        }
        #expect(try await fixture.load("/moved").body == "/v2 1")
        fixture.clock.advance(by: 20)
        #expect(try await fixture.load("/x/%2e%2e/%762").body == "/v2 1")
        try await fixture.load("/evil/.%2e/v2", method: "POST", body: Data("x".utf8))
        #expect(try await fixture.load("/v2").body == "/v2 2")
        #expect(fixture.asked == ["GET /moved", "GET /v2", "GET /v2 \"/v2\"", "POST /v2", "GET /v2"])
    }

    @Test("a relative redirect is resolved against the canonical URL that was sent")
    func relativeRedirect() async throws {
        let fixture = try CachingFixture { request in
            request.target == "/a/" ? .redirect(to: "next") : .ok(request.target)
        }
        #expect(try await fixture.load("/a/b/%2e%2e").body == "/a/next")
        #expect(fixture.asked == ["GET /a/", "GET /a/next"])
    }

    @Test("the response has the URL as the app wrote it, whether loaded or stored")
    func responseURL() async throws {
        let fixture = try CachingFixture(.standard, Self.script)
        let url = fixture.origin.url("/evil/%2e%2e/v2")
        for _ in 0..<2 {
            let (data, response) = try await fixture.session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "/v2")
            #expect(response.url == url)
            await fixture.cache.flush()
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a scheme in capitals is the same scheme, in a request and in a redirect", arguments: [true, false])
    func scheme(isRedirect: Bool) async throws {
        let origin = try ScriptedOrigin { $0.path == "/moved" ? .status(404) : .ok("there") }
        let moving = try CachingFixture { _ in .redirect(to: "HTTP://127.0.0.1:\(origin.port)/there") }
        let capitals = try #require(URL(string: "HTTP://127.0.0.1:\(origin.port)/there"))
        let (data, _) = try await moving.session.data(from: isRedirect ? moving.origin.url("/") : capitals)
        #expect(String(decoding: data, as: UTF8.self) == "there")
        #expect(origin.requests.map(\.target) == ["/there"])
    }

    @Test("a scheme in capitals is also loaded by a rule without a cache")
    func schemeOnTheNetwork() async throws {
        let origin = try ScriptedOrigin { _ in .ok("there") }
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let capitals = try #require(URL(string: "HTTP://127.0.0.1:\(origin.port)/there"))
        #expect(String(decoding: try await session.data(from: capitals).0, as: UTF8.self) == "there")
    }
}

/// The targets that responses are stored under.
private struct StoreKeys {
    let targets: Set<String>

    init(_ fixture: CachingFixture) throws {
        let base = "http://127.0.0.1:\(fixture.origin.port)"
        let entries = try StoreInspector(directory: fixture.folder).entries()
        targets = Set(entries.map { String($0.key.url.dropFirst(base.count)) })
    }
}

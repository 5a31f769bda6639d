import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("Cache keys that a rule chooses, end to end")
struct CacheKeyTests {
    /// A fixture whose origin counts its responses.
    private func fixture(
        _ key: CacheKey,
        _ strategy: CacheStrategy = .standard,
        _ fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=3600"]
    ) throws -> CachingFixture {
        let count = Counter()
        return try CachingFixture(strategy, key: key) { _ in .ok("\(count.next())", fields: fields) }
    }

    // MARK: - Queries

    @Test("an ignored item of the query makes no other key, and is sent all the same")
    func ignoredItems() async throws {
        let fixture = try fixture(.ignoring("utm_*", "fbclid"))
        #expect(try await fixture.load("/a?utm_source=x&q=1").body == "1")
        for target in ["/a?utm_source=y&q=1", "/a?q=1", "/a?q=1&fbclid=z"] {
            let got = try await fixture.load(target)
            #expect(got.isHit)
            #expect(got.body == "1")
        }
        #expect(try await fixture.load("/a?q=2&fbclid=z").body == "2")
        #expect(fixture.asked == ["GET /a?utm_source=x&q=1", "GET /a?q=2&fbclid=z"])
    }

    @Test("a sorted query makes no other key, and is sent as it is")
    func sortedQuery() async throws {
        let fixture = try fixture(.sortingQuery())
        try await fixture.load("/a?b=1&a=2")
        #expect(try await fixture.load("/a?a=2&b=1").isHit)
        #expect(try await !fixture.load("/a?a=1&b=2").isHit)
        #expect(fixture.asked == ["GET /a?b=1&a=2", "GET /a?a=1&b=2"])
    }

    @Test("the key is shown in Cache-Status if it is not the URL")
    func shownKey() async throws {
        let fixture = try fixture(.ignoring("a"))
        try await fixture.load("/a?a=1")
        #expect(try await fixture.load("/a?a=2").cacheStatus.contains("key=\"\(fixture.origin.url("/a"))\""))
        #expect(try await !fixture.load("/a").cacheStatus.contains("key="))
    }

    @Test(
        "a removal and an unsafe request find the response by any URL that it answers",
        arguments: ["/a?q=1", "/a?q=1&utm_source=z", "/a?utm_medium=1&q=1"]
    )
    func removal(target: String) async throws {
        let fixture = try fixture(.ignoring("utm_*"))
        try await fixture.load("/a?utm_source=x&q=1")
        try await fixture.load("/a?q=2")
        #expect(try await fixture.cache.remove(fixture.origin.url(target)) == 1)
        #expect(try await !fixture.load("/a?q=1").isHit)
        try await fixture.load(target, method: "POST", body: Data("x".utf8))
        #expect(try await !fixture.load("/a?q=1").isHit)
        #expect(try await fixture.load("/a?q=2").isHit)
    }

    @Test("a stale response is confirmed by a request with the query of the load")
    func validation() async throws {
        let fixture = try CachingFixture(.standard, key: .ignoring("utm_*")) { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=10", "ETag": "\"v\""]
            return request.value(of: "If-None-Match") == nil ? .ok("a", fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load("/a?utm_source=x")
        fixture.clock.advance(by: 20)
        #expect(try await fixture.load("/a?utm_source=y").body == "a")
        #expect(try await fixture.load("/a?utm_source=z").isHit)
        #expect(fixture.asked == ["GET /a?utm_source=x", "GET /a?utm_source=y \"v\""])
    }

    // MARK: - Keys of the app's own

    @Test("a text of the app's own makes another key; nil is the URL alone")
    func ownKey() async throws {
        let fixture = try fixture(.own { $0.value(forHTTPHeaderField: "X-Tenant") })
        for tenant in [["X-Tenant": "a"], ["X-Tenant": "b#&/%"], ["X-Tenant": ""], [:]] {
            #expect(try await !fixture.load("/", tenant).isHit)
            let second = try await fixture.load("/", tenant)
            #expect(second.isHit)
            #expect(!second.cacheStatus.contains("key="))
        }
        #expect(await fixture.cache.statistics.entries == 4)
        #expect(try await fixture.cache.remove(fixture.origin.url("/")) == 4)
    }

    @Test("a key of the app's own does not share responses between credentials")
    func credentials() async throws {
        let fixture = try fixture(.own { _ in "the same" })
        try await fixture.load("/", ["Authorization": "Bearer 1"])
        #expect(try await !fixture.load("/", ["Authorization": "Bearer 2"]).isHit)
        #expect(try await !fixture.load("/").isHit)
        #expect(try await fixture.load("/", ["Authorization": "Bearer 1"]).isHit)
    }

    @Test("a removal of another URL that begins in the same way leaves the keys of a URL alone")
    func otherURLs() async throws {
        let fixture = try fixture(.own { $0.value(forHTTPHeaderField: "X-Tenant") })
        try await fixture.load("/ab", ["X-Tenant": "a"])
        try await fixture.load("/a?b", ["X-Tenant": "a"])
        #expect(try await fixture.cache.remove(fixture.origin.url("/a")) == 0)
        #expect(try await fixture.cache.remove(prefix: fixture.origin.url("/a").absoluteString) == 2)
    }

    // MARK: - Bodies

    @Test("the body of a QUERY is part of the key, with its type (RFC 10008)")
    func query() async throws {
        let fixture = try fixture(.url)
        let (json, sql) = (["Content-Type": "application/json"], ["Content-Type": "application/sql"])
        #expect(try await fixture.load("/a", method: "QUERY", json, body: Data("1".utf8)).body == "1")
        let second = try await fixture.load("/a", method: "QUERY", json, body: Data("1".utf8))
        #expect(second.isHit)
        #expect(second.body == "1")
        #expect(try await !fixture.load("/a", method: "QUERY", json, body: Data("2".utf8)).isHit)
        #expect(try await !fixture.load("/a", method: "QUERY", sql, body: Data("1".utf8)).isHit)
        #expect(try await !fixture.load("/a").isHit)
        #expect(try await fixture.load("/a", method: "QUERY", json, body: Data("2".utf8)).isHit)
        #expect(fixture.origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "2", "1", ""])
        #expect(fixture.asked == ["QUERY /a", "QUERY /a", "QUERY /a", "GET /a"])
    }

    @Test("a QUERY invalidates nothing, and what invalidates its URL invalidates its responses")
    func queriesAndInvalidation() async throws {
        let fixture = try fixture(.url)
        try await fixture.load("/a")
        try await fixture.load("/a", method: "QUERY", body: Data("1".utf8))
        #expect(try await fixture.load("/a").isHit)
        try await fixture.load("/a", method: "POST", body: Data("1".utf8))
        #expect(try await !fixture.load("/a").isHit)
        #expect(try await !fixture.load("/a", method: "QUERY", body: Data("1".utf8)).isHit)
    }

    @Test("a stale response to a QUERY is confirmed by the same QUERY with a condition")
    func queryValidation() async throws {
        let fixture = try CachingFixture(.standard) { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=10", "ETag": "\"v\""]
            return request.value(of: "If-None-Match") == nil ? .ok("a", fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load("/a", method: "QUERY", body: Data("1".utf8))
        fixture.clock.advance(by: 20)
        #expect(try await fixture.load("/a", method: "QUERY", body: Data("1".utf8)).body == "a")
        #expect(fixture.asked == ["QUERY /a", "QUERY /a \"v\""])
        #expect(fixture.origin.requests.map(\.body) == [Data("1".utf8), Data("1".utf8)])
    }

    @Test("a direct client that gets an answer again asks by the body, too")
    func repeatedQueries() async throws {
        let fixture = try fixture(.url)
        let client = fixture.interceptor.client()
        let method = try #require(HTTPRequest.Method("QUERY"))
        let message = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "127.0.0.1:\(fixture.origin.port)",
            path: "/a"
        )
        var bodies: [String] = []
        for body in [
            DirectClient.RequestBody.data(Data("1".utf8)), .data(Data("1".utf8)), .none, .none, .data(Data("2".utf8)),
        ] {
            let (data, _) = try await client.data(for: message, body: body)
            await fixture.cache.flush()
            bodies.append(String(decoding: data, as: UTF8.self))
        }
        #expect(bodies == ["1", "1", "2", "2", "3"])
    }

    @Test("a body that is too large for a key is sent as usual, and its response is not stored")
    func largeBody() async throws {
        let fixture = try fixture(.url)
        let body = Data(count: (1 << 20) + 1)
        for _ in 0..<2 { #expect(try await !fixture.load("/a", method: "QUERY", body: body).isHit) }
        #expect(fixture.origin.requests.map(\.body.count) == [body.count, body.count])
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("a POST is answered from the cache only by a rule that includes its body")
    func post() async throws {
        let plain = try fixture(.url)
        for _ in 0..<2 { #expect(try await !plain.load("/a", method: "POST", body: Data("1".utf8)).isHit) }
        let fixture = try fixture(.includingBody(of: ["POST"]))
        try await fixture.load("/a")
        #expect(try await !fixture.load("/a", method: "POST", body: Data("1".utf8)).isHit)
        #expect(try await fixture.load("/a", method: "POST", body: Data("1".utf8)).isHit)
        #expect(try await !fixture.load("/a", method: "POST", body: Data("2".utf8)).isHit)
        // The rule promises that such a POST changes nothing; other methods do.
        #expect(try await fixture.load("/a").isHit)
        try await fixture.load("/a", method: "PUT", body: Data("1".utf8))
        #expect(try await !fixture.load("/a", method: "POST", body: Data("1".utf8)).isHit)
    }

    @Test("a response to a POST needs a lifetime, and a stale one is loaded again without a condition")
    func postFreshness() async throws {
        let modified = CachingFixture.date(-100_000)
        let fixture = try fixture(.includingBody(of: ["POST"]), .standard, ["Last-Modified": modified])
        for _ in 0..<2 { #expect(try await !fixture.load("/a", method: "POST", body: Data("1".utf8)).isHit) }
        // A GET has an estimated lifetime.
        try await fixture.load("/a")
        #expect(try await fixture.load("/a").isHit)

        let stale = try self.fixture(
            .includingBody(of: ["POST"]),
            .standard,
            ["Cache-Control": "max-age=10", "ETag": "\"v\""]
        )
        #expect(try await stale.load("/a", method: "POST", body: Data("1".utf8)).body == "1")
        stale.clock.advance(by: 20)
        #expect(try await stale.load("/a", method: "POST", body: Data("1".utf8)).body == "2")
        #expect(stale.asked == ["POST /a", "POST /a"])
        #expect(try await stale.load("/a", method: "POST", body: Data("1".utf8)).isHit)
    }

    @Test("a redirect of a QUERY keeps its method and body, but for 303", arguments: [301, 302, 303, 307, 308])
    func redirectedQuery(status: Int) async throws {
        let fixture = try CachingFixture(.standard) { request in
            request.path == "/a"
                ? .status(status, fields: ["Location": "/b", "Cache-Control": "max-age=60"])
                : .ok("\(request.method) \(request.body.count)", fields: ["Cache-Control": "max-age=60"])
        }
        let expected = status == 303 ? "GET 0" : "QUERY 3"
        for isSecond in [false, true] {
            let got = try await fixture.load("/a", method: "QUERY", body: Data("abc".utf8))
            #expect(got.body == expected)
            #expect(got.isHit == isSecond)
        }
        #expect(fixture.origin.requests.count == 2)
    }

    // MARK: - No-Vary-Search

    /// A fixture whose origin states a rule about queries.
    private func searching(
        _ rule: String = "params=(\"utm_source\")",
        _ control: String = "max-age=3600",
        memory: ByteCount = .mebibytes(32)
    ) throws -> CachingFixture {
        let count = Counter()
        return try CachingFixture(.standard, residentLimit: memory) { request in
            let fields: KeyValuePairs = ["Cache-Control": control, "No-Vary-Search": rule, "ETag": "\"v\""]
            if request.value(of: "If-None-Match") != nil { return .status(304, fields: fields) }
            return .ok("\(count.next())", fields: fields)
        }
    }

    @Test("a response with No-Vary-Search that answers another query is renewed in the background")
    func searchedRenewal() async throws {
        let count = Counter()
        let fixture = try CachingFixture(.staleWhileRevalidate(upTo: .days(1))) { _ in
            .ok("\(count.next())", fields: ["No-Vary-Search": "params=(\"utm\")"])
        }
        #expect(try await fixture.load("/a?utm=1").body == "1")
        #expect(try await fixture.load("/a?utm=2").body == "1")
        await fixture.origin.waitForRequests(2)
        #expect(fixture.origin.requests.map(\.target) == ["/a?utm=1", "/a?utm=2"])
    }

    @Test(
        "a response answers the queries that its No-Vary-Search allows",
        arguments: [ByteCount.bytes(0), .mebibytes(32)]
    )
    func noVarySearch(memory: ByteCount) async throws {
        let fixture = try searching(memory: memory)
        try await fixture.load("/a?q=1&utm_source=x")
        for target in ["/a?q=1&utm_source=x", "/a?q=1", "/a?utm_source=y&q=1", "/a?q=1&utm_source=x"] {
            let got = try await fixture.load(target)
            #expect(got.isHit)
            #expect(got.body == "1")
        }
        for target in ["/a?q=2", "/b?q=1", "/a"] { #expect(try await !fixture.load(target).isHit) }
        #expect(try await fixture.load("/a?utm_source=z").isHit)
    }

    @Test("a rule without effect, or none, leaves the query as it is", arguments: ["params=()", "params", "?"])
    func withoutRule(rule: String) async throws {
        let fixture = try searching(rule)
        try await fixture.load("/a?q=1")
        #expect(try await fixture.load("/a?q=2").isHit == (rule == "params"))
        #expect(try await fixture.load("/a?q=1").isHit)
    }

    @Test("a stale response with another query is confirmed, and then answers all queries of its rule")
    func staleSearch() async throws {
        let fixture = try searching("params=(\"utm_source\")", "max-age=10")
        try await fixture.load("/a?utm_source=x")
        fixture.clock.advance(by: 20)
        #expect(try await fixture.load("/a?utm_source=y").body == "1")
        #expect(try await fixture.load("/a?utm_source=z").isHit)
        #expect(fixture.asked == ["GET /a?utm_source=x", "GET /a?utm_source=y \"v\""])
    }

    @Test("a newer response without the field answers its own query, and the older one the others")
    func newerWithoutField() async throws {
        let states = Mutex(true)
        let count = Counter()
        let fixture = try CachingFixture(.standard) { _ in
            let rule = states.withLock { $0 } ? "params" : "?"
            return .ok("\(count.next())", fields: ["Cache-Control": "max-age=60", "No-Vary-Search": rule])
        }
        try await fixture.load("/a?q=1")
        states.withLock { $0 = false }
        #expect(try await fixture.load("/a?q=2", policy: .reloadIgnoringLocalCacheData).body == "2")
        #expect(try await fixture.load("/a?q=2").body == "2")
        #expect(try await fixture.load("/a?q=3").body == "1")
    }

    @Test("a validation that changes the rule takes the response from the other queries")
    func changedRule() async throws {
        let rule = Mutex("params=(\"a\")")
        let fixture = try CachingFixture(.standard) { request in
            let fields: KeyValuePairs = [
                "Cache-Control": "max-age=10", "ETag": "\"v\"", "No-Vary-Search": rule.withLock { $0 },
            ]
            return request.value(of: "If-None-Match") == nil ? .ok("1", fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load("/?a=1")
        fixture.clock.advance(by: 20)
        rule.withLock { $0 = "params=(\"b\")" }
        try await fixture.load("/?a=2")
        #expect(try await !fixture.load("/?a=3").isHit)
    }

    @Test(
        "a removal or an unsafe request for one URL concerns all that the response answers",
        arguments: [true, false]
    )
    func removedSearch(byApp: Bool) async throws {
        let fixture = try searching()
        try await fixture.load("/a?utm_source=x")
        try await fixture.load("/b?utm_source=x")
        if byApp {
            try await fixture.cache.remove(fixture.origin.url("/a?utm_source=other"))
        } else {
            try await fixture.load("/a?utm_source=other", method: "POST", body: Data("x".utf8))
        }
        #expect(try await !fixture.load("/a?utm_source=x").isHit)
        #expect(try await fixture.load("/b?utm_source=y").isHit)
    }

    @Test("another cache on the same directory, and a later one, find it too")
    func otherCache() async throws {
        let fixture = try searching()
        let other = try ResponseCache(directory: fixture.folder, environment: .patient, now: fixture.clock.now)
        await other.flush()
        try await fixture.load("/a?utm_source=x")
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly))]
            $0.cache = other
            $0.now = fixture.clock.now
        }
        let client = interceptor.client()
        let (body, head) = try await client.data(for: URLRequest(url: fixture.origin.url("/a?utm_source=y")))
        #expect(String(decoding: body, as: UTF8.self) == "1")
        #expect(head.value(forHTTPHeaderField: "Cache-Status")?.contains("key=\"") == true)
        let listed = try StoreInspector(directory: fixture.folder).entries()
        #expect(listed.map(\.key.url) == [fixture.origin.url("/a").absoluteString + "#search=params=(utm_source)"])
    }

    @Test("it keeps credentials and variants apart")
    func searchAndOthers() async throws {
        let count = Counter()
        let fixture = try CachingFixture(.standard) { _ in
            .ok(
                "\(count.next())",
                fields: ["Cache-Control": "max-age=60", "No-Vary-Search": "params", "Vary": "X-Kind"]
            )
        }
        try await fixture.load("/?a", ["Authorization": "Bearer 1", "X-Kind": "1"])
        #expect(try await !fixture.load("/?b", ["X-Kind": "1"]).isHit)
        #expect(try await !fixture.load("/?b", ["Authorization": "Bearer 2", "X-Kind": "1"]).isHit)
        #expect(try await !fixture.load("/?b", ["Authorization": "Bearer 1", "X-Kind": "2"]).isHit)
        #expect(try await fixture.load("/?b", ["Authorization": "Bearer 1", "X-Kind": "1"]).isHit)
    }

    // MARK: - Fields of the engine

    @Test("fields that the engine adds count as absent on both sides of Vary", arguments: ["User-Agent", "Accept"])
    func fieldsOfTheEngine(name: String) async throws {
        let fixture = try fixture(.url, .standard, ["Cache-Control": "max-age=3600", "Vary": name])
        try await fixture.load("/")
        // The engine has sent one, which is not the app's.
        #expect(fixture.seen(0, name) != nil || LoadingDoor.present.isOfAsyncHTTPClient)
        #expect(try await fixture.load("/").isHit)
        #expect(try await !fixture.load("/", [name: fixture.seen(0, name) ?? "*/*"]).isHit)
    }

    // MARK: - Words

    @Test("an explanation names the key, and why")
    func explanation() async throws {
        let fixture = try fixture(.ignoring("utm_*").sortingQuery().includingBody(of: ["POST"]))
        try await fixture.load("/a?b=1&utm_source=x&a=2")
        let url = fixture.origin.url("/a?utm_source=y&a=2&b=1")
        let explained = await fixture.interceptor.explain(url).description
        #expect(
            explained.contains(
                "The key of the request is its URL, without \"utm_source\" of its query, with its query sorted."
            )
        )
        #expect(explained.contains("key: .ignoring(\"utm_*\").sortingQuery().includingBody(of: [\"POST\"])"))
        #expect(explained.contains("The stored response has the status 200."))
        var post = URLRequest(url: fixture.origin.url("/a"))
        post.httpMethod = "POST"
        post.httpBody = Data("1".utf8)
        #expect(await fixture.interceptor.explain(post).description.contains("with a digest of its body"))

        let searching = try searching()
        try await searching.load("/a?utm_source=x")
        let other = await searching.interceptor.explain(searching.origin.url("/a?utm_source=y")).description
        #expect(other.contains("by its No-Vary-Search"))
        #expect(other.contains("is fresh"))
    }

    @Test(
        "a key without meaning is refused when the interceptor is made",
        arguments: [
            (CacheKey.ignoring(""), "without a name"), (.ignoring("utm_*x"), "only at the end"),
            (.includingBody(of: ["PUT"]), "PUT"), (.includingBody(of: ["GET"]), "GET"),
        ]
    )
    func refusal(key: CacheKey, reason: String) throws {
        let error = #expect(throws: WaystationError.self) {
            _ = try Interceptor {
                $0.rules = [.allow("https://a.example/**", via: .cache(.networkOnly, key: key))]
            }
        }
        #expect(error?.code == .invalidRules)
        #expect(error?.message.contains(reason) == true)
    }
}

import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationStorage
import WaystationTesting

@Suite("Groups and tags of stored responses, end to end (RFC 9875)")
struct GroupsEndToEndTests {
    /// A fixture whose origin counts the responses to GET, puts `/a` and `/b` into a group, and answers to a condition by
    /// 304.
    private func fixture(
        _ strategy: CacheStrategy = .standard,
        _ directives: String = "max-age=3600",
        tags: [String] = [],
        post: @escaping @Sendable () -> ScriptedOrigin.Response = { .ok() }
    ) throws -> CachingFixture {
        let count = Counter()
        return try CachingFixture(strategy, tags: tags) { request in
            guard request.method == "GET" || request.method == "HEAD" else { return post() }
            let group = request.path == "/c" ? "\"news\"" : "\"prices\", \"eu\""
            let fields: KeyValuePairs = ["Cache-Control": directives, "ETag": "\"v\"", "Cache-Groups": group]
            if request.value(of: "If-None-Match") != nil { return .status(304, fields: fields) }
            return .ok("\(count.next())", fields: fields)
        }
    }

    struct Change: CustomTestStringConvertible, Sendable {
        var method = "POST"
        var status = 200
        var field = "\"prices\""
        let drops: Bool
        var testDescription: String { "\(method) with \(status) \(field) \(drops ? "drops" : "keeps") the group" }
    }

    @Test(
        "the response to an unsafe request that succeeds invalidates groups of its origin",
        arguments: [
            Change(drops: true), Change(method: "DELETE", status: 204, drops: true),
            Change(field: "\"eu\";x=1, \"other\"", drops: true), Change(method: "OPTIONS", drops: false),
            Change(status: 404, drops: false), Change(status: 500, drops: false),
            Change(field: "prices", drops: false), Change(field: "\"Prices\"", drops: false),
        ]
    )
    func invalidation(change: Change) async throws {
        let fixture = try fixture {
            .status(change.status, fields: ["Cache-Group-Invalidation": change.field])
        }
        for target in ["/a", "/b", "/c"] { try await fixture.load(target) }
        let body = change.method == "POST" ? Data("x".utf8) : nil
        try await fixture.load("/change", method: change.method, body: body)
        for target in ["/a", "/b"] { #expect(try await fixture.load(target).isHit != change.drops) }
        #expect(try await fixture.load("/c").isHit)
    }

    @Test("an upload that Foundation sends itself invalidates groups, too")
    func upload() async throws {
        let fixture = try fixture { .ok(fields: ["Cache-Group-Invalidation": "\"prices\""]) }
        for target in ["/a", "/c"] { try await fixture.load(target) }
        var request = URLRequest(url: fixture.origin.url("/change"))
        request.httpMethod = "PUT"
        _ = try await fixture.session.upload(for: request, from: Data("new".utf8))
        #expect(try await !fixture.load("/a").isHit)
        #expect(try await fixture.load("/c").isHit)
    }

    @Test("a hard purge by tag or by group: the next load gets a new response")
    func hard() async throws {
        let fixture = try fixture(tags: ["shop"])
        for (purge, dropped) in [("tag", ["/a", "/c"]), ("group", ["/a"])] {
            for target in ["/a", "/c"] { try await fixture.load(target) }
            for target in ["/a", "/c"] { #expect(try await fixture.load(target).isHit) }
            let asked = fixture.asked.count
            if purge == "tag" {
                try await fixture.cache.purge(tag: "shop")
            } else {
                try await fixture.cache.purge(group: "prices", of: fixture.origin.url("/anywhere"))
            }
            for target in ["/a", "/c"] { #expect(try await fixture.load(target).isHit != dropped.contains(target)) }
            // Nothing is left whose validator could be sent.
            #expect(fixture.asked.dropFirst(asked) == dropped.map { "GET \($0)" }[...])
        }
    }

    @Test("the stored response to a POST has the tags of its rule")
    func posted() async throws {
        let fixture = try CachingFixture(tags: ["shop"]) { request in
            .ok(request.method, fields: ["Cache-Control": "max-age=60", "Content-Location": "/"])
        }
        try await fixture.load(method: "POST", body: Data("x".utf8))
        #expect(try await fixture.load().body == "POST")
        try await fixture.cache.purge(tag: "shop")
        #expect(try await fixture.load().body == "GET")
    }

    @Test("the response to a POST that was sent before a purge is not stored", arguments: [true, false])
    func postedBefore(byTag: Bool) async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture(tags: ["shop"]) { request in
            let answer = ScriptedOrigin.Response.ok(
                request.method,
                fields: ["Cache-Control": "max-age=60", "Content-Location": "/"]
            )
            return request.method == "POST" ? answer.held(at: gate) : answer
        }
        async let posted = fixture.load(method: "POST", body: Data("x".utf8))
        await fixture.origin.waitForRequests(1)
        if byTag { try await fixture.cache.purge(tag: "shop") } else { try await fixture.cache.removeAll() }
        gate.open()
        #expect(try await posted.body == "POST")
        #expect(try await fixture.load().body == "GET")
    }

    @Test("a HEAD that freshens a tagged response does not get its tags")
    func headWithoutTags() async throws {
        let fixture = try fixture(tags: ["shop"])
        try await fixture.load("/a")
        let head = try await fixture.load("/a", method: "HEAD", ["Cache-Control": "no-cache"])
        #expect(head.status == 200)
        #expect(head["Cache-Groups"] != nil)
        #expect(head["Waystation-Tags"] == nil)
    }

    @Test("a purge of a group leaves equal groups of other origins")
    func otherOrigin() async throws {
        let fixture = try fixture()
        try await fixture.load("/a")
        try await fixture.cache.purge(group: "prices", of: #require(URL(string: "https://127.0.0.1/")))
        #expect(try await fixture.load("/a").isHit)
        let error = await #expect(throws: WaystationError.self) {
            try await fixture.cache.purge(group: "prices", of: #require(URL(string: "a/b")))
        }
        #expect(error?.code == .invalidHost)
    }

    @Test(
        "after a soft purge the origin confirms a response by a 304, and it is fresh again",
        arguments: [CacheStrategy.standard, .revalidate, .cacheFirst(for: .days(1)), .networkFirst()]
    )
    func soft(strategy: CacheStrategy) async throws {
        let fixture = try fixture(strategy, tags: ["shop"])
        try await fixture.load("/a")
        let plain = try await fixture.load("/a").isHit
        fixture.clock.advance(by: 1)
        try await fixture.cache.purge(tag: "shop", as: .soft)
        fixture.clock.advance(by: 1)
        let confirmed = try await fixture.load("/a")
        #expect(confirmed.body == "1")
        #expect(confirmed.cacheStatus.contains("fwd-status=304"))
        #expect(fixture.asked.last == "GET /a \"v\"")
        fixture.clock.advance(by: 1)
        #expect(try await fixture.load("/a").isHit == plain)
    }

    @Test(
        "after a soft purge a response serves while it is renewed, where that is allowed",
        arguments: [
            (CacheStrategy.standard, "max-age=3600, stale-while-revalidate=60", true),
            (.standard, "max-age=3600", false), (.staleWhileRevalidate(upTo: .days(1)), "max-age=3600", true),
            (.cacheFirst(for: .days(1)), "max-age=3600, stale-while-revalidate=60", false),
        ]
    )
    func staleWhileRevalidate(strategy: CacheStrategy, directives: String, isServed: Bool) async throws {
        let fixture = try fixture(strategy, directives, tags: ["shop"])
        try await fixture.load("/a")
        fixture.clock.advance(by: 1)
        try await fixture.cache.purge(tag: "shop", as: .soft)
        fixture.clock.advance(by: 1)
        #expect(try await fixture.load("/a").isHit == isServed)
        await fixture.origin.waitForRequests(2)
    }

    @Test(
        "after a soft purge a response serves without a network, where that is allowed",
        arguments: [
            (CacheStrategy.standard, "max-age=3600", true), (.standard, "max-age=3600, must-revalidate", false),
            (.cacheFirst(for: .days(1)), "max-age=3600", true), (.cacheOnly, "max-age=3600", true),
        ]
    )
    func offline(strategy: CacheStrategy, directives: String, isServed: Bool) async throws {
        let online = try fixture(strategy == .cacheOnly ? .standard : strategy, directives, tags: ["shop"])
        try await online.load("/a")
        online.clock.advance(by: 1)
        try await online.cache.purge(tag: "shop", as: .soft)
        online.clock.advance(by: 1)
        online.origin.stop()
        if isServed {
            #expect(try await online.load("/a").body == "1")
        } else {
            await #expect(throws: URLError.self) { try await online.load("/a") }
        }
    }

    @Test("a load after a purge does not wait for a request from before it, whose response is not stored")
    func underWay() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture(tags: ["shop"]) { request in
            let response = ScriptedOrigin.Response.ok("\(request.order)", fields: ["Cache-Control": "max-age=3600"])
            return request.order == 0 ? response.held(at: gate) : response
        }
        let early = Task { try await fixture.load().body }
        await fixture.origin.waitForRequests(1)
        try await fixture.cache.purge(tag: "shop", as: .soft)
        #expect(try await fixture.load().body == "1")
        gate.open()
        #expect(try await early.value == "0")
        #expect(try await fixture.load().body == "1")
        #expect(try await fixture.load().isHit)
    }

    @Test("tags are neither delivered nor taken over from an origin")
    func tagsStayHere() async throws {
        let fixture = try CachingFixture(tags: ["shop"]) { _ in
            .ok("x", fields: ["Cache-Control": "max-age=3600", "Waystation-Tags": "\"forged\""])
        }
        try await fixture.load()
        let hit = try await fixture.load()
        #expect(hit.isHit)
        #expect(hit["Waystation-Tags"] == nil)
        let entry = try #require(try StoreInspector(directory: fixture.folder).entries().first)
        #expect(entry.tags == ["shop"])
    }

    @Test("an explanation names tags and groups, and the purge")
    func explanation() async throws {
        let fixture = try fixture(tags: ["shop"])
        try await fixture.load("/a")
        fixture.clock.advance(by: 5)
        try await fixture.cache.purge(tag: "shop", as: .soft)
        fixture.clock.advance(by: 5)
        let cache = try #require(await fixture.interceptor.explain(fixture.origin.url("/a")).cache)
        #expect(cache.response?.tags == ["shop"])
        #expect(cache.response?.groups == ["prices", "eu"])
        #expect(cache.response?.lifetimeSource == "purge")
        #expect(cache.outcome == "fetched")
        #expect(cache.description.contains("purged softly"))
    }

    @Test("an explanation by cacheFirst does not promise a response that was purged softly")
    func explanationByLimit() async throws {
        let fixture = try fixture(.cacheFirst(for: .days(1)), tags: ["shop"])
        try await fixture.load("/a")
        func text() async throws -> String {
            try #require(await fixture.interceptor.explain(fixture.origin.url("/a")).cache).description
        }
        #expect(try await text().contains("more."))
        try await fixture.cache.purge(tag: "shop", as: .soft)
        #expect(try await !text().contains("more."))
        #expect(try await text().contains("before the origin has confirmed it, because it was purged"))
    }

    @Test(
        "a tag that cannot be stored is refused when the interceptor is made",
        arguments: ["", "preise für alle", "a\nb"]
    )
    func invalidTag(tag: String) throws {
        let error = #expect(throws: WaystationError.self) { try CachingFixture(tags: [tag]) { _ in .ok() } }
        #expect(error?.code == .invalidRules)
    }
}

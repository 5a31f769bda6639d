import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("The .standard strategy is a private HTTP cache")
struct StandardCachingTests {
    @Test("two identical GETs with max-age=3600 are one request to the origin (RFC 9111 §4.2)")
    func fresh() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"]) }
        #expect(try await fixture.load().cacheStatus == "Waystation; fwd=uri-miss; fwd-status=200; stored")
        fixture.clock.advance(by: 3599)
        let second = try await fixture.load()
        #expect(second.body == "1")
        #expect(second.cacheStatus == "Waystation; hit; ttl=1")
        #expect(second["Age"] == "3599")
        fixture.clock.advance(by: 1)
        #expect(try await fixture.load().body == "2")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("a stale response is validated with its validators, and a 304 freshens it (§4.3)")
    func revalidation() async throws {
        let fixture = try CachingFixture { request in
            guard request.value(of: "If-None-Match") != "\"a\"" else {
                return .status(304, fields: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "X-New": "yes"])
            }
            return .ok(
                "body",
                fields: ["ETag": "\"a\"", "Cache-Control": "max-age=10", "Last-Modified": CachingFixture.date(-9)]
            )
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        let revalidated = try await fixture.load()
        #expect(revalidated.status == 200)
        #expect(revalidated.body == "body")
        #expect(revalidated["X-New"] == "yes")
        #expect(revalidated.cacheStatus == "Waystation; fwd=stale; fwd-status=304; ttl=60")
        #expect(fixture.seen(1, "If-Modified-Since") == CachingFixture.date(-9))
        fixture.clock.advance(by: 59)
        #expect(try await fixture.load().isHit)
        #expect(fixture.origin.requestCount == 2)
    }

    @Test(
        "a stale response is served when there is no network, unless it has must-revalidate (§4.2.4)",
        arguments: [true, false]
    )
    func offline(mustRevalidate: Bool) async throws {
        let directives = mustRevalidate ? "max-age=10, must-revalidate" : "max-age=10"
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": directives]) }
        try await fixture.load()
        fixture.clock.advance(by: 100)
        fixture.origin.stop()
        guard mustRevalidate else {
            let stale = try await fixture.load()
            #expect(stale.body == "body")
            #expect(stale.cacheStatus == "Waystation; fwd=stale; ttl=-90")
            return
        }
        await #expect(throws: URLError.self) { try await fixture.load() }
    }

    @Test("an unsafe request invalidates the stored response (§4.4)", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func invalidation(method: String) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"]) }
        try await fixture.load()
        try await fixture.load(method: method, body: method == "DELETE" ? nil : Data("x".utf8))
        #expect(try await fixture.load().body == "3")
    }

    @Test("only-if-cached gets 504 when nothing is stored, without a request to the origin (§5.2.1.7)")
    func onlyIfCached() async throws {
        let fixture = try CachingFixture { _ in .ok("1", fields: ["Cache-Control": "max-age=3600"]) }
        #expect(try await fixture.load("/", ["Cache-Control": "only-if-cached"]).status == 504)
        #expect(fixture.origin.requestCount == 0)
        try await fixture.load()
        #expect(try await fixture.load("/", ["Cache-Control": "only-if-cached"]).body == "1")
    }

    @Test("the app's own ranges and conditions are answered by a fresh stored response (§4.3.2, RFC 9110 §14)")
    func ownConditions() async throws {
        let fixture = try CachingFixture { _ in
            .ok("0123456789", fields: ["Cache-Control": "max-age=3600", "ETag": "\"a\""])
        }
        try await fixture.load()
        let part = try await fixture.load("/", ["Range": "bytes=2-4"])
        #expect(part.status == 206)
        #expect(part.body == "234")
        #expect(part["Content-Range"] == "bytes 2-4/10")
        #expect(try await fixture.load("/", ["If-None-Match": "\"a\""]).status == 304)
        #expect(try await fixture.load("/", ["Range": "bytes=20-"]).status == 416)
        let head = try await fixture.load(method: "HEAD")
        #expect(head.status == 200)
        #expect(head["Content-Length"] == "10")
        #expect(head.body == "")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("stale-while-revalidate serves at once and renews in the background (RFC 5861 §3)")
    func staleWhileRevalidate() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            .ok("\(count.next())", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=100"])
        }
        try await fixture.load()
        fixture.clock.advance(by: 50)
        var events = fixture.interceptor.events.makeAsyncIterator()
        #expect(try await fixture.load().body == "1")
        while let event = await events.next() {
            if case .stored = event.kind { break }
        }
        await fixture.cache.flush()
        let renewed = try await fixture.load()
        #expect(renewed.body == "2")
        #expect(renewed.isHit)
    }

    @Test("stale-if-error serves the stored response at a server error (RFC 5861 §4)", arguments: [500, 502, 503, 504])
    func staleIfError(status: Int) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1
                ? .ok("good", fields: ["Cache-Control": "max-age=10, stale-if-error=100"]) : .status(status)
        }
        try await fixture.load()
        fixture.clock.advance(by: 50)
        let standIn = try await fixture.load()
        #expect(standIn.status == 200)
        #expect(standIn.body == "good")
        fixture.clock.advance(by: 100)
        #expect(try await fixture.load().status == status)
    }

    @Test("a redirect is stored and served like any other response (RFC 9110 §15.4.2)")
    func redirect() async throws {
        let fixture = try CachingFixture { request in
            request.path == "/a"
                ? .status(301, fields: ["Location": "/b", "Cache-Control": "max-age=60"])
                : .ok("there", fields: ["Cache-Control": "max-age=3600"])
        }
        for _ in 0..<3 { #expect(try await fixture.load("/a").body == "there") }
        #expect(fixture.origin.requests.map(\.target) == ["/a", "/b"])
        fixture.clock.advance(by: 60)
        #expect(try await fixture.load("/a").body == "there")
        #expect(fixture.origin.requests.map(\.target) == ["/a", "/b", "/a"])
    }

    @Test("a coded body's strong tag confirms the decoded body that is stored (RFC 9110 §8.8.3.3)")
    func codedBody() async throws {
        let zipped = try #require(Data(base64Encoded: "H4sIAAAAAAACA0vOzy0oSi0uzkzKSVVIHuWMckY5o5yRzQEAlotzNBQFAAA="))
        let fixture = try CachingFixture(storesCodedBodies: true) { request in
            request.value(of: "If-None-Match") == nil
                ? .ok(zipped, fields: ["Content-Encoding": "gzip", "ETag": "\"z\"", "Cache-Control": "no-cache"])
                : .status(304, fields: ["ETag": "\"z\""])
        }
        let first = try await fixture.load()
        let second = try await fixture.load()
        #expect(second.body == first.body)
        #expect(second.status == 200)
        #expect(fixture.origin.requestCount == 2)
    }
}

@Suite("The .revalidate strategy")
struct RevalidatingTests {
    private func fixture(_ strategy: CacheStrategy) throws -> CachingFixture {
        try CachingFixture(strategy) { request in
            let isKnown = request.value(of: "If-None-Match") == "\"a\""
            let fields: KeyValuePairs = ["ETag": "\"a\"", "Cache-Control": "max-age=3600"]
            return isKnown ? .status(304, fields: fields) : .ok("page", fields: fields)
        }
    }

    @Test("sends a conditional GET for each load, and serves the stored response without a network")
    func conditionalGet() async throws {
        let fixture = try fixture(.revalidate)
        for _ in 0..<3 { #expect(try await fixture.load().body == "page") }
        #expect(fixture.origin.requests.map(\.method) == ["GET", "GET", "GET"])
        #expect(fixture.seen(2, "If-None-Match") == "\"a\"")
        fixture.origin.stop()
        fixture.clock.advance(by: 1_000_000)
        #expect(try await fixture.load().body == "page")
    }

    @Test("can validate by HEAD")
    func head() async throws {
        let fixture = try fixture(.revalidate(by: .head))
        for _ in 0..<3 { #expect(try await fixture.load().body == "page") }
        #expect(fixture.origin.requests.map(\.method) == ["GET", "HEAD", "HEAD"])
        fixture.origin.stop()
        #expect(try await fixture.load().body == "page")
    }
}

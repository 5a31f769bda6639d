import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

/// Tests for bugs that other caches had in their keys and in their renewals.
///
/// Each test names the bug report.
@Suite("Regressions of other caches, end to end")
struct KeyRegressionTests {
    private static let script: CachingFixture.Script = { request in
        .ok(
            "\(request.method) \(request.target) \(request.value(of: "Host") ?? "")",
            fields: ["Cache-Control": "max-age=3600"]
        )
    }

    @Test(
        "evermeer/EVURLCache 23: the query is part of the key",
        arguments: [CacheStrategy.standard, .cacheFirst(for: .days(1))]
    )
    func query(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy, Self.script)
        let targets = ["/", "/?search=stuff", "/?search=otherstuff", "/?Search=stuff", "/?search", "/?search=", "/?"]
        for _ in 0..<2 {
            for target in targets { #expect(try await fixture.load(target).body.hasPrefix("GET \(target) ")) }
        }
        #expect(fixture.origin.requestCount == targets.count)
    }

    @Test("evermeer/EVURLCache 53: pages of one site do not replace each other")
    func pages() async throws {
        let fixture = try CachingFixture(.standard, Self.script)
        let targets = ["/page1", "/page2", "/page1/", "/Page1", "/page1/index.html", "/page1%2Findex.html"]
        for _ in 0..<2 {
            for target in targets { #expect(try await fixture.load(target).body.hasPrefix("GET \(target) ")) }
        }
        #expect(fixture.origin.requestCount == targets.count)
    }

    @Test("flowkey/UIKit-cross-platform 288, 3lvis/Networking 289: host and port are part of the key")
    func host() async throws {
        let fixture = try CachingFixture(.standard, Self.script)
        let other = try ScriptedOrigin(script: Self.script)
        for _ in 0..<2 {
            #expect(try await fixture.load("/same").body.hasSuffix(":\(fixture.origin.port)"))
            let (data, _) = try await fixture.session.data(from: other.url("/same"))
            #expect(String(decoding: data, as: UTF8.self).hasSuffix(":\(other.port)"))
        }
        #expect(fixture.origin.requestCount == 1)
        #expect(other.requestCount == 1)
    }

    @Test("flowkey/UIKit-cross-platform 288: a response with a new tag replaces the older one, also on disk")
    func olderFiles() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            let number = count.next()
            return .ok(
                String(repeating: "\(number)", count: 200_000),
                fields: ["ETag": "\"\(number)\"", "Cache-Control": "max-age=10"]
            )
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        try await fixture.load()
        await fixture.cache.flush()
        let statistics = await fixture.cache.statistics
        #expect(statistics.entries == 1)
        #expect(try await fixture.load().body.first == "2")
        #expect(fixture.asked == ["GET /", "GET / \"1\""])
    }

    @Test("requests-cache 464: a 304 makes the stored response fresh again, so that the next load is a hit")
    func freshAgain() async throws {
        let fixture = try CachingFixture { request in
            let fields: KeyValuePairs = ["ETag": "\"a\"", "Cache-Control": "max-age=60"]
            return request.value(of: "If-None-Match") == nil ? .ok("1", fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load()
        for _ in 0..<3 {
            fixture.clock.advance(by: 61)
            #expect(try await fixture.load().cacheStatus.contains("fwd-status=304"))
            #expect(try await fixture.load().isHit)
        }
        #expect(fixture.origin.requestCount == 4)
    }

    @Test("requests-cache 1137: two variants of one URL, loaded in turn, are both found")
    func alternating() async throws {
        let fixture = try CachingFixture { request in
            .ok(request.value(of: "Accept") ?? "", fields: ["Vary": "Accept", "Cache-Control": "max-age=60"])
        }
        let kinds = ["application/vnd.citationstyles.csl+json", "text/x-bibliography; style=apa"]
        for _ in 0..<3 {
            for kind in kinds { #expect(try await fixture.load("/", ["Accept": kind]).body == kind) }
        }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("requests-cache 809: a response with Vary is found behind redirects, too, and without a network")
    func varyingRedirect() async throws {
        let fixture = try CachingFixture { request in
            let fields: KeyValuePairs = ["Vary": "Accept", "Cache-Control": "max-age=60", "Location": "/b"]
            return request.path == "/a" ? .status(302, fields: fields) : .ok("there", fields: fields)
        }
        try await fixture.load("/a")
        fixture.origin.stop()
        #expect(try await fixture.load("/a").body == "there")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("requests-cache 1081: a page with a colon in its path and Vary: Cookie is found")
    func colon() async throws {
        let fixture = try CachingFixture { request in
            .ok(request.target, fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"])
        }
        for _ in 0..<2 { #expect(try await fixture.load("/wiki/Template:Welcome").body == "/wiki/Template:Welcome") }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("requests-cache 1189: stale-if-error of the stored response counts, although the error has none")
    func storedDirective() async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            let kind = request.value(of: "X-Kind") ?? ""
            if count.next() > 2 { return .status(503) }
            let directives = kind == "a" ? "max-age=1, stale-if-error=60" : "max-age=1"
            return .ok(kind, fields: ["Cache-Control": directives, "Vary": "X-Kind"])
        }
        for kind in ["a", "b"] { try await fixture.load("/", ["X-Kind": kind]) }
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load("/", ["X-Kind": "a"]).body == "a")
        // The directive of one variant does not apply to the other.
        #expect(try await fixture.load("/", ["X-Kind": "b"]).status == 503)
        #expect(fixture.origin.requestCount == 4)
    }

    @Test("requests-cache 118, 515, 781: many concurrent loads of many URLs each get their own response")
    func manyAtOnce() async throws {
        let fixture = try CachingFixture(.standard, Self.script)
        for _ in 0..<2 {
            let loads = (0..<200).map { number in
                Task { try await fixture.load("/\(number % 50)").body.hasPrefix("GET /\(number % 50) ") }
            }
            for load in loads { #expect(try await load.value) }
        }
        #expect(fixture.origin.requestCount == 50)
    }
}

import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("Storing responses, end to end (RFC 9111 §3)")
struct StoringEndToEndTests {
    private static let changed = CachingFixture.date(-1000)

    @Test(
        "depends on the status code, with an explicit lifetime",
        arguments: [200, 201, 202, 203, 204, 300, 400, 403, 404, 405, 410, 414, 500, 501, 503, 599].map {
            TwoLoads("§3", ["Cache-Control": "max-age=60"], .hit, status: $0)
        } + [206, 412, 416].map { TwoLoads("§3", ["Cache-Control": "max-age=60"], .loaded, status: $0) }
    )
    func explicit(loads: TwoLoads) async throws { try await loads.check() }

    @Test(
        "depends on the status code, with Last-Modified only",
        arguments: [200, 203, 204, 300, 404, 405, 410, 414, 501].map {
            TwoLoads("RFC 9110 §15.1", ["Last-Modified": changed], .hit, after: 50, status: $0)
        }
            + [201, 202, 400, 403, 500, 502, 503].map {
                TwoLoads("§3", ["Last-Modified": changed], .loaded, after: 50, status: $0)
            }
    )
    func heuristic(loads: TwoLoads) async throws { try await loads.check() }

    @Test(
        "depends on directives and fields",
        arguments: [
            TwoLoads("§5.2.2.5", ["Cache-Control": "no-store"], .loaded),
            TwoLoads("§5.2.2.5", ["Cache-Control": "max-age=60, no-store"], .loaded),
            TwoLoads("§5.2.2.5", ["Cache-Control": "max-age=60", "Cache-Control": "No-Store"], .loaded),
            TwoLoads("§5.2.1.5", ["Cache-Control": "max-age=60"], .loaded, first: ["Cache-Control": "no-store"]),
            TwoLoads("§5.2.2.7", ["Cache-Control": "private, max-age=60"], .hit),
            TwoLoads("§5.2.2.7", ["Cache-Control": "private=\"x-a\", max-age=60"], .hit),
            TwoLoads("§5.2.2.9", ["Cache-Control": "public, max-age=60"], .hit),
            TwoLoads("§5.2.2.3", ["Cache-Control": "must-understand, no-store, max-age=60"], .hit),
            TwoLoads(
                "§5.2.2.3",
                ["Cache-Control": "must-understand, no-store, max-age=60"],
                .loaded,
                status: 599
            ),
            TwoLoads("§5.2.2.3", ["Cache-Control": "must-understand, max-age=60"], .loaded, status: 599),
            TwoLoads("§4.1", ["Cache-Control": "max-age=60", "Vary": "*"], .loaded),
            TwoLoads("§4.1", ["Cache-Control": "max-age=60", "Vary": "Accept, *"], .loaded),
            TwoLoads("§5.2.3", ["Cache-Control": "max-age=60, surprise=\"no-store\""], .hit),
            TwoLoads("RFC 9213", ["CDN-Cache-Control": "no-store", "Cache-Control": "max-age=60"], .hit),
        ]
    )
    func directives(loads: TwoLoads) async throws { try await loads.check() }

    @Test("leaves out the fields that no-cache=\"…\" names (§5.2.2.4)")
    func qualifiedNoCache() async throws {
        let fixture = try CachingFixture { _ in
            .ok("1", fields: ["Cache-Control": "max-age=60, no-cache=\"X-Secret\"", "X-Secret": "s", "X-Open": "o"])
        }
        #expect(try await fixture.load()["X-Secret"] == "s")
        let again = try await fixture.load()
        #expect(again.isHit)
        #expect(again["X-Secret"] == nil)
        #expect(again["X-Open"] == "o")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("leaves out the fields of the connection (§3.1)")
    func connectionFields() async throws {
        let fixture = try CachingFixture { _ in
            .ok(
                "1",
                fields: [
                    "Cache-Control": "max-age=60", "Connection": "X-Hop", "X-Hop": "h", "Keep-Alive": "timeout=5",
                    "X-Kept": "k",
                ]
            )
        }
        try await fixture.load()
        let again = try await fixture.load()
        #expect(again.isHit)
        #expect(again["X-Hop"] == nil)
        #expect(again["Keep-Alive"] == nil)
        #expect(again["X-Kept"] == "k")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("leaves out Set-Cookie, so that only the original response sets a cookie (§7.3)")
    func setCookie() async throws {
        let fixture = try CachingFixture { _ in
            .ok("1", fields: ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"])
        }
        #expect(try await fixture.load()["Set-Cookie"] == "a=b")
        let again = try await fixture.load()
        #expect(again.isHit)
        #expect(again["Set-Cookie"] == nil)
        #expect(fixture.origin.requestCount == 1)
    }

    /// A way in which a body may end too early.
    enum Break: CaseIterable, Sendable {
        case closed, reset, chunkedClosed, chunkedReset

        func response(_ fields: KeyValuePairs<String, String>) -> ScriptedOrigin.Response {
            let part = Data(repeating: 120, count: 1000)
            return switch self {
            case .closed: .truncated(part + part, after: 1000, fields: fields)
            case .reset: .stream([.bytes(part), .reset], fields: fields, framing: .declaredLength(2000))
            case .chunkedClosed: .stream([.bytes(part), .close], fields: fields)
            case .chunkedReset: .stream([.bytes(part), .reset], fields: fields)
            }
        }
    }

    @Test(
        "fails the load of a body that is cut off, and stores no whole response of it (§3.3)",
        arguments: Break.allCases,
        [CacheStrategy.standard, .cacheFirst(for: .days(1))]
    )
    func cutOff(how: Break, strategy: CacheStrategy) async throws {
        let count = Counter()
        let fixture = try CachingFixture(strategy) { _ in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
            return count.next() == 1 ? how.response(fields) : .ok("whole", fields: fields)
        }
        await #expect(throws: URLError.self) { try await fixture.load() }
        #expect(try await fixture.load().body == "whole")
        #expect(fixture.origin.requestCount == 2)
        #expect(fixture.seen(1, "If-None-Match") == nil)
        // What has arrived is continued if its place in the whole is known.
        let isChunked = how == .chunkedClosed || how == .chunkedReset
        #expect(fixture.seen(1, "Range") == (isChunked ? nil : "bytes=1000-"))
        #expect(fixture.seen(1, "If-Range") == (isChunked ? nil : "\"a\""))
    }

    @Test("keeps the stored response when a newer one is cut off (§3.3)", arguments: Break.allCases)
    func cutOffRenewal(how: Break) async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            switch count.next() {
            case 1: .ok("old", fields: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
            case 2: how.response(["Cache-Control": "max-age=60", "ETag": "\"b\""])
            default: .status(request.value(of: "If-None-Match") == "\"a\"" ? 304 : 500, fields: ["ETag": "\"a\""])
            }
        }
        try await fixture.load()
        fixture.clock.advance(by: 100)
        await #expect(throws: URLError.self) { try await fixture.load() }
        #expect(try await fixture.load().body == "old")
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("does not happen for a body that is too large for the store; the app gets it", arguments: [true, false])
    func tooLarge(isAnnounced: Bool) async throws {
        let body = Data(repeating: 120, count: 300_000)
        let fixture = try CachingFixture(maximumEntrySize: .kibibytes(256)) { _ in
            .stream(
                [.bytes(body)],
                fields: ["Cache-Control": "max-age=60"],
                framing: isAnnounced ? .contentLength : .chunked
            )
        }
        for _ in 0..<2 { #expect(try await fixture.load().body.utf8.count == 300_000) }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test(
        "separates the responses of each login (§3.5)",
        arguments: [CacheStrategy.standard, .cacheFirst(for: .days(1)), .revalidate]
    )
    func logins(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy) { request in
            let body = request.value(of: "Authorization") ?? "absent"
            let tag = "\"\(body)\""
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": tag]
            return request.value(of: "If-None-Match") == tag ? .status(304, fields: fields) : .ok(body, fields: fields)
        }
        for _ in 0..<2 {
            for login in ["Bearer a", "Bearer b"] {
                #expect(try await fixture.load("/", ["Authorization": login]).body == login)
            }
            #expect(try await fixture.load().body == "absent")
        }
        #expect(fixture.origin.requests.prefix(3).allSatisfy { $0.value(of: "If-None-Match") == nil })
        guard strategy != .revalidate else { return }
        #expect(fixture.origin.requestCount == 3)
    }
}

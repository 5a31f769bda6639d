import Foundation
import Testing
import Waystation
import WaystationTesting

@Suite("A response's freshness lifetime, end to end (RFC 9111 §4.2)")
struct FreshnessEndToEndTests {
    private static let now = CachingFixture.date()

    private static func date(_ seconds: TimeInterval) -> String { CachingFixture.date(seconds) }

    @Test(
        "follows Cache-Control and Expires",
        arguments: [
            TwoLoads("§5.2.2.1", ["Cache-Control": "max-age=60"], .hit, after: 59),
            TwoLoads("§5.2.2.1", ["Cache-Control": "max-age=60"], .loaded, after: 60),
            TwoLoads("§5.2", ["Cache-Control": "MAX-AGE=60"], .hit, after: 59),
            TwoLoads("§5.2", ["Cache-Control": "max-age=\"60\""], .hit, after: 59),
            TwoLoads("§5.2", ["cache-control": "max-age=60"], .hit, after: 59),
            TwoLoads("§4.2.1", ["Cache-Control": "max-age=60, max-age=0"], .hit, after: 59),
            TwoLoads("§4.2.1", ["Cache-Control": "max-age=0, max-age=60"], .loaded, after: 1),
            TwoLoads("§4.2.1", ["Cache-Control": "max-age=soon"], .loaded, after: 1),
            TwoLoads("§4.2.1", ["Cache-Control": "max-age=-60"], .loaded, after: 1),
            TwoLoads("§1.2.2", ["Cache-Control": "max-age=99999999999999999999"], .hit, after: 1_000_000),
            TwoLoads("§5.2.2.10", ["Cache-Control": "s-maxage=0, max-age=60"], .hit, after: 59),
            TwoLoads("§5.2.2.10", ["Cache-Control": "s-maxage=60"], .loaded, after: 1),
            TwoLoads("§5.2.2.8", ["Cache-Control": "proxy-revalidate, max-age=60"], .hit, after: 59),
            TwoLoads("§5.4", ["Cache-Control": "max-age=60", "Pragma": "no-cache"], .hit, after: 59),
            TwoLoads("§5.3", ["Expires": date(60)], .hit, after: 59),
            TwoLoads("§5.3", ["Expires": date(60)], .loaded, after: 60),
            TwoLoads("§5.3", ["Date": now, "Expires": date(60)], .hit, after: 59),
            TwoLoads("§5.3", ["Date": now, "Expires": date(60)], .loaded, after: 60),
            TwoLoads("§5.3", ["Expires": "0"], .loaded, after: 1),
            TwoLoads("§5.3", ["Expires": "-1"], .loaded, after: 1),
            TwoLoads("§5.3", ["Expires": "tomorrow"], .loaded, after: 1),
            TwoLoads("§4.2", ["Expires": date(60).replacing("GMT", with: "CET")], .loaded, after: 1),
            TwoLoads("§4.2", ["Expires": date(60).lowercased()], .hit, after: 59),
            TwoLoads("§5.3", ["Expires": date(-60), "Cache-Control": "max-age=60"], .hit, after: 59),
            TwoLoads("§5.3", ["Expires": date(60), "Cache-Control": "max-age=0"], .loaded, after: 1),
        ]
    )
    func explicit(loads: TwoLoads) async throws { try await loads.check() }

    @Test(
        "is reduced by Age and Date",
        arguments: [
            TwoLoads("§5.1", ["Cache-Control": "max-age=60", "Age": "50"], .hit, after: 9),
            TwoLoads("§5.1", ["Cache-Control": "max-age=60", "Age": "50"], .loaded, after: 10),
            TwoLoads("§5.1", ["Cache-Control": "max-age=60", "Age": "much"], .hit, after: 59),
            TwoLoads("§5.1", ["Cache-Control": "max-age=60", "Age": "99999999999999999999"], .loaded, after: 1),
            TwoLoads("§4.2.3", ["Cache-Control": "max-age=60", "Date": date(-30)], .hit, after: 29),
            TwoLoads("§4.2.3", ["Cache-Control": "max-age=60", "Date": date(-30)], .loaded, after: 30),
            TwoLoads("§4.2.3", ["Cache-Control": "max-age=60", "Date": date(-30), "Age": "50"], .loaded, after: 10),
            TwoLoads("§4.2.3", ["Cache-Control": "max-age=60", "Date": date(3600)], .hit, after: 59),
            TwoLoads("§4", ["Cache-Control": "max-age=60"], .loaded, after: -3600),
        ]
    )
    func age(loads: TwoLoads) async throws { try await loads.check() }

    @Test(
        "is heuristic without explicit expiry",
        arguments: [
            TwoLoads("§4.2.2", ["Last-Modified": date(-1000)], .hit, after: 99),
            TwoLoads("§4.2.2", ["Last-Modified": date(-1000)], .validated(since: date(-1000)), after: 100),
            TwoLoads("§4.2.2", ["Last-Modified": date(-864_000_000)], .hit, after: 604_799),
            TwoLoads(
                "§4.2.2",
                ["Last-Modified": date(-864_000_000)],
                .validated(since: date(-864_000_000)),
                after: 604_800
            ),
            TwoLoads("§4.2.2", ["Last-Modified": date(-1000)], .validated(since: date(-1000)), target: "/?a=b"),
            TwoLoads("§4.2.2", ["Last-Modified": date(-1000), "Cache-Control": "max-age=60"], .hit, target: "/?a=b"),
            TwoLoads("§4.2.2", ["Last-Modified": date(1000)], .validated(since: date(1000)), after: 1),
            TwoLoads("§4.2.2", ["ETag": "\"a\""], .validated(tag: "\"a\""), after: 1),
            TwoLoads("§4.2.2", ["Content-Type": "text/plain"], .loaded, after: 1),
        ]
    )
    func heuristic(loads: TwoLoads) async throws { try await loads.check() }

    @Test(
        "shows in Age, which grows with the clock, and in the ttl of Cache-Status (§5.1, RFC 9211)",
        arguments: [0, 1, 30, 59]
    )
    func told(seconds: Int) async throws {
        let fixture = try CachingFixture { _ in .ok("1", fields: ["Cache-Control": "max-age=60", "Age": "0"]) }
        try await fixture.load()
        fixture.clock.advance(by: Double(seconds))
        let hit = try await fixture.load()
        #expect(hit["Age"] == "\(seconds)")
        #expect(hit.cacheStatus == "Waystation; hit; ttl=\(60 - seconds)")
        #expect(fixture.origin.requestCount == 1)
    }
}

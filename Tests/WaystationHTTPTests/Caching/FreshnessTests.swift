import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var response: String
    var lifetime: Int
    var basis: Freshness.Basis
    var status = 200
    var url = "https://example.com/a"
    /// The second at which the response was received.
    var received: Double = 0

    init(
        _ section: String,
        _ response: String,
        _ lifetime: Int,
        _ basis: Freshness.Basis,
        status: Int = 200,
        url: String = "https://example.com/a",
        received: Double = 0
    ) {
        (self.section, self.response, self.lifetime, self.basis) = (section, response, lifetime, basis)
        (self.status, self.url, self.received) = (status, url, received)
    }

    var testDescription: String { "§\(section) \(status) \(url) [\(response)] → \(lifetime) \(basis)" }
}

@Suite("Freshness lifetime (RFC 9111 §4.2.1, §4.2.2)")
struct FreshnessTests {
    private static let modified = "Date: {0}\nLast-Modified: {-1000}"

    private static let explicit: [Row] = [
        Row("4.2.1", "Cache-Control: max-age=60", 60, .maxAge),
        Row("4.2.1", "Cache-Control: max-age=0", 0, .maxAge),
        Row("4.2.1", "Cache-Control: max-age=60\nExpires: {600}\nDate: {0}", 60, .maxAge),
        Row("5.3", "Cache-Control: max-age=60\nExpires: 0", 60, .maxAge),
        Row("5.3", "Cache-Control: max-age=0\nExpires: {600}\nDate: {0}", 0, .maxAge),
        Row("4.2.1", "Cache-Control: max-age=x\nExpires: {600}\nDate: {0}", 0, .maxAge),
        Row("4.2.1", "Cache-Control: max-age=60, max-age=90", 60, .maxAge),
        Row("5.2.2.10", "Cache-Control: s-maxage=600, max-age=60", 60, .maxAge),
        Row("5.2.2.10", "Cache-Control: s-maxage=600\nExpires: {60}\nDate: {0}", 60, .expires),
        Row("5.2.2.10", "Cache-Control: s-maxage=600", 0, .none),
        Row("1.2.2", "Cache-Control: max-age=99999999999999999999", 2_147_483_648, .maxAge),
        Row("4.2.1", "Expires: {60}\nDate: {0}", 60, .expires),
        Row("4.2.1", "Expires: {60}\nDate: {-40}", 100, .expires),
        Row("4.2.1", "Expires: {60}\nDate: {10}", 50, .expires),
        Row("4.2.1", "Expires: {60}", 60, .expires),
        Row("4.2.1", "Expires: {60}", 50, .expires, received: 10),
        Row("4.2.1", "Expires: {60}\nDate: nonsense", 60, .expires),
        Row("4.2.1", "Expires: {-60}\nDate: {0}", 0, .expires),
        Row("4.2.1", "Expires: {0}\nDate: {0}", 0, .expires),
        Row("4.2.1", "Expires: {60}\nExpires: {90}\nDate: {0}", 60, .expires),
        Row("4.2.1", "Expires: 0\nExpires: {90}\nDate: {0}", 0, .expires),
        Row("5.3", "Expires: 0\nDate: {0}", 0, .expires),
        Row("5.3", "Expires: -1", 0, .expires),
        Row("5.3", "Expires: ", 0, .expires),
        Row("5.3", "Expires: tomorrow", 0, .expires),
        Row("5.3", "Expires: 60", 0, .expires),
        Row("4.2", "Expires: Fri, 01 Jan 2100 00:00:00 EST\nDate: {0}", 0, .expires),
        Row("4.2", "Expires: fri, 01 jan 2100 00:00:00 gmt\nDate: {0}", 2_147_483_648, .expires),
        Row("4.2", "Expires: Friday, 17-Nov-23 00:00:00 GMT\nDate: Thu, 16 Nov 2023 00:00:00 GMT", 86_400, .expires),
        Row("4.2", "Expires: Fri Nov 17 00:00:00 2023\nDate: Thu, 16 Nov 2023 00:00:00 GMT", 86_400, .expires),
        Row("RFC 9110 §5.6.7", "Expires: Tuesday, 14-Nov-73 22:13:20 GMT\nDate: {0}", 1_577_923_200, .expires),
        Row("RFC 9110 §5.6.7", "Expires: Tuesday, 14-Nov-73 22:13:21 GMT\nDate: {0}", 0, .expires),
        Row("5.3", "Expires: Fri, 31 Dec 9999 23:59:59 GMT\nDate: {0}", 2_147_483_648, .expires),
        Row("RFC 9213 §2", "CDN-Cache-Control: max-age=600", 0, .none),
        Row("RFC 9213 §2", "CDN-Cache-Control: max-age=600\nCache-Control: max-age=5", 5, .maxAge),
        Row("RFC 8246 §2", "Cache-Control: immutable", 0, .none),
    ]

    private static let heuristic: [Row] =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
            Row("4.2.2", modified, 100, .heuristic, status: $0)
        }
        + [201, 302, 303, 307, 400, 403, 500, 503].map { Row("4.2.2", modified, 0, .none, status: $0) }
        + [
            Row("4.2.2", "", 0, .none),
            Row("4.2.2", "ETag: \"a\"", 0, .none),
            Row("4.2.2", "Cache-Control: public\n" + modified, 100, .heuristic, status: 302),
            Row("4.2.2", "Cache-Control: private\n" + modified, 100, .heuristic, status: 302),
            Row("4.2.2", "Cache-Control: private=\"a\"\n" + modified, 0, .none, status: 302),
            Row("4.2.2", "Cache-Control: max-age=7\n" + modified, 7, .maxAge),
            Row("4.2.2", "Expires: {7}\n" + modified, 7, .expires),
            Row("4.2.2", "Expires: 0\n" + modified, 0, .expires),
            Row("4.2.2", "Cache-Control: max-age=x\n" + modified, 0, .maxAge),
            Row("4.2.2", "Cache-Control: s-maxage=9\n" + modified, 100, .heuristic),
            Row("4.2.2", "Last-Modified: {-1000}", 100, .heuristic),
            Row("4.2.2", "Date: {100}\nLast-Modified: {-900}", 100, .heuristic),
            Row("4.2.2", "Date: {0}\nLast-Modified: {0}", 0, .none),
            Row("4.2.2", "Date: {0}\nLast-Modified: {500}", 0, .none),
            Row("4.2.2", "Date: {0}\nLast-Modified: never", 0, .none),
            Row("4.2.2", "Date: {0}\nLast-Modified: {-9}", 0, .heuristic),
            Row("4.2.2", "Date: {0}\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT", 604_800, .heuristic),
            Row("4.2.2", modified, 0, .none, url: "https://example.com/a?b"),
            Row("4.2.2", modified, 0, .none, url: "https://example.com/a?"),
            Row("4.2.2", "Cache-Control: max-age=9\n" + modified, 9, .maxAge, url: "https://example.com/a?b"),
            Row("5.4", "Pragma: no-cache\n" + modified, 100, .heuristic),
        ]

    @Test("the lifetime is the one that the origin states", arguments: explicit)
    private func explicitHold(_ row: Row) { check(row) }

    @Test("without a stated lifetime a heuristic one applies where the RFC allows it", arguments: heuristic)
    private func heuristicHold(_ row: Row) { check(row) }

    private func check(_ row: Row) {
        let head = stored(row.response, status: row.status, url: row.url, at: row.received)
        let freshness = head.freshness(now: moment(row.received))
        #expect(freshness.lifetime == .seconds(row.lifetime))
        #expect(freshness.basis == row.basis)
    }

    @Test("§4.2.2: the rules set the heuristic's fraction and bound, and its use for queries")
    func choices() {
        var rules = CachingRules()
        rules.heuristicFraction = 0.5
        #expect(stored(Self.modified).freshness(now: moment(0), rules: rules).lifetime == .seconds(500))
        rules.heuristicMaximum = .seconds(30)
        #expect(stored(Self.modified).freshness(now: moment(0), rules: rules).lifetime == .seconds(30))
        rules.usesHeuristicsForQueries = true
        let query = stored(Self.modified, url: "https://example.com/?q")
        #expect(query.freshness(now: moment(0), rules: rules).lifetime == .seconds(30))
        rules.heuristicFraction = 0
        #expect(stored(Self.modified).freshness(now: moment(0), rules: rules).basis == .none)
        rules.heuristicFraction = .nan
        #expect(stored(Self.modified).freshness(now: moment(0), rules: rules).basis == .none)
    }

    @Test("§4.2: fresh means a lifetime greater than the age", arguments: [(59, true), (60, false), (61, false)])
    func boundary(_ age: Int, _ isFresh: Bool) {
        let freshness = stored("Cache-Control: max-age=60").freshness(now: moment(Double(age)))
        #expect(freshness.isFresh == isFresh)
        #expect(freshness.timeToLive == .seconds(60 - age))
    }
}

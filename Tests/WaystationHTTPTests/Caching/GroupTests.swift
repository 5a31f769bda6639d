import HTTPTypes
import Testing

@testable import WaystationHTTP

@Suite("Groups and tags of stored responses (RFC 9875)")
struct GroupTests {
    private static let origin = "https://example.com"

    @Test("§2: a response is in the groups that it names, of its own origin")
    func groups() {
        let head = stored(
            "Cache-Groups: \"prices\", \"news\"\ncache-groups: \"eu\";x=1",
            url: "https://example.com:8443/a?b"
        )
        #expect(head.groups == ["prices", "news", "eu"])
        #expect(head.labels == Set(head.groups.map { .group($0, origin: "https://example.com:8443") }))
        #expect(stored("Cache-Groups: \"Prices\"").labels != stored("Cache-Groups: \"prices\"").labels)
    }

    @Test(
        "§2: a malformed field puts it into no group",
        arguments: ["prices", "\"prices\", news", "\"a\",", "(\"a\")", ""]
    )
    func malformed(_ value: String) {
        let head = stored("Cache-Groups: \(value)")
        #expect(head.groups.isEmpty)
        #expect(head.labels.isEmpty)
    }

    @Test("a response keeps its tags with its fields, also after a validation, and delivers none")
    func tags() throws {
        let head = stored("ETag: \"a\"\nCache-Groups: \"news\"").tagged(["prices", "a \"b\""])
        #expect(head.tags == ["prices", "a \"b\""])
        #expect(head.labels == [.tag("prices"), .tag("a \"b\""), .group("news", origin: Self.origin)])
        let outcome = try outcome(response("ETag: \"a\"\nX-New: 1", status: 304), of: [head])
        #expect(outcome.firstUpdate?.tags == head.tags)
        let delivered = try #require(outcome.selection?.response.headerFields)
        #expect(delivered == fields("Cache-Groups: \"news\"\nETag: \"a\"\nX-New: 1\nDate: {10000}"))
        #expect(head.tagged([]).headerFields == stored("ETag: \"a\"\nCache-Groups: \"news\"").headerFields)
        #expect(head.tagged(["c"]).tags == ["c"])
        #expect(head.under(RequestKey(method: "GET", url: "https://example.com/b")).tags == head.tags)
    }

    private struct Row: CustomTestStringConvertible, Sendable {
        var method: HTTPRequest.Method = .post
        var status = 200
        var field = "\"prices\""
        var url = "https://example.com/a"
        var expected: [ResponseLabel]

        var testDescription: String { "§3 \(method) \(url) \(status) \(field) → \(expected)" }
    }

    private static let prices = ResponseLabel.group("prices", origin: origin)

    private static let rows: [Row] =
        [HTTPRequest.Method.post, .put, .delete, .patch].map { Row(method: $0, expected: [prices]) }
        + [HTTPRequest.Method.get, .head, .options].map { Row(method: $0, expected: []) }
        + [201, 204, 303, 304].map { Row(status: $0, expected: [prices]) }
        + [103, 400, 404, 500, 503].map { Row(status: $0, expected: []) }
        + [
            Row(field: "\"prices\";x, \"b\"", expected: [prices, .group("b", origin: origin)]),
            Row(field: "prices", expected: []),
            Row(field: "\"prices\", b", expected: []),
            Row(url: "https://EXAMPLE.com:443/", expected: [prices]),
            Row(url: "http://example.com/", expected: [.group("prices", origin: "http://example.com")]),
        ]

    @Test("§3: groups are invalidated by unsafe methods that succeed, on their own origin", arguments: rows)
    private func invalidated(_ row: Row) {
        let done = Invalidation(
            after: request(method: row.method, url: row.url),
            response: response("Cache-Group-Invalidation: \(row.field)", status: row.status)
        )
        #expect(done.groups == row.expected)
    }
}

@Suite("A stored response that was purged softly")
struct StaleFromTests {
    /// A response that is fresh for 100 s, and was purged after 10 s.
    private func purged(_ directives: String = "", at received: Double = 0, age: String = "") -> StoredHead {
        var head = stored("Cache-Control: max-age=100\(directives)\nETag: \"a\"\(age)", at: received)
        head.staleFrom = moment(received + 10)
        return head
    }

    private func decision(_ head: StoredHead, at now: Double) -> String {
        ReuseDecision(for: request(), among: [head], now: moment(now)).summary
    }

    @Test("is stale from that moment on, and its staleness counts from there")
    func lifetime() {
        let freshness = purged().freshness(now: moment(25))
        #expect(freshness.lifetime == .seconds(10))
        #expect(freshness.age == .seconds(25))
        #expect(freshness.basis == .purge)
        #expect(!purged().freshness(now: moment(10)).isFresh)
        // The age on arrival is a part of the age, and of the lifetime that has ended.
        #expect(purged(age: "\nAge: 30").freshness(now: moment(25)).lifetime == .seconds(40))
    }

    @Test("keeps its lifetime if that ended before the purge")
    func staleBefore() {
        var head = stored("Cache-Control: max-age=5")
        head.staleFrom = moment(10)
        #expect(head.freshness(now: moment(20)).lifetime == .seconds(5))
        #expect(head.freshness(now: moment(20)).basis == .maxAge)
    }

    @Test("stays stale if the clock is set back", arguments: [-3_600.0, -30, 0, 5, 9])
    func clock(_ now: Double) { #expect(!purged().freshness(now: moment(now)).isFresh) }

    @Test("is validated before it is used, also if it is immutable")
    func validated() {
        #expect(decision(purged(), at: 25) == "ask stale")
        #expect(decision(purged(", immutable"), at: 25) == "ask stale")
    }

    @Test("is used while it is revalidated, for as long as stale-while-revalidate says")
    func staleWhileRevalidate() {
        let head = purged(", stale-while-revalidate=20")
        #expect(decision(head, at: 10) == "swr+renew")
        #expect(decision(head, at: 30) == "swr+renew")
        #expect(decision(head, at: 31) == "ask stale")
        #expect(decision(purged(", stale-while-revalidate=20, must-revalidate"), at: 15) == "ask stale")
    }

    @Test("stands in for an error or a missing network where a stale response may")
    func standIn() throws {
        func standsIn(_ head: StoredHead, _ failure: Revalidation.Failure, at now: Double) throws -> Bool {
            try revalidation(of: [head], now: now).standIn(for: failure, now: moment(now)) != nil
        }
        #expect(try standsIn(purged(), .unreachable, at: 25))
        #expect(try !standsIn(purged(), .status(503), at: 25))
        #expect(try standsIn(purged(", stale-if-error=20"), .status(503), at: 30))
        #expect(try !standsIn(purged(", stale-if-error=20"), .status(503), at: 31))
        #expect(try !standsIn(purged(", must-revalidate"), .unreachable, at: 25))
    }

    @Test("is fresh again after a 304")
    func confirmed() throws {
        let outcome = try outcome(response("ETag: \"a\"", status: 304), of: [purged()])
        let head = try #require(outcome.firstUpdate)
        #expect(head.staleFrom == nil)
        #expect(decision(head, at: 10_020) == "fresh")
    }
}

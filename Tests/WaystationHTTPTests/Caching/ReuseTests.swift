import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var response: String
    var request: String
    var age: Double
    var expected: String
    var method: HTTPRequest.Method
    var url: String

    init(
        _ section: String,
        _ response: String,
        _ request: String = "",
        age: Double,
        _ expected: String,
        method: HTTPRequest.Method = .get,
        url: String = "https://example.com/a"
    ) {
        (self.section, self.response, self.request) = (section, response, request)
        (self.age, self.expected, self.method, self.url) = (age, expected, method, url)
    }

    var testDescription: String { "§\(section) \(method) [\(response)] [\(request)] age \(Int(age)) → \(expected)" }
}

@Suite("Reuse of a stored response (RFC 9111 §4, §5.2)")
struct ReuseTests {
    private static let sixty = "Cache-Control: max-age=60"
    private static let tagged = "Cache-Control: max-age=60\nETag: \"a\""

    private static let plain: [Row] = [
        Row("4.2", sixty, age: 0, "fresh"),
        Row("4.2", sixty, age: 59, "fresh"),
        Row("4.2", sixty, age: 60, "load stale"),
        Row("4.2", tagged, age: 60, "ask stale"),
        Row("4.2", "Last-Modified: {-1000}", age: 99, "fresh"),
        Row("4.2", "Last-Modified: {-1000}", age: 100, "ask stale"),
        Row("4", sixty, age: 0, "fresh", method: .head),
        Row("4", tagged, age: 60, "ask stale", method: .head),
        Row("4", sixty, age: 0, "forward method", method: .post),
        Row("4", sixty, age: 0, "forward method", method: .put),
        Row("4", sixty, age: 0, "forward method", method: .delete),
        Row("4", sixty, age: 0, "forward method", method: .options),
        Row("4", sixty, age: 0, "forward method", method: .patch),
        Row("3", "ETag: \"a\"", age: 0, "ask stale"),
        Row("3", "ETag: W/\"a\"", age: 0, "ask stale"),
        Row("3", "ETag: *", age: 0, "load stale"),
        Row("3", "ETag: a", age: 0, "ask stale"),
        Row("3", "", age: 0, "load stale"),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache\nETag: \"a\"", age: 0, "ask stale"),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache", age: 0, "load stale"),
        Row("5.2.2.4", "Cache-Control: no-cache, stale-while-revalidate=60\nETag: \"a\"", age: 0, "ask stale"),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache=\"Set-Cookie\"", age: 0, "fresh"),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache=\"\"", age: 0, "load stale"),
        Row("5.2.2.2", "Cache-Control: max-age=60, must-revalidate", age: 59, "fresh"),
        Row("5.2.2.2", "Cache-Control: max-age=60, must-revalidate", age: 60, "load stale"),
        Row("5.2.2.7", "Cache-Control: max-age=60, private", age: 0, "fresh"),
        Row("5.2.2.8", "Cache-Control: max-age=60, proxy-revalidate", age: 0, "fresh"),
        Row("5.2.2.10", "Cache-Control: max-age=60, s-maxage=0", age: 0, "fresh"),
        Row("5.2.3", "Cache-Control: max-age=60, only-on-tuesdays", age: 0, "fresh"),
        Row("5.4", "Cache-Control: max-age=60\nPragma: no-cache", age: 0, "fresh"),
        Row("5.5", "Cache-Control: max-age=60\nWarning: 110 - stale", age: 0, "fresh"),
    ]

    private static let requests: [Row] = [
        Row("5.2.1.1", sixty, "Cache-Control: max-age=10", age: 10, "fresh"),
        Row("5.2.1.1", sixty, "Cache-Control: max-age=10", age: 11, "load request"),
        Row("5.2.1.1", tagged, "Cache-Control: max-age=0", age: 5, "ask request"),
        Row("5.2.1.1", tagged, "Cache-Control: max-age=0", age: 0, "ask request"),
        Row("5.2.1.1", tagged, "Cache-Control: max-age=0, max-stale", age: 0, "fresh"),
        Row("5.2.1.1", tagged, "Cache-Control: max-age=1", age: 0, "fresh"),
        Row("5.2.1.1", tagged, "Cache-Control: max-age=x", age: 5, "ask request"),
        Row("5.2.1.1", sixty, "Cache-Control: max-age=600", age: 70, "load stale"),
        Row(
            "5.2.1.1",
            "Cache-Control: max-age=60, stale-while-revalidate=60",
            "Cache-Control: max-age=600",
            age: 70,
            "load stale"
        ),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale", age: 10_000, "max-stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale=10", age: 70, "max-stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale=10", age: 71, "load stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale=10", age: 59, "fresh"),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale=x", age: 61, "load stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale=0", age: 60, "max-stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-stale=0", age: 61, "load stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-age=10, max-stale=20", age: 30, "fresh"),
        Row("5.2.1.2", sixty, "Cache-Control: max-age=10, max-stale=20", age: 31, "load request"),
        Row("5.2.1.2", sixty, "Cache-Control: max-age=70, max-stale=20", age: 80, "max-stale"),
        Row("5.2.1.2", sixty, "Cache-Control: max-age=70, max-stale=20", age: 81, "load stale"),
        Row("5.2.1.2", "Cache-Control: max-age=60, must-revalidate", "Cache-Control: max-stale", age: 61, "load stale"),
        Row("5.2.1.2", "Cache-Control: max-age=60, no-cache", "Cache-Control: max-stale", age: 61, "load stale"),
        Row("5.2.2.8", "Cache-Control: max-age=60, proxy-revalidate", "Cache-Control: max-stale", age: 61, "max-stale"),
        Row("5.2.2.10", "Cache-Control: max-age=60, s-maxage=1", "Cache-Control: max-stale", age: 61, "max-stale"),
        Row("5.2.1.2", "Last-Modified: {-1000}", "Cache-Control: max-stale=5", age: 105, "max-stale"),
        Row("5.2.1.2", "", "Cache-Control: max-stale=5", age: 5, "max-stale"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=20", age: 40, "fresh"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=20", age: 41, "load request"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=60", age: 0, "fresh"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=61", age: 0, "load request"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=x", age: 0, "load request"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=20, max-stale", age: 50, "load request"),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=0", age: 61, "load stale"),
        Row("5.2.1.4", tagged, "Cache-Control: no-cache", age: 0, "ask request"),
        Row("5.2.1.4", sixty, "Cache-Control: no-cache", age: 0, "load request"),
        Row("5.2.1.4", sixty, "Cache-Control: no-cache, max-stale", age: 70, "load request"),
        Row("5.4", tagged, "Pragma: no-cache", age: 0, "ask request"),
        Row("5.4", tagged, "Pragma: no-cache\nCache-Control: max-age=60", age: 0, "fresh"),
        Row("5.2.1.5", sixty, "Cache-Control: no-store", age: 0, "load request"),
        Row("5.2.1.5", tagged, "Cache-Control: no-store", age: 0, "ask request"),
        Row("5.2.1.6", sixty, "Cache-Control: no-transform", age: 0, "fresh"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached", age: 0, "fresh"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached", age: 60, "504"),
        Row("5.2.1.7", tagged, "Cache-Control: only-if-cached", age: 60, "504"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached, max-stale=10", age: 70, "max-stale"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached, max-stale=10", age: 71, "504"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached, no-cache", age: 0, "504"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached, max-age=5", age: 6, "504"),
        Row("5.2.1.7", sixty, "Cache-Control: only-if-cached\nIf-Match: \"a\"", age: 0, "504"),
        Row(
            "5.2.1.7",
            "Cache-Control: max-age=60, stale-while-revalidate=60",
            "Cache-Control: only-if-cached",
            age: 70,
            "swr"
        ),
        Row("5.2.3", sixty, "Cache-Control: fancy=1", age: 0, "fresh"),
        Row("4.3.2", sixty, "If-Match: \"a\"", age: 0, "forward request"),
        Row("4.3.2", sixty, "If-Unmodified-Since: {0}", age: 0, "forward request"),
        Row("4.3.2", sixty, "If-Match: *\nIf-None-Match: \"b\"", age: 0, "forward request"),
        Row("4.3.2", sixty, "If-None-Match: \"b\"", age: 0, "fresh"),
        Row("3.5", sixty, "Authorization: Basic eDp5", age: 0, "fresh"),
    ]

    private static let extended: [Row] = [
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=30\nETag: \"a\"", age: 59, "fresh"),
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=30\nETag: \"a\"", age: 60, "swr+renew"),
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=30", age: 90, "swr+renew"),
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=30", age: 91, "load stale"),
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=0", age: 60, "load stale"),
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=x", age: 61, "load stale"),
        Row(
            "RFC 5861 §3",
            "Cache-Control: max-age=60, stale-while-revalidate=30, must-revalidate",
            age: 61,
            "load stale"
        ),
        Row("RFC 5861 §3", "Cache-Control: max-age=60, stale-while-revalidate=30, no-cache", age: 61, "load stale"),
        Row(
            "RFC 5861 §3",
            "Cache-Control: max-age=60, stale-while-revalidate=30, proxy-revalidate",
            age: 61,
            "swr+renew"
        ),
        Row(
            "RFC 5861 §3",
            "Cache-Control: max-age=60, stale-while-revalidate=30",
            "Cache-Control: no-cache",
            age: 61,
            "load request"
        ),
        Row(
            "RFC 5861 §3",
            "Cache-Control: max-age=60, stale-while-revalidate=30",
            "Cache-Control: max-age=0",
            age: 61,
            "load stale"
        ),
        Row(
            "RFC 5861 §3",
            "Cache-Control: max-age=60, stale-while-revalidate=30",
            "Cache-Control: max-stale=5",
            age: 70,
            "swr+renew"
        ),
        Row("RFC 5861 §3", "Cache-Control: stale-while-revalidate=30", age: 20, "swr+renew"),
        Row("RFC 5861 §3", "Cache-Control: stale-while-revalidate=30\nLast-Modified: {-1000}", age: 120, "swr+renew"),
        Row("RFC 5861 §4", "Cache-Control: max-age=60, stale-if-error=600", age: 61, "load stale"),
        Row(
            "RFC 8246 §2",
            "Cache-Control: max-age=60, immutable\nETag: \"a\"",
            "Cache-Control: max-age=0",
            age: 30,
            "fresh"
        ),
        Row(
            "RFC 8246 §2",
            "Cache-Control: max-age=60, immutable\nETag: \"a\"",
            "Cache-Control: max-age=0",
            age: 60,
            "ask stale"
        ),
        Row("RFC 8246 §2", "Cache-Control: max-age=60, immutable\nETag: \"a\"", age: 60, "ask stale"),
        Row(
            "RFC 8246 §2",
            "Cache-Control: max-age=60, immutable\nETag: \"a\"",
            "Cache-Control: no-cache",
            age: 30,
            "ask request"
        ),
        Row(
            "RFC 8246 §2",
            "Cache-Control: max-age=60, immutable\nETag: \"a\"",
            "Cache-Control: min-fresh=40",
            age: 30,
            "ask request"
        ),
        Row(
            "RFC 8246 §2",
            "Cache-Control: max-age=60, immutable, no-cache\nETag: \"a\"",
            "Cache-Control: max-age=0",
            age: 30,
            "ask stale"
        ),
        Row(
            "RFC 8246 §3",
            "Cache-Control: max-age=60, immutable\nETag: \"a\"",
            "Cache-Control: max-age=0",
            age: 30,
            "ask request",
            url: "http://example.com/a"
        ),
        Row("RFC 8246 §2", "Cache-Control: immutable\nETag: \"a\"", age: 1, "ask stale"),
        Row(
            "RFC 8246 §2",
            "Cache-Control: max-age=60, immutable",
            "Cache-Control: max-age=10, max-stale=20",
            age: 70,
            "load stale"
        ),
    ]

    @Test("is decided by the response", arguments: plain)
    private func plainHold(_ row: Row) { check(row) }

    @Test("is decided by the request's directives", arguments: requests)
    private func requestsHold(_ row: Row) { check(row) }

    @Test("is decided by the directives of RFC 5861 and RFC 8246", arguments: extended)
    private func extendedHold(_ row: Row) { check(row) }

    private func check(_ row: Row) {
        let decision = ReuseDecision(
            for: request(row.request, method: row.method, url: row.url),
            among: [stored(row.response, url: row.url)],
            now: moment(row.age)
        )
        #expect(decision.summary == row.expected)
    }

    @Test(
        "RFC 9211 §2.2: without a stored response the URL is a miss",
        arguments: [
            ("", "forward uri-miss"), ("Cache-Control: only-if-cached", "504"), ("If-Match: \"a\"", "forward request"),
        ]
    )
    func nothing(_ lines: String, _ expected: String) {
        #expect(ReuseDecision(for: request(lines), among: [], now: moment(0)).summary == expected)
    }

    @Test("§3.3: an incomplete response is never used")
    func incomplete() {
        var head = stored(Self.tagged)
        head.isComplete = false
        #expect(ReuseDecision(for: request(), among: [head], now: moment(0)).summary == "forward uri-miss")
    }

    @Test("§4.4: an invalidated response is validated even if it is fresh")
    func invalidated() {
        var head = stored(Self.tagged)
        head.needsValidation = true
        #expect(ReuseDecision(for: request(), among: [head], now: moment(0)).summary == "ask stale")
        let willing = request("Cache-Control: max-stale")
        #expect(ReuseDecision(for: willing, among: [head], now: moment(100)).summary == "ask stale")
    }

    @Test("§4: a clock that goes back too far makes responses stale", arguments: [(-60, "fresh"), (-61, "ask stale")])
    func clock(_ now: Double, _ expected: String) {
        #expect(ReuseDecision(for: request(), among: [stored(Self.tagged)], now: moment(now)).summary == expected)
    }

    @Test("§3: redirects and errors are reused like any response", arguments: [301, 302, 307, 308, 404, 410, 500])
    func otherStatuses(_ status: Int) throws {
        let decision = ReuseDecision(for: request(), among: [stored(Self.sixty, status: status)], now: moment(1))
        #expect(decision.summary == "fresh")
        #expect(try #require(decision.selection).response.status.code == status)
    }

    @Test("RFC 9110 §9.3.2: HEAD is answered from a stored GET, without content")
    func head() throws {
        let decision = ReuseDecision(for: request(method: .head), among: [stored(Self.sixty)], now: moment(1))
        let selection = try #require(decision.selection)
        #expect(selection.answer == .head)
        #expect(selection.content == .none)
    }

    @Test("RFC 5861 §3: the revalidation requests the whole content, with only the cache's validator")
    func renewal() throws {
        let head = stored("Cache-Control: max-age=1, stale-while-revalidate=60\nETag: \"a\"\nLast-Modified: {-9}")
        let asked = request("If-None-Match: \"x\"\nRange: bytes=0-1\nIf-Range: \"a\"\nAccept: text/html")
        let sent = try #require(ReuseDecision(for: asked, among: [head], now: moment(5)).revalidation).request
        #expect(sent.headerFields[.ifNoneMatch] == "\"a\"")
        #expect(sent.headerFields[.ifModifiedSince] == fields("Date: {-9}")[.date])
        #expect(!sent.headerFields.contains(.range) && !sent.headerFields.contains(.ifRange))
        #expect(sent.headerFields[.accept] == "text/html")
    }
}

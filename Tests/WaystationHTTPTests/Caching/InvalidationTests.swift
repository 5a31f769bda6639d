import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var method: HTTPRequest.Method = .post
    var status = 200
    var response = ""
    var url = "https://example.com/a"
    var expected: [String]

    var testDescription: String { "§4.4 \(method) \(url) \(status) [\(response)] → \(expected)" }
}

@Suite("Invalidation (RFC 9111 §4.4)")
struct InvalidationTests {
    private static let a = "https://example.com/a"
    private static let b = "https://example.com/b"

    private static let rows: [Row] =
        [HTTPRequest.Method.post, .put, .delete, .patch].map { Row(method: $0, expected: [a]) }
        + ["PURGE", "MKCOL", "post", "get", "X-UNKNOWN"].compactMap { HTTPRequest.Method($0) }.map {
            Row(method: $0, expected: [a])
        }
        + [HTTPRequest.Method.get, .head, .options, .trace].map {
            Row(method: $0, response: "Location: /b", expected: [])
        }
        + ["PROPFIND", "REPORT", "SEARCH", "QUERY"].compactMap { HTTPRequest.Method($0) }.map {
            Row(method: $0, expected: [])
        }
        + [200, 201, 202, 204, 299, 301, 302, 303, 304, 307, 399].map { Row(status: $0, expected: [a]) }
        + [100, 199, 400, 401, 404, 409, 412, 499, 500, 503].map {
            Row(status: $0, response: "Location: /b", expected: [])
        }
        + [
            Row(status: 201, response: "Location: /b", expected: [a, b]),
            Row(response: "Content-Location: /b", expected: [a, b]),
            Row(status: 201, response: "Location: https://example.com/b", expected: [a, b]),
            Row(response: "Location: b", expected: [a, b]),
            Row(response: "Location: ./x/../b", expected: [a, b]),
            Row(response: "Location: /b\nContent-Location: /b", expected: [a, b]),
            Row(response: "Location: /b\nContent-Location: /c", expected: [a, b, "https://example.com/c"]),
            Row(response: "Location: /a", expected: [a]),
            Row(response: "Location: /a#part", expected: [a]),
            Row(response: "Location: /b#part", expected: [a, b]),
            Row(response: "Location: ?q=1", expected: [a, a + "?q=1"]),
            Row(response: "Location: //example.com/b", expected: [a, b]),
            Row(response: "Location: HTTPS://EXAMPLE.COM/b", expected: [a, b]),
            Row(response: "Location: https://example.com:443/b", expected: [a, b]),
            Row(response: "Location: https://reader@example.com/%62", expected: [a, b]),
            Row(response: "Location: https://other.example/b", expected: [a]),
            Row(response: "Location: https://www.example.com/b", expected: [a]),
            Row(response: "Location: http://example.com/b", expected: [a]),
            Row(response: "Location: https://example.com:8443/b", expected: [a]),
            Row(response: "Location: //other.example/b", expected: [a]),
            Row(response: "Content-Location: https://other.example/b", expected: [a]),
            Row(response: "Location: mailto:x@example.com", expected: [a]),
            Row(response: "Location: ", expected: [a]),
            Row(response: "Location: https://", expected: [a]),
            Row(response: "Location: http://[bad/", expected: [a]),
            Row(
                response: "Location: /b",
                url: "http://example.com:8080/a",
                expected: ["http://example.com:8080/a", "http://example.com:8080/b"]
            ),
            Row(
                response: "Location: http://example.com/b",
                url: "http://example.com:80/a",
                expected: ["http://example.com:80/a", "http://example.com/b"]
            ),
        ]

    @Test("is caused by unsafe methods that succeed, on their own origin", arguments: rows)
    private func urls(_ row: Row) {
        let done = Invalidation(
            after: request(method: row.method, url: row.url),
            response: response(row.response, status: row.status)
        )
        #expect(done.urls == row.expected)
    }

    @Test("§4.4: a request without an absolute target invalidates nothing")
    func noTarget() {
        let asked = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/a")
        #expect(Invalidation(after: asked, response: response()).urls.isEmpty)
    }
}

private struct HeadRow: CustomTestStringConvertible, Sendable {
    var stored: String
    var head: String
    var expected: String

    init(_ stored: String, _ head: String, _ expected: String) {
        (self.stored, self.head, self.expected) = (stored, head, expected)
    }

    var testDescription: String { "§4.3.5 [\(stored)] [\(head)] → \(expected)" }
}

@Suite("HEAD updates GET (RFC 9111 §4.3.5)")
struct HeadFresheningTests {
    private static let rows: [HeadRow] = [
        HeadRow("ETag: \"a\"", "ETag: \"a\"", "update 0"),
        HeadRow("ETag: \"a\"", "ETag: \"b\"", "mark 0"),
        HeadRow("ETag: \"a\"", "ETag: W/\"a\"", "mark 0"),
        HeadRow("ETag: \"a\"", "", "update 0"),
        HeadRow("", "ETag: \"a\"", "mark 0"),
        HeadRow("Last-Modified: {-9}", "Last-Modified: {-9}", "update 0"),
        HeadRow("Last-Modified: {-9}", "Last-Modified: {-8}", "mark 0"),
        HeadRow("ETag: \"a\"\nLast-Modified: {-9}", "ETag: \"a\"\nLast-Modified: {-8}", "mark 0"),
        HeadRow("ETag: \"a\"\nContent-Length: 5", "ETag: \"a\"\nContent-Length: 5", "update 0"),
        HeadRow("ETag: \"a\"\nContent-Length: 5", "ETag: \"a\"\nContent-Length: 6", "mark 0"),
        HeadRow("ETag: \"a\"\nContent-Length: 5", "ETag: \"a\"", "update 0"),
        HeadRow("ETag: \"a\"", "ETag: \"a\"\nContent-Length: 100", "update 0"),
        HeadRow("ETag: \"a\"", "ETag: \"a\"\nContent-Length: 101", "mark 0"),
        HeadRow("", "", "update 0"),
        HeadRow("ETag: \"a\"", "ETag: \"a\"\nCache-Control: no-store", "mark 0"),
        HeadRow("ETag: \"a\"", "ETag: \"a\"\nVary: *", "mark 0"),
    ]

    private func changes(
        _ head: HTTPResponse,
        _ all: [StoredHead],
        for asked: HTTPRequest = request(method: .head)
    ) -> [StoredChange] {
        StoredChange.changes(byHead: head, to: asked, stored: all, requestTime: moment(9), responseTime: moment(9))
    }

    @Test("if validators and length agree, and marks it stale if they do not", arguments: rows)
    private func agreement(_ row: HeadRow) {
        #expect(changes(response(row.head), [stored(row.stored)]).map(\.summary) == [row.expected])
    }

    @Test("only if the status is 200", arguments: [204, 206, 301, 304, 404, 500])
    func otherStatus(_ status: Int) {
        #expect(changes(response("ETag: \"b\"", status: status), [stored("ETag: \"a\"")]).isEmpty)
    }

    @Test("§5.2.1.5: with no field of the response if the request has no-store", arguments: ["\"a\"", "\"b\""])
    func unstoredRequest(_ tag: String) {
        let asked = request("Cache-Control: no-store", method: .head)
        let changes = changes(response("ETag: \(tag)\nX-A: 1"), [stored("ETag: \"a\"")], for: asked)
        #expect(changes.map(\.summary) == (tag == "\"a\"" ? [] : ["mark 0"]))
    }

    @Test("only if the method is HEAD")
    func otherMethod() {
        #expect(changes(response("ETag: \"b\""), [stored("ETag: \"a\"")], for: request()).isEmpty)
    }

    @Test("only for the variants that could have been selected")
    func variants() {
        let all = [
            stored("ETag: \"a\"\nVary: Accept", for: "Accept: a/b"),
            stored("ETag: \"a\"\nVary: Accept", for: "Accept: c/d"),
        ]
        let asked = request("Accept: c/d", method: .head)
        #expect(changes(response("ETag: \"a\""), all, for: asked).map(\.summary) == ["update 1"])
    }

    @Test("with the fields of the HEAD")
    func update() throws {
        guard
            case .update(_, let updated) = changes(
                response("ETag: \"a\"\nCache-Control: max-age=60"),
                [stored("ETag: \"a\"")]
            ).first
        else {
            Issue.record("no update")
            return
        }
        #expect(updated.freshness(now: moment(60)).isFresh)
        #expect(updated.responseTime == moment(9))
    }
}

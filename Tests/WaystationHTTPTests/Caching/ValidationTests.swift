import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var stored: [String]
    var request: String
    var status: Int
    var answer: String
    var expected: String

    init(_ section: String, _ stored: [String], _ answer: String, _ expected: String) {
        self.init(section, stored, "", 304, answer, expected)
    }

    init(_ section: String, _ stored: [String], _ request: String, _ status: Int, _ answer: String, _ expected: String)
    {
        (self.section, self.stored, self.request) = (section, stored, request)
        (self.status, self.answer, self.expected) = (status, answer, expected)
    }

    var testDescription: String { "§\(section) \(stored) [\(request)] \(status) [\(answer)] → \(expected)" }
}

@Suite("The answer to a validation (RFC 9111 §4.3.3, §4.3.4)")
struct ValidationTests {
    private static let notModified: [Row] = [
        // Strong validators
        Row("4.3.4", ["ETag: \"a\""], "ETag: \"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["ETag: \"a\""], "ETag: \"b\"", "reload"),
        Row(
            "4.3.4",
            ["ETag: \"a\"\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"],
            "ETag: \"b\"",
            "freshened 1 [\"update 1\"]"
        ),
        Row(
            "4.3.4",
            ["ETag: \"a\"\nDate: {-1}", "ETag: \"a\"\nDate: {-2}"],
            "ETag: \"a\"",
            "freshened 0 [\"update 0\", \"update 1\"]"
        ),
        Row(
            "4.3.4",
            ["ETag: \"a\"\nDate: {-2}", "ETag: \"a\"\nDate: {-1}"],
            "ETag: \"a\"",
            "freshened 1 [\"update 1\", \"update 0\"]"
        ),
        Row("4.3.4", ["ETag: \"a\"\nDate: {-1}", "Date: {-2}"], "ETag: \"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["ETag: \"a\"\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"], "ETag: \"c\"", "reload"),
        Row("4.3.4", ["Last-Modified: {-9}"], "ETag: \"a\"\nLast-Modified: {-9}", "reload"),
        // Weak validators
        Row("4.3.4", ["ETag: W/\"a\""], "ETag: W/\"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["ETag: \"a\""], "ETag: W/\"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["ETag: W/\"a\""], "ETag: W/\"b\"", "reload"),
        Row(
            "4.3.4",
            ["ETag: W/\"a\"\nDate: {-2}", "ETag: W/\"a\"\nDate: {-1}"],
            "ETag: W/\"a\"",
            "freshened 1 [\"update 1\"]"
        ),
        Row("4.3.4", ["Last-Modified: {-9}"], "Last-Modified: {-9}", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["Last-Modified: {-9}"], "Last-Modified: {-8}", "reload"),
        // A year of two digits is one of the last fifty years.
        Row(
            "4.3.4",
            ["Last-Modified: Tuesday, 14-Nov-23 20:00:00 GMT"],
            "Last-Modified: Tuesday, 14-Nov-23 20:00:00 GMT",
            "freshened 0 [\"update 0\"]"
        ),
        Row(
            "4.3.4",
            ["Last-Modified: {-9}\nDate: {-2}", "Last-Modified: {-9}\nDate: {-1}"],
            "Last-Modified: {-9}",
            "freshened 1 [\"update 1\"]"
        ),
        Row("4.3.4", ["ETag: \"a\"\nLast-Modified: {-9}"], "Last-Modified: {-9}", "freshened 0 [\"update 0\"]"),
        // A strong tag must not update a response with a weak one; it confirms that response.
        Row("4.3.4", ["ETag: W/\"a\""], "ETag: \"a\"", "freshened 0 []"),
        // No validator
        Row("4.3.4", ["ETag: \"a\""], "", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["Last-Modified: {-9}"], "", "freshened 0 [\"update 0\"]"),
        Row("4.3.4", ["ETag: \"a\"\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"], "", "reload"),
        Row("4.3.4", ["ETag: \"a\""], "ETag: junk", "freshened 0 [\"update 0\"]"),
        Row("4.3.3", [""], "", "pass on"),
        // The client's own conditions
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"x\"", 304, "ETag: \"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"x\"", 304, "ETag: \"x\"", "pass on"),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: W/\"x\"", 304, "ETag: \"x\"", "pass on"),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"x\"", 304, "ETag: \"y\"", "reload"),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"x\"", 304, "", "reload"),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"a\"", 304, "ETag: \"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: *", 304, "ETag: \"a\"", "pass on"),
        Row("4.3.2", [""], "If-None-Match: \"x\"", 304, "ETag: \"x\"", "pass on"),
        Row("4.3.2", ["ETag: \"a\""], "If-Modified-Since: {0}", 304, "ETag: \"a\"", "freshened 0 [\"update 0\"]"),
        Row("4.3.2", [""], "If-Modified-Since: {0}", 304, "", "pass on"),
        // A 304 that ends the storing of the response
        Row("5.2.2.5", ["ETag: \"a\""], "ETag: \"a\"\nCache-Control: no-store", "freshened 0 [\"mark 0\"]"),
        Row(
            "5.2.2.5",
            ["Cache-Control: max-age=60\nETag: \"a\""],
            "Cache-Control: no-store, max-age=60",
            "freshened 0 [\"mark 0\"]"
        ),
        Row(
            "5.2.2.3",
            ["ETag: \"a\""],
            "ETag: \"a\"\nCache-Control: must-understand, no-store",
            "freshened 0 [\"update 0\"]"
        ),
        Row(
            "5.2.1.5",
            ["ETag: \"a\""],
            "Cache-Control: no-store",
            304,
            "ETag: \"a\"\nCache-Control: max-age=60",
            "freshened 0 []"
        ),
        Row("4.1", ["ETag: \"a\""], "ETag: \"a\"\nVary: *", "freshened 0 [\"mark 0\"]"),
        Row("4.1", ["ETag: \"a\""], "ETag: \"a\"\nVary: a b", "freshened 0 [\"mark 0\"]"),
        // A 304 for a variant that was stored for another request
        Row("4.1", ["ETag: \"a\"\nVary: Accept"], "Accept: c/d", 304, "ETag: \"a\"", "freshened 0 [\"add 0\"]"),
        Row(
            "5.2.2.5",
            ["ETag: \"a\"\nVary: Accept"],
            "Accept: c/d",
            304,
            "ETag: \"a\"\nCache-Control: no-store",
            "freshened 0 []"
        ),
        Row(
            "5.2.1.5",
            ["ETag: \"a\"\nVary: Accept"],
            "Accept: c/d\nCache-Control: no-store",
            304,
            "ETag: \"a\"",
            "freshened 0 []"
        ),
        Row("4.1", ["ETag: \"a\"\nVary: Accept"], "Accept: c/d", 304, "ETag: \"a\"\nVary: *", "freshened 0 []"),
    ]

    private static let others: [Row] =
        [
            Row("4.3.3", ["ETag: \"a\""], "", 200, "ETag: \"b\"", "stored [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 200, "Cache-Control: max-age=60", "stored [0]"),
            Row(
                "4.3.3",
                ["ETag: \"a\"\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"],
                "",
                200,
                "ETag: \"c\"",
                "stored [0, 1]"
            ),
            Row("4.3.3", ["ETag: \"a\""], "", 200, "Cache-Control: no-store", "responseNoStore [0]"),
            Row("4.3.3", ["ETag: \"a\""], "Cache-Control: no-store", 200, "ETag: \"b\"", "requestNoStore [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 404, "", "stored [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 404, "Cache-Control: no-store", "responseNoStore [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 410, "", "stored [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 301, "Location: /b", "stored [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 302, "Location: /b", "notMarkedStorable [0]"),
            Row("4.3.3", ["ETag: \"a\""], "", 206, "Content-Range: bytes 0-1/2", "partialContent []"),
            Row("3.4", ["ETag: \"a\""], "Range: bytes=0-1", 206, "Content-Range: bytes 0-1/2", "stored []"),
            Row(
                "3.4",
                ["ETag: \"a\""],
                "Range: bytes=0-1",
                206,
                "ETag: \"b\"\nContent-Range: bytes 0-1/2",
                "stored [0]"
            ),
            Row("4.3.3", ["ETag: \"a\""], "", 412, "", "pass on"),
            Row("4.3.3", ["ETag: \"a\""], "", 416, "", "pass on"),
            Row("4.3.3", ["ETag: \"a\""], "", 103, "", "pass on"),
        ]
        + [400, 401, 403, 405, 407, 429, 451].flatMap { status in
            ["", "Cache-Control: private", "Cache-Control: max-age=60"].map {
                Row("4.3.3", ["ETag: \"a\""], "", status, $0, "pass on")
            }
        }
        + [500, 501, 502, 503, 504, 599].map {
            Row("4.3.3", ["ETag: \"a\""], "", $0, "Cache-Control: max-age=60", "pass on")
        }
        + [500, 502, 503, 504].map {
            Row("RFC 5861 §4", ["Cache-Control: stale-if-error=99999\nETag: \"a\""], "", $0, "", "stand-in 0")
        }
        + [400, 404, 429, 501, 505].map {
            Row(
                "RFC 5861 §4",
                ["Cache-Control: stale-if-error=99999\nETag: \"a\""],
                "",
                $0,
                "Cache-Control: no-store",
                $0 == 404 ? "responseNoStore [0]" : "pass on"
            )
        }

    @Test("a 304 updates the responses that it identifies", arguments: notModified)
    private func identifying(_ row: Row) throws { try check(row) }

    @Test("any other status is handled as the RFC requires", arguments: others)
    private func replacing(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        let answer = response(row.answer, status: row.status)
        let result = try outcome(answer, of: row.stored.map { stored($0) }, for: request(row.request))
        #expect(result.summary == row.expected)
    }

    @Test("§4.3.3: a refusal is stored in place of a stored refusal, and beside variants that do not match the request")
    func refusals() throws {
        let answer = response("Cache-Control: max-age=60", status: 403)
        let refusal = stored("Cache-Control: max-age=60", status: 403)
        #expect(try outcome(answer, of: [refusal]).summary == "stored []")
        let variant = stored("ETag: \"a\"\nVary: Accept")
        #expect(try outcome(answer, of: [variant], for: request("Accept: c/d")).summary == "stored []")
        #expect(try outcome(answer, of: [refusal, stored("ETag: \"a\"")]).summary == "pass on")
    }

    @Test("§4.3.4: under the strict rule, a 304 without a validator confirms and updates nothing")
    func strict() throws {
        var rules = CachingRules()
        rules.trustsBareNotModified = false
        let result = try outcome(response("X-A: 1", status: 304), of: [stored("ETag: \"a\"")], rules: rules)
        #expect(result.summary == "freshened 0 []")
    }

    @Test("§4.3.4: a 304 restarts the response's freshness lifetime")
    func freshAgain() throws {
        let result = try outcome(
            response("ETag: \"a\"\nDate: {10000}", status: 304),
            of: [stored("Cache-Control: max-age=60\nETag: \"a\"\nAge: 30\nDate: {0}")]
        )
        let updated = try #require(result.firstUpdate)
        #expect(updated.freshness(now: moment(10_059)).isFresh)
        #expect(updated.freshness(now: moment(10_059)).age == .seconds(59))
        #expect(!updated.freshness(now: moment(10_060)).isFresh)
    }

    @Test("§4: a validated response has no Age unless the 304 has one")
    func noAge() throws {
        let old = [stored("ETag: \"a\"\nAge: 30")]
        #expect(
            try !#require(outcome(response("ETag: \"a\"", status: 304), of: old).selection).response.headerFields
                .contains(.age)
        )
        let relayed = try outcome(response("ETag: \"a\"\nAge: 4", status: 304), of: old)
        #expect(try #require(relayed.selection).response.headerFields[.age] == "4")
    }

    @Test(
        "§4.3.2 MUST: a 304 with a tag that the client lacks becomes a 200, and one with the client's tag stays a 304"
    )
    func union() throws {
        let mine = try outcome(
            response("ETag: \"a\"", status: 304),
            of: [stored("ETag: \"a\"")],
            for: request("If-None-Match: \"x\"")
        )
        #expect(try #require(mine.selection).response.status == .ok)
        let both = try outcome(
            response("ETag: \"a\"", status: 304),
            of: [stored("ETag: \"a\"")],
            for: request("If-None-Match: \"a\"")
        )
        #expect(try #require(both.selection).response.status == .notModified)
    }

    @Test("§4.3.4: a request that is sent again has none of the cache's conditions, and keeps the client's")
    func reload() throws {
        let asked = request("If-None-Match: \"x\"\nAccept: a/b")
        guard
            case .reload(let again) = try outcome(
                response("ETag: \"y\"", status: 304),
                of: [stored("ETag: \"a\"")],
                for: asked
            )
        else {
            Issue.record("not a reload")
            return
        }
        #expect(again == asked)
    }

    @Test("§4.4: a validation ends an invalidation")
    func revalidated() throws {
        var head = stored("ETag: \"a\"")
        head.needsValidation = true
        #expect(
            try !#require(outcome(response("ETag: \"a\"", status: 304), of: [head]).firstUpdate).needsValidation
        )
    }

    @Test("§4: a validated HEAD is answered without content")
    func head() throws {
        let result = try outcome(
            response("ETag: \"a\"", status: 304),
            of: [stored("ETag: \"a\"")],
            for: request(method: .head)
        )
        #expect(try #require(result.selection).answer == .head)
    }

    @Test(
        "§4.3.5: a 200 to a validating HEAD updates the stored response or marks it stale",
        arguments: [("\"a\"", "update 0"), ("\"b\"", "mark 0")]
    )
    func headAnswer(_ tag: String, _ expected: String) throws {
        let result = try outcome(response("ETag: \(tag)"), of: [stored("ETag: \"a\"")], for: request(method: .head))
        #expect(result.summary == "pass on [\"\(expected)\"]")
    }
}

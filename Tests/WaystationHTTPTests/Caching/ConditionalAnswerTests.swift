import HTTPTypes
import Testing

@testable import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var response: String
    var request: String
    var expected: StoredAnswer
    var status: Int
    var method: HTTPRequest.Method
    var length: Int?

    init(
        _ section: String,
        _ response: String,
        _ request: String,
        _ expected: StoredAnswer,
        status: Int = 200,
        method: HTTPRequest.Method = .get,
        length: Int? = 100
    ) {
        (self.section, self.response, self.request, self.expected) = (section, response, request, expected)
        (self.status, self.method, self.length) = (status, method, length)
    }

    var testDescription: String {
        "\(section) \(method) \(status) [\(response)] [\(request)] of \(length.map(String.init) ?? "?") → \(expected)"
    }
}

@Suite("Conditions and ranges answered from a stored response (RFC 9111 §4.3.2, RFC 9110 §13, §14)")
struct ConditionalAnswerTests {
    private static let conditions: [Row] = [
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"a\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"b\"", .whole),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"b\", \"a\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"b\"\nIf-None-Match: \"a\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: W/\"a\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: W/\"a\"", "If-None-Match: \"a\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: W/\"a\"", "If-None-Match: W/\"a\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"A\"", .whole),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: *", .notModified),
        Row("RFC 9110 §13.1.2", "", "If-None-Match: *", .notModified),
        Row("RFC 9110 §13.1.2", "", "If-None-Match: \"a\"", .whole),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: a", .whole),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"a\" junk", .whole),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"a\", junk", .whole),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: ", .whole),
        Row("RFC 9110 §5.6.1.2", "ETag: \"a\"", "If-None-Match: , \"b\",, \"a\" ,", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: \"a,b\"", "If-None-Match: \"a,b\"", .notModified),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"a\"", .notModified, method: .head),
        Row("RFC 9110 §13.1.2", "ETag: \"a\"", "If-None-Match: \"b\"", .head, method: .head),
        Row("RFC 9110 §13.1.3", "Last-Modified: {-9}", "If-Modified-Since: {-9}", .notModified),
        Row("RFC 9110 §13.1.3", "Last-Modified: {-9}", "If-Modified-Since: {-8}", .notModified),
        Row("RFC 9110 §13.1.3", "Last-Modified: {-9}", "If-Modified-Since: {-10}", .whole),
        Row("RFC 9110 §13.1.3", "Last-Modified: {-9}", "If-Modified-Since: junk", .whole),
        Row("RFC 9110 §13.1.3", "Last-Modified: {-9}", "If-Modified-Since: {-9}", .notModified, method: .head),
        Row("§4.3.2", "Date: {-5}", "If-Modified-Since: {-5}", .notModified),
        Row("§4.3.2", "Date: {-5}", "If-Modified-Since: {-6}", .whole),
        Row("§4.3.2", "", "If-Modified-Since: {0}", .notModified),
        Row("§4.3.2", "", "If-Modified-Since: {-1}", .whole),
        Row(
            "RFC 9110 §13.2.2",
            "ETag: \"a\"\nLast-Modified: {-9}",
            "If-None-Match: \"b\"\nIf-Modified-Since: {0}",
            .whole
        ),
        Row(
            "RFC 9110 §13.2.2",
            "ETag: \"a\"\nLast-Modified: {-9}",
            "If-None-Match: \"a\"\nIf-Modified-Since: {-99}",
            .notModified
        ),
        Row("RFC 9110 §13.2.2", "ETag: \"a\"", "If-None-Match: \"a\"\nRange: bytes=0-1", .notModified),
        Row("RFC 9110 §13.2.2", "ETag: \"a\"", "If-None-Match: \"b\"\nRange: bytes=0-1", .part(0..<2)),
        Row("RFC 9110 §13.2.1", "ETag: \"a\"", "If-None-Match: \"a\"", .whole, status: 404),
        Row("RFC 9110 §13.2.1", "ETag: \"a\"", "If-None-Match: *", .whole, status: 301),
        Row("RFC 9110 §13.2.1", "Last-Modified: {-9}", "If-Modified-Since: {0}", .whole, status: 410),
    ]

    private static let ranges: [Row] = [
        Row("RFC 9110 §14.2", "", "Range: bytes=0-49", .part(0..<50)),
        Row("RFC 9110 §14.2", "", "Range: bytes=50-", .part(50..<100)),
        Row("RFC 9110 §14.2", "", "Range: bytes=-10", .part(90..<100)),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-0", .part(0..<1)),
        Row("RFC 9110 §14.2", "", "Range: bytes=99-99", .part(99..<100)),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-", .part(0..<100)),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-1000", .part(0..<100)),
        Row("RFC 9110 §14.2", "", "Range: bytes=-1000", .part(0..<100)),
        Row("RFC 9110 §14.2", "", "Range: Bytes=0-1", .part(0..<2)),
        Row("RFC 9110 §14.2", "", "Range: bytes= 0-1 ", .part(0..<2)),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-99999999999999999999", .part(0..<100)),
        Row("RFC 9110 §15.5.17", "", "Range: bytes=100-", .rangeNotSatisfiable),
        Row("RFC 9110 §15.5.17", "", "Range: bytes=100-200", .rangeNotSatisfiable),
        Row("RFC 9110 §15.5.17", "", "Range: bytes=99999999999999999999-", .rangeNotSatisfiable),
        Row("RFC 9110 §15.5.17", "", "Range: bytes=-0", .rangeNotSatisfiable),
        Row("RFC 9110 §15.5.17", "", "Range: bytes=0-1", .rangeNotSatisfiable, length: 0),
        Row("RFC 9110 §15.5.17", "", "Range: bytes=-0", .rangeNotSatisfiable, length: 0),
        Row("RFC 9110 §14.1.2", "", "Range: bytes=-1", .whole, length: 0),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-1, 4-5", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes=5-1", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes=a-b", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes=-", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes=", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes", .whole),
        Row("RFC 9110 §14.2", "", "Range: lines=0-1", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes=+1-2", .whole),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-1", .head, method: .head),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-1", .whole, status: 404),
        Row("RFC 9110 §14.2", "", "Range: bytes=0-1", .whole, length: nil),
        Row("RFC 9110 §14.2", "", "Range: bytes=-1", .whole, length: -1),
        Row("RFC 9110 §13.1.5", "ETag: \"a\"", "Range: bytes=0-1\nIf-Range: \"a\"", .part(0..<2)),
        Row("RFC 9110 §13.1.5", "ETag: \"a\"", "Range: bytes=0-1\nIf-Range: \"b\"", .whole),
        Row("RFC 9110 §13.1.5", "ETag: W/\"a\"", "Range: bytes=0-1\nIf-Range: W/\"a\"", .whole),
        Row("RFC 9110 §13.1.5", "ETag: \"a\"", "Range: bytes=0-1\nIf-Range: W/\"a\"", .whole),
        Row("RFC 9110 §13.1.5", "", "Range: bytes=0-1\nIf-Range: \"a\"", .whole),
        Row("RFC 9110 §13.1.5", "Last-Modified: {-9}\nDate: {0}", "Range: bytes=0-1\nIf-Range: {-9}", .part(0..<2)),
        Row("RFC 9110 §13.1.5", "Last-Modified: {-9}\nDate: {0}", "Range: bytes=0-1\nIf-Range: {-8}", .whole),
        Row("RFC 9110 §8.8.2.2", "Last-Modified: {0}\nDate: {0}", "Range: bytes=0-1\nIf-Range: {0}", .whole),
        Row("RFC 9110 §8.8.2.2", "Last-Modified: {-1}\nDate: {0}", "Range: bytes=0-1\nIf-Range: {-1}", .part(0..<2)),
        Row("RFC 9110 §13.1.5", "ETag: \"a\"", "Range: bytes=0-1\nIf-Range: junk", .whole),
        Row("RFC 9110 §13.1.5", "ETag: \"a\"", "If-Range: \"b\"", .whole),
    ]

    @Test("conditions get the status that RFC 9110 requires", arguments: conditions)
    private func conditionsHold(_ row: Row) throws { try check(row) }

    @Test("a satisfiable range gets that part of the content", arguments: ranges)
    private func rangesHold(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        let head = stored("Cache-Control: max-age=60\n" + row.response, status: row.status, length: row.length)
        let decision = ReuseDecision(for: request(row.request, method: row.method), among: [head], now: moment(1))
        #expect(try #require(decision.selection).answer == row.expected)
    }

    private func answer(_ lines: String) throws -> (HTTPResponse, StoredSelection.Content) {
        let head = stored(
            """
            Cache-Control: max-age=60
            ETag: "a"
            Last-Modified: {-9}
            Content-Type: text/plain
            Content-Length: 100
            Content-Encoding: identity
            Content-Location: /a.en
            Vary: Accept
            X-A: 1
            """
        )
        let selection = try #require(ReuseDecision(for: request(lines), among: [head], now: moment(7)).selection)
        return (selection.response, selection.content)
    }

    @Test("the whole response has all fields and all content")
    func whole() throws {
        let (response, content) = try answer("")
        #expect(response.status == .ok && content == .whole)
        #expect(response.headerFields[.contentLength] == "100" && response.headerFields[.age] == "7")
    }

    @Test("RFC 9110 §15.4.5: a 304 has the fields that identify the response, and none that describe content")
    func notModified() throws {
        let (response, content) = try answer("If-None-Match: \"a\"")
        #expect(response.status == .notModified && content == .none)
        for name in [HTTPField.Name.cacheControl, .eTag, .vary, .contentLocation, .age] {
            #expect(response.headerFields.contains(name))
        }
        for name in [HTTPField.Name.contentLength, .contentType, .contentEncoding, .lastModified] {
            #expect(!response.headerFields.contains(name))
        }
    }

    @Test("§3.3 MUST: a part is sent as a 206 with its range and length")
    func part() throws {
        let (response, content) = try answer("Range: bytes=10-19")
        #expect(response.status == .partialContent && content == .bytes(10..<20))
        #expect(response.headerFields[.contentRange] == "bytes 10-19/100")
        #expect(response.headerFields[.contentLength] == "10")
        #expect(response.headerFields[.contentType] == "text/plain")
    }

    @Test("RFC 9110 §15.5.17: a 416 states the length")
    func notSatisfiable() throws {
        let (response, content) = try answer("Range: bytes=100-")
        #expect(response.status == .rangeNotSatisfiable && content == .none)
        #expect(response.headerFields[.contentRange] == "bytes */100")
        #expect(!response.headerFields.contains(.contentType))
    }

    @Test("§4.3.2: after a validation the client's conditions and range are answered from the updated response")
    func afterValidation() throws {
        let head = stored("ETag: \"a\"", length: 10)
        let range = try outcome(response("ETag: \"a\"", status: 304), of: [head], for: request("Range: bytes=0-4"))
        #expect(try #require(range.selection).answer == .part(0..<5))
        let asked = request("If-Modified-Since: {-99}")
        let newer = try outcome(response("ETag: \"a\"\nLast-Modified: {-9}", status: 304), of: [head], for: asked)
        #expect(try #require(newer.selection).answer == .whole)
    }
}

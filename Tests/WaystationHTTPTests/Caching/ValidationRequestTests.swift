import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var stored: [String]
    var request: String
    /// If-None-Match and If-Modified-Since of the request that is sent.
    var noneMatch: String?
    var modifiedSince: Int?
    var isConditional = true

    init(
        _ section: String,
        _ stored: [String],
        _ request: String = "",
        noneMatch: String? = nil,
        modifiedSince: Int? = nil,
        isConditional: Bool = true
    ) {
        (self.section, self.stored, self.request) = (section, stored, request)
        (self.noneMatch, self.modifiedSince, self.isConditional) = (noneMatch, modifiedSince, isConditional)
    }

    var testDescription: String { "§\(section) \(stored) [\(request)] → \(noneMatch ?? "–") \(modifiedSince ?? 0)" }
}

@Suite("The request that validates (RFC 9111 §4.3.1, §4.3.2)")
struct ValidationRequestTests {
    private static let rows: [Row] = [
        Row("4.3.1", ["ETag: \"a\""], noneMatch: "\"a\""),
        Row("4.3.1", ["ETag: W/\"a\""], noneMatch: "W/\"a\""),
        Row("4.3.1", ["Last-Modified: {-9}"], modifiedSince: -9),
        Row("4.3.1", ["ETag: \"a\"\nLast-Modified: {-9}"], noneMatch: "\"a\"", modifiedSince: -9),
        Row("4.3.1", [""], isConditional: false),
        Row("4.3.1", ["ETag: unquoted"], noneMatch: "unquoted"),
        Row("4.3.1", ["ETag: W/unquoted"], noneMatch: "W/unquoted"),
        Row("4.3.1", ["ETag: *"], isConditional: false),
        Row("4.3.1", ["ETag: unquoted\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"], noneMatch: "unquoted"),
        Row("4.3.1", ["ETag: \"b\"\nDate: {-1}", "ETag: unquoted\nDate: {-2}"], noneMatch: "\"b\""),
        Row("4.3.2", ["ETag: unquoted"], "If-None-Match: unquoted", noneMatch: "unquoted"),
        Row("4.3.2", ["ETag: unquoted"], "If-None-Match: \"x\"", noneMatch: "\"x\"", isConditional: false),
        Row("4.3.1", ["ETag: \"a\", \"b\""], isConditional: false),
        Row("4.3.1", ["ETag: \"with space\""], noneMatch: "\"with space\""),
        Row("4.3.1", ["Last-Modified: yesterday"], isConditional: false),
        Row("4.3.1", ["ETag: unquoted\nLast-Modified: {-9}"], noneMatch: "unquoted", modifiedSince: -9),
        Row("4.3.1", ["Date: {-5}"], isConditional: false),
        Row("4.3.2", ["ETag: \"a\"\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"], noneMatch: "\"a\", \"b\""),
        Row("4.3.2", ["ETag: \"a\"\nDate: {-2}", "ETag: \"b\"\nDate: {-1}"], noneMatch: "\"b\", \"a\""),
        Row("4.3.2", ["ETag: \"a\"\nDate: {-1}", "ETag: \"a\"\nDate: {-2}"], noneMatch: "\"a\""),
        Row(
            "4.3.1",
            ["ETag: \"a\"\nLast-Modified: {-9}\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"],
            noneMatch: "\"a\", \"b\""
        ),
        Row("4.3.1", ["Last-Modified: {-9}\nDate: {-1}", "ETag: \"b\"\nDate: {-2}"], modifiedSince: -9),
        Row("4.3.1", ["Last-Modified: {-9}\nDate: {-1}", "Last-Modified: {-8}\nDate: {-2}"], modifiedSince: -9),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"x\"", noneMatch: "\"x\", \"a\""),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"a\"", noneMatch: "\"a\""),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: \"x\", W/\"y\"", noneMatch: "\"x\", W/\"y\", \"a\""),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: *", noneMatch: "*", isConditional: false),
        Row("4.3.2", ["ETag: \"a\""], "If-None-Match: junk", noneMatch: "junk", isConditional: false),
        Row("4.3.2", [""], "If-None-Match: \"x\"", noneMatch: "\"x\"", isConditional: false),
        Row("4.3.2", ["Last-Modified: {-9}"], "If-None-Match: \"x\"", noneMatch: "\"x\"", isConditional: false),
        Row("4.3.2", ["Last-Modified: {-9}"], "If-Modified-Since: {-99}", modifiedSince: -9),
        Row("4.3.2", ["ETag: \"a\""], "If-Modified-Since: {-99}", noneMatch: "\"a\""),
        Row("4.3.2", [""], "If-Modified-Since: {-99}", modifiedSince: -99, isConditional: false),
    ]

    @Test("carries the stored validators and the client's own", arguments: rows)
    private func conditions(_ row: Row) throws {
        let sent = try revalidation(of: row.stored.map { stored($0) }, for: request(row.request))
        #expect(sent.request.headerFields[.ifNoneMatch] == row.noneMatch)
        #expect(
            sent.request.headerFields[.ifModifiedSince] == row.modifiedSince.flatMap { fields("Date: {\($0)}")[.date] }
        )
        #expect(sent.isConditional == row.isConditional)
    }

    @Test(
        "§4.3.1: equals the client's request in everything else",
        arguments: [
            "Accept: a/b", "Cache-Control: max-age=0", "Range: bytes=0-1", "If-Range: \"x\"", "Authorization: Basic x",
        ]
    )
    func rest(_ line: String) throws {
        let asked = request(line, url: "https://example.com/a?b")
        let sent = try revalidation(of: [stored("ETag: \"a\"", url: "https://example.com/a?b")], for: asked).request
        #expect(sent.path == asked.path && sent.authority == asked.authority && sent.method == asked.method)
        for field in asked.headerFields { #expect(sent.headerFields[field.name] == field.value) }
    }

    @Test("RFC 9110 §8.8: the validators of redirects and errors are not sent", arguments: [301, 302, 404, 410, 500])
    func otherStatuses(_ status: Int) throws {
        let sent = try revalidation(of: [stored("ETag: \"a\"\nLast-Modified: {-9}", status: status)])
        #expect(!sent.isConditional)
        #expect(sent.request == request())
    }

    @Test("§4.3.1: Last-Modified is sent back verbatim")
    func verbatim() throws {
        let text = "sunday, 06-Nov-94 08:49:37 gmt"
        let sent = try revalidation(of: [stored("Cache-Control: max-age=0\nLast-Modified: \(text)")]).request
        #expect(sent.headerFields[.ifModifiedSince] == text)
    }

    @Test("a request lists no more tags than the rules allow")
    func limit() throws {
        var rules = CachingRules()
        rules.maximumCombinedTags = 3
        let all = (0..<9).map { stored("ETag: \"\($0)\"\nDate: {-\($0 + 1)}") }
        let sent = try revalidation(of: all, rules: rules).request
        #expect(sent.headerFields[.ifNoneMatch] == "\"0\", \"1\", \"2\"")
    }
}

import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var stored: String
    var answer: String
    var name: String
    var expected: [String]

    init(_ section: String, _ stored: String, _ answer: String, _ name: String, _ expected: [String]) {
        (self.section, self.stored, self.answer, self.name, self.expected) = (section, stored, answer, name, expected)
    }

    var testDescription: String { "§\(section) [\(stored)] + [\(answer)] → \(name): \(expected)" }
}

@Suite("Updating stored fields (RFC 9111 §3.2)")
struct FieldUpdateTests {
    private static let rows: [Row] = [
        Row("3.2", "X-A: old", "X-A: new", "X-A", ["new"]),
        Row("3.2", "X-A: old", "", "X-A", ["old"]),
        Row("3.2", "", "X-A: new", "X-A", ["new"]),
        Row("3.2", "X-A: 1\nX-A: 2", "X-A: 3", "X-A", ["3"]),
        Row("3.2", "X-A: 1", "X-A: 2\nX-A: 3", "X-A", ["2", "3"]),
        Row("3.2", "x-a: old", "X-A: new", "X-A", ["new"]),
        Row("3.2", "X-Unknown: old", "X-Unknown: new", "X-Unknown", ["new"]),
        Row("3.2", "Content-Type: a/b", "Content-Type: c/d", "Content-Type", ["c/d"]),
        Row("3.2", "Content-Language: en", "Content-Language: de", "Content-Language", ["de"]),
        Row("3.2", "Content-Security-Policy: a", "Content-Security-Policy: b", "Content-Security-Policy", ["b"]),
        Row("3.2", "Content-Location: /a", "Content-Location: /b", "Content-Location", ["/b"]),
        Row("3.2", "Content-Length: 100", "Content-Length: 0", "Content-Length", ["100"]),
        Row("3.2", "", "Content-Length: 0", "Content-Length", []),
        Row("3.2", "Content-Encoding: gzip", "Content-Encoding: br", "Content-Encoding", ["gzip"]),
        Row("3.2", "", "Content-Encoding: gzip", "Content-Encoding", []),
        Row("3.2", "", "Content-Range: bytes 0-1/2", "Content-Range", []),
        Row("3.2", "Cache-Control: max-age=60", "Cache-Control: max-age=90", "Cache-Control", ["max-age=90"]),
        Row("3.2", "Cache-Control: max-age=60", "Cache-Control: no-cache", "Cache-Control", ["no-cache"]),
        Row("3.2", "Cache-Control: max-age=60", "", "Cache-Control", ["max-age=60"]),
        Row("3.2", "Expires: {60}", "Expires: 0", "Expires", ["0"]),
        Row("3.2", "Set-Cookie: a=b", "Set-Cookie: c=d", "Set-Cookie", ["c=d"]),
        Row("3.2", "ETag: W/\"a\"", "ETag: W/\"a\"", "ETag", ["W/\"a\""]),
        Row("3.2", "Last-Modified: old", "Last-Modified: new", "Last-Modified", ["new"]),
        Row("3.1", "", "Connection: X-Hop\nX-Hop: 1", "Connection", []),
        Row("3.1", "X-Hop: old", "Connection: X-Hop\nX-Hop: 1", "X-Hop", ["old"]),
        Row("3.1", "", "Keep-Alive: timeout=5", "Keep-Alive", []),
        Row("3.1", "", "Transfer-Encoding: chunked", "Transfer-Encoding", []),
        Row("3.1", "", "Proxy-Authenticate: Basic", "Proxy-Authenticate", []),
        Row("3.1", "Cache-Control: max-age=1, no-cache=\"X-A\"", "X-A: 1", "X-A", []),
        Row("5.2.2.4", "X-A: old", "Cache-Control: no-cache=\"X-A\"\nX-A: 1", "X-A", []),
        Row("5.2.2.4", "Cache-Control: no-cache=\"X-A\"", "Cache-Control: max-age=1\nX-A: 1", "X-A", ["1"]),
        Row("4.2.3", "Age: 30", "", "Age", []),
        Row("4.2.3", "Age: 30", "Age: 4", "Age", ["4"]),
        Row("4.2.3", "Date: {0}", "Date: {9999}", "Date", ["Fri, 17 Nov 2023 00:59:59 GMT"]),
        Row("RFC 9110 §6.6.1", "Date: {0}", "", "Date", ["Fri, 17 Nov 2023 01:00:00 GMT"]),
    ]

    @Test("every field of the newer response replaces the stored one, apart from the exceptions", arguments: rows)
    private func updating(_ row: Row) throws {
        let tag = row.stored.contains("ETag") ? "" : "ETag: \"t\"\n"
        // 1,700,000,000 is 14 November 2023, 22:13:20; the answer comes 10,000 seconds later, as `{n}` says.
        let result = try outcome(
            response(tag + row.answer, status: 304),
            of: [stored("Cache-Control: max-age=0\n".dropping(in: row.stored) + tag + row.stored)]
        )
        let updated = try #require(result.firstUpdate).headerFields
        let name = try #require(HTTPField.Name(row.name))
        #expect(updated[values: name] == row.expected.map { $0.hasPrefix("Fri, 17") ? Self.date(row) : $0 })
    }

    private static func date(_ row: Row) -> String {
        fields("Date: {\(row.answer.isEmpty ? 10_000 : 9999)}")[.date] ?? ""
    }

    @Test("§4.3.4: the content, its length and the status stay")
    func content() throws {
        let head = stored("ETag: \"a\"", length: 42)
        let updated = try #require(
            outcome(response("ETag: \"a\"\nContent-Length: 0", status: 304), of: [head]).firstUpdate
        )
        #expect(updated.contentLength == 42)
        #expect(updated.key.url == head.key.url)
        #expect(updated.status == 200)
        #expect(updated.requestTime == moment(10_000) && updated.responseTime == moment(10_000))
    }

    @Test("§4.1: the variant key is computed again if Vary changes, and kept if it does not")
    func vary() throws {
        let head = stored("ETag: \"a\"\nVary: Accept", for: "Accept: a/b")
        let asked = request("Accept: a/b\nX-A: 1")
        let same = try #require(
            outcome(response("ETag: \"a\"\nVary: Accept", status: 304), of: [head], for: asked).firstUpdate
        )
        #expect(same.vary == head.vary)
        let changed = try #require(
            outcome(response("ETag: \"a\"\nVary: Accept, X-A", status: 304), of: [head], for: asked).firstUpdate
        )
        #expect(!changed.vary.matches(fields("Accept: a/b\nX-A: 2")))
        #expect(changed.vary.matches(fields("Accept: a/b\nX-A: 1")))
    }

    @Test("§5.2.2.4: a field of no-cache=\"…\" that came with the validation is in that answer, but is not stored")
    func qualified() throws {
        let head = stored("Cache-Control: max-age=1, no-cache=\"Set-Cookie\"\nETag: \"a\"")
        let result = try outcome(response("ETag: \"a\"\nSet-Cookie: a=b", status: 304), of: [head])
        #expect(try #require(result.selection).response.headerFields[.setCookie] == "a=b")
        #expect(try !#require(result.firstUpdate).headerFields.contains(.setCookie))
    }
}

extension String {
    /// Empty if the other text has a lifetime of its own, so that the row's lifetime is the only one.
    fileprivate func dropping(in other: String) -> String {
        other.contains("Cache-Control") || other.contains("Expires") ? "" : self
    }
}

import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var vary: String
    var original: String
    var presented: String
    var matches: Bool

    init(_ vary: String, _ original: String, _ presented: String, _ matches: Bool) {
        (self.vary, self.original, self.presented, self.matches) = (vary, original, presented, matches)
    }

    var testDescription: String { "§4.1 Vary: \(vary) [\(original)] [\(presented)] → \(matches)" }
}

@Suite("Variants (RFC 9111 §4.1)")
struct VaryTests {
    private static let rows: [Row] = [
        Row("", "Accept: a/b", "Accept: c/d", true),
        Row("Accept", "Accept: a/b", "Accept: a/b", true),
        Row("Accept", "Accept: a/b", "Accept: c/d", false),
        Row("Accept", "Accept: a/b", "", false),
        Row("Accept", "", "Accept: a/b", false),
        Row("Accept", "", "", true),
        Row("accept", "ACCEPT: a/b", "Accept: a/b", true),
        Row("Accept", "Accept: a/b", "Accept: a/b\nX-Other: 1", true),
        Row("Accept, X-A", "Accept: a/b\nX-A: 1", "X-A: 1\nAccept: a/b", true),
        Row("Accept, X-A", "Accept: a/b\nX-A: 1", "Accept: a/b\nX-A: 2", false),
        Row("Accept, X-A", "Accept: a/b", "Accept: a/b", true),
        Row("Accept, X-A", "Accept: a/b", "Accept: a/b\nX-A: 1", false),
        Row("Accept,,X-A,", "Accept: a/b\nX-A: 1", "Accept: a/b\nX-A: 2", false),
        Row("Accept\nVary: X-A", "Accept: a/b\nX-A: 1", "Accept: a/b\nX-A: 2", false),
        Row("*", "", "", false),
        Row("*", "Accept: a/b", "Accept: a/b", false),
        Row("Accept, *", "Accept: a/b", "Accept: a/b", false),
        Row("Accept\nVary: *", "Accept: a/b", "Accept: a/b", false),
        Row("Not A Name", "Accept: a/b", "Accept: a/b", false),
        // Whitespace, and several lines
        Row("Accept", "Accept: a/b,c/d", "Accept: a/b , c/d", true),
        Row("Accept", "Accept: a/b,c/d", "Accept: a/b\nAccept: c/d", true),
        Row("Accept", "Accept: a/b;q=1", "Accept: a/b ; q=1", true),
        Row("Accept", "Accept: a/b,,c/d", "Accept: a/b,c/d", true),
        Row("Accept", "Accept: a/b, c/d", "Accept: c/d, a/b", true),
        Row("Accept", "Accept: a/b, c/d;q=0.5", "Accept: c/d, a/b;q=0.5", false),
        Row("Accept", "Accept: a/b;x=\"1, 2\"", "Accept: a/b;x=\"1,2\"", false),
        Row("Accept", "Accept: A/B", "Accept: a/b", false),
        Row("X-A", "X-A: 1\nX-A: 2", "X-A: 1, 2", true),
        Row("X-A", "X-A: 1, 2", "X-A: 1,2", true),
        Row("X-A", "X-A: 1, 2", "X-A: 2, 1", false),
        Row("X-A", "X-A: ,1", "X-A: 1,", false),
        Row("X-A", "X-A: \"1, 2\"", "X-A: \"1,2\"", false),
        Row("X-A", "X-A: 1", "X-A: one", false),
        Row("X-A", "X-A: a", "X-A: A", false),
        Row("X-A", "X-A:", "X-A:", true),
        Row("X-A", "X-A:", "", false),
        // Fields whose order or case is known not to matter
        Row("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: BR,GZIP", true),
        Row("Accept-Encoding", "Accept-Encoding: gzip;q=1, br", "Accept-Encoding: br, gzip ;q=1", true),
        Row("Accept-Encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip, br", false),
        Row("Accept-Encoding", "Accept-Encoding: gzip;q=0", "Accept-Encoding: gzip", false),
        Row("Accept-Language", "Accept-Language: en-GB, de", "Accept-Language: EN-gb,de", true),
        Row("Accept-Language", "Accept-Language: en, de", "Accept-Language: de, en", true),
        Row("Accept-Language", "Accept-Language: en, de;q=0.5", "Accept-Language: de;q=0.5,en", true),
        Row("Accept-Language", "Accept-Language: en, de;q=0.5", "Accept-Language: de, en;q=0.5", false),
        Row("User-Agent", "User-Agent: a", "User-Agent: b", false),
        Row("Cookie", "Cookie: a=b; c=d", "Cookie: a=b\nCookie: c=d", true),
        Row("Cookie", "Cookie: a=b", "Cookie: a=c", false),
        Row("Authorization", "Authorization: Basic a", "Authorization: Basic b", false),
        Row("Origin", "Origin: https://a.example", "", false),
    ]

    @Test("match if all the fields that Vary nominates are the same", arguments: rows)
    private func matching(_ row: Row) {
        let key = VaryKey(fields(row.vary.isEmpty ? "" : "Vary: \(row.vary)"), request: fields(row.original))
        #expect(key.matches(fields(row.presented)) == row.matches)
    }

    @Test(
        "select a response in the language that the request prefers to all others",
        arguments: [
            ("de;q=0.5, en", "de", false), ("fr;q=0.5, de;q=1.0", "de", true), ("de, en", "de", false),
            ("DE;q=1, en;q=0.9", "de", true), ("de;q=0", "de", false), ("*", "de", false), ("de-AT", "de", false),
            ("de", "en", false), ("de", "de, en", false),
        ]
    )
    func language(asked: String, language: String, isSelected: Bool) {
        let head = stored(
            "Cache-Control: max-age=60\nContent-Language: \(language)\nVary: Accept-Language, X-A",
            for: "Accept-Language: nl\nX-A: 1"
        )
        #expect(head.isSelected(by: fields("Accept-Language: \(asked)\nX-A: 1")) == isSelected)
        #expect(!head.isSelected(by: fields("Accept-Language: \(asked)\nX-A: 2")))
    }

    @Test("a key is the same whatever the order and spelling of Vary")
    func equality() {
        let asked = fields("Accept: a/b\nX-A: 1")
        let key = VaryKey(fields("Vary: Accept, X-A"), request: asked)
        #expect(key == VaryKey(fields("Vary: x-a\nVary: ACCEPT,accept"), request: asked))
        #expect(key.nominees.map(\.name) == [.accept, HTTPField.Name("X-A")])
    }

    private struct Choice: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var stored: [StoredHead]
        var asked: String
        var now: Double
        var expected: String

        init(_ name: String, _ stored: [StoredHead], _ asked: String, now: Double = 10, _ expected: String) {
            (testDescription, self.stored, self.asked, self.now, self.expected) = (name, stored, asked, now, expected)
        }
    }

    private static func variant(
        _ language: String,
        maxAge: Int = 60,
        date: Int = 0,
        tag: String? = nil
    ) -> StoredHead {
        var lines = "Cache-Control: max-age=\(maxAge)\nVary: Accept-Language\nDate: {\(date)}"
        if let tag { lines += "\nETag: \(tag)" }
        return stored(lines, for: "Accept-Language: \(language)")
    }

    private static let plain = stored("Cache-Control: max-age=60\nDate: {5}")

    private static let choices: [Choice] = [
        Choice("§4.1 the variant that matches", [variant("de"), variant("en")], "en", "fresh 1"),
        Choice("§4.1 no variant that matches", [variant("de"), variant("en")], "fr", "forward vary-miss"),
        Choice(
            "§4 the most recent by Date",
            [variant("en", date: -2), variant("en", date: -1), variant("en", date: -3)],
            "en",
            "fresh 1"
        ),
        Choice("§4.1 one with Vary before a newer one without", [variant("en"), plain], "en", "fresh 0"),
        Choice("§4.1 one without Vary where no other matches", [variant("de"), plain], "en", "fresh 1"),
        Choice("§4.1 Vary: * never", [stored("Cache-Control: max-age=60\nVary: *")], "en", "forward vary-miss"),
        Choice(
            "§4 fresh before newer but stale",
            [variant("en", maxAge: 60, date: -5), variant("en", maxAge: 1, date: 0)],
            "en",
            "fresh 0"
        ),
        Choice(
            "§4 without Vary and fresh before with Vary and stale",
            [variant("en", maxAge: 1), plain],
            "en",
            "fresh 1"
        ),
        Choice(
            "§4.1 the stale one that matches is validated",
            [variant("de"), variant("en", maxAge: 1, tag: "\"e\"")],
            "en",
            "ask stale 1"
        ),
        Choice(
            "§4.1 other variants are asked about by their tags",
            [variant("de", tag: "\"d\"")],
            "fr",
            "ask vary-miss"
        ),
        Choice("§4.1 other variants without tags are not", [variant("de")], "fr", "forward vary-miss"),
        Choice(
            "§4.1 nor those whose status is not 200",
            [stored("ETag: \"x\"\nVary: Accept-Language", status: 404)],
            "fr",
            "forward vary-miss"
        ),
    ]

    @Test("the selection takes the variant that the RFC prescribes", arguments: choices)
    private func choosing(_ row: Choice) {
        let asked = request("Accept-Language: \(row.asked)")
        let decision = ReuseDecision(for: asked, among: row.stored, now: moment(row.now))
        var summary = decision.summary
        if let selection = decision.selection { summary += " \(selection.index)" }
        if case .revalidate(let revalidation) = decision,
            let selection = revalidation.standIn(for: .unreachable, now: moment(row.now))
        {
            summary += " \(selection.index)"
        }
        #expect(summary == row.expected)
    }

    @Test("§4.1: a 304 that names another variant gives the request that variant, and a record of its own")
    func adoption() throws {
        let all = [Self.variant("de", tag: "\"d\""), Self.variant("en", tag: "\"e\"")]
        let asked = request("Accept-Language: en-GB")
        let sent = try revalidation(of: all, for: asked)
        #expect(sent.reason == .varyMiss)
        #expect(sent.request.headerFields[.ifNoneMatch] == "\"d\", \"e\"")
        #expect(!sent.request.headerFields.contains(.ifModifiedSince))
        let result = try outcome(response("ETag: \"e\"", status: 304), of: all, for: asked)
        #expect(result.summary == "freshened 1 [\"add 1\"]")
        #expect(try #require(result.firstUpdate).vary.matches(fields("Accept-Language: en-gb")))
        #expect(try #require(result.selection).response.status == .ok)
    }

    @Test(
        "§4.1: a 304 without a stored tag, for a request that matches no variant, makes the request be sent again",
        arguments: ["", "ETag: \"x\"", "Last-Modified: {-9}"]
    )
    func noAdoption(_ lines: String) throws {
        let result = try outcome(
            response(lines, status: 304),
            of: [Self.variant("de", tag: "\"d\"")],
            for: request("Accept-Language: fr")
        )
        #expect(result.summary == "reload")
    }
}

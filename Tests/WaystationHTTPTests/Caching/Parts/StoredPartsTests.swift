import Foundation
import HTTPTypes
import Testing

@testable import WaystationHTTP

@Suite("Stored parts (RFC 9111 §3.4)")
struct StoredPartsTests {
    /// A stored part: of a representation of 1,000 bytes with the tag `"a"`, unless the lines say otherwise.
    private func part(
        _ range: String,
        _ lines: String = "ETag: \"a\"",
        for requestLines: String = "",
        length: Int? = nil,
        at received: Double = 0
    ) -> StoredHead {
        let ends = range.split(separator: "-").compactMap { Int($0) }
        var head = stored(
            "Content-Range: bytes \(range)/1000\nCache-Control: max-age=100\nDate: {0}\n\(lines)",
            status: 206,
            at: received,
            length: length ?? ends[1] - ends[0] + 1
        )
        head = StoredHead(
            key: head.key,
            status: 206,
            headerFields: head.headerFields,
            vary: VaryKey(head.headerFields, request: fields("Range: bytes=\(range)\n\(requestLines)"), status: 206),
            requestTime: head.requestTime,
            responseTime: head.responseTime,
            contentLength: head.contentLength
        )
        return head
    }

    @Test("parts with the same strong validator, length and variant are joined")
    func joined() throws {
        let all = [part("0-99"), part("200-299"), part("50-149", at: 1)]
        let joined = try #require(StoredParts.joined(among: all).first)
        #expect(joined.head.held == [0..<150, 200..<300])
        #expect(joined.head.status == 200 && joined.head.contentLength == 1_000 && !joined.head.isComplete)
        #expect(joined.head.headerFields[.contentRange] == nil)
        #expect(joined.newest == 2)
        #expect(joined.pieces.map(\.index) == [0, 2, 1])
        #expect(StoredParts.joined(among: all).count == 1)
    }

    @Test("all bytes make a complete response")
    func complete() throws {
        let joined = try #require(StoredParts.joined(among: [part("0-499"), part("400-999")]).first)
        #expect(joined.head.isComplete && joined.head.held == nil)
    }

    @Test(
        "parts that differ are not joined",
        arguments: [
            "ETag: \"b\"", "ETag: W/\"a\"", "", "Last-Modified: {-10}", "ETag: \"a\"\nVary: Range",
            "ETag: \"a\"\nVary: Accept",
        ]
    )
    func different(lines: String) {
        for pair in [[part("0-99"), part("100-199", lines)], [part("0-99", lines), part("100-199")]] {
            #expect(!StoredParts.joined(among: pair).contains { $0.pieces.count > 1 })
        }
    }

    @Test("a date is a strong validator if the response was made later", arguments: [(-10, 1), (0, 2)])
    func date(seconds: Int, count: Int) {
        let parts = ["0-99", "100-199"].map { part($0, "Last-Modified: {\(seconds)}") }
        #expect(StoredParts.joined(among: parts).count == count)
    }

    @Test("the fields are those of the newest part, with those that only older ones have, except for its age")
    func fieldsOfParts() throws {
        let parts = [
            part("0-99", "ETag: \"a\"\nContent-Type: video/mp4\nX-A: 1\nAge: 50"),
            part("100-199", "ETag: \"a\"\nX-A: 2", at: 5),
        ]
        let head = try #require(StoredParts.joined(among: parts).first).head
        #expect(head.headerFields[.contentType] == "video/mp4")
        #expect(head.headerFields.lines(of: "x-a") == ["2"])
        #expect(head.headerFields[.age] == nil)
        #expect(head.responseTime == moment(5))
    }

    @Test(
        "a part counts from its first byte on, by the bytes that it has",
        arguments: [(50, true), (100, true), (101, false)]
    )
    func length(count: Int, isUsed: Bool) {
        let joined = StoredParts.joined(among: [part("100-199", length: count)])
        #expect(joined.first?.head.held == (isUsed ? [100..<100 + count] : nil))
    }

    @Test(
        "missing bytes",
        arguments: [
            (0..<10, [], [0..<10]), (0..<10, [0..<10], []), (0..<10, [2..<4, 6..<8], [0..<2, 4..<6, 8..<10]),
            (3..<7, [2..<4, 6..<8], [4..<6]), (5..<6, [0..<2, 8..<9], [5..<6]), (2..<4, [0..<2], [2..<4]),
        ] as [(Range<Int>, [Range<Int>], [Range<Int>])]
    )
    func missing(range: Range<Int>, held: [Range<Int>], expected: [Range<Int>]) {
        #expect(StoredParts.missing(of: range, beside: held) == expected)
    }

    private func heads(_ parts: [StoredHead]) -> [StoredHead] {
        parts + StoredParts.joined(among: parts).map(\.head)
    }

    @Test("joined parts answer ranges that they have, and nothing else")
    func reuse() throws {
        let stored = heads([part("0-99"), part("100-199")])
        func decision(_ lines: String, _ method: HTTPRequest.Method = .get) -> ReuseDecision {
            ReuseDecision(for: request(lines, method: method), among: stored, now: moment(10))
        }
        let selection = try #require(decision("Range: bytes=50-149").selection)
        #expect(selection.content == .bytes(50..<150) && selection.index == 2)
        #expect(selection.response.status.code == 206)
        #expect(selection.response.headerFields[.contentRange] == "bytes 50-149/1000")
        #expect(decision("Range: bytes=0-0\nIf-Range: \"a\"").summary == "fresh")
        for other in ["Range: bytes=150-200", "Range: bytes=0-0\nIf-Range: \"b\"", "Range: bytes=-1", ""] {
            #expect(decision(other).summary == "forward uri-miss", "\(other)")
        }
        #expect(decision("Range: bytes=50-149", .head).summary == "forward uri-miss")
        #expect(decision("", .head).summary == "forward uri-miss")
    }

    @Test("a part answers the request that it was sent for, even if its place is not known")
    func repeated() throws {
        var part = part("100-199")
        part = part.under(part.key)
        let single = [part]
        let same = ReuseDecision(for: request("Range: bytes=100-199"), among: single, now: moment(10))
        #expect(same.selection?.content == .whole)
        #expect(same.selection?.response.headerFields[.contentRange] == "bytes 100-199/1000")
        let other = ReuseDecision(for: request("Range: bytes=100-198"), among: single, now: moment(10))
        #expect(other.summary == "forward uri-miss")
    }

    @Test("a completion asks for the missing bytes, under the condition that they are of the same representation")
    func completion() throws {
        let stored = heads([part("100-199"), part("300-999")])
        let whole = try #require(Completion(for: request(), among: stored))
        #expect(whole.missing == [0..<100, 200..<300] && whole.answer == .whole)
        #expect(whole.conditions(for: 0..<100) == ("bytes=0-99", "\"a\""))
        #expect(whole.conditions(for: 900..<1_000) == ("bytes=900-", "\"a\""))
        let range = try #require(Completion(for: request("Range: bytes=150-349"), among: stored))
        #expect(range.missing == [200..<300] && range.answer == .part(150..<350))
        for lines in [
            "Range: bytes=0-49", "If-None-Match: \"x\"", "If-Match: \"a\"", "Cache-Control: no-store",
            "Cache-Control: only-if-cached", "Range: bytes=100-199", "Range: bytes=1000-",
        ] {
            #expect(Completion(for: request(lines), among: stored) == nil, "\(lines)")
        }
        #expect(Completion(for: request(method: .head), among: stored) == nil)
    }

    @Test(
        "missing bytes are accepted of the same representation only",
        arguments: [
            ("Content-Range: bytes 0-99/1000\nETag: \"a\"", 206, true),
            ("Content-Range: bytes 0-49/1000\nETag: \"a\"", 206, true),
            ("Content-Range: bytes 0-99/*\nETag: \"a\"", 206, true),
            ("Content-Range: bytes 0-100/1000\nETag: \"a\"", 206, false),
            ("Content-Range: bytes 1-99/1000\nETag: \"a\"", 206, false),
            ("Content-Range: bytes 0-99/1001\nETag: \"a\"", 206, false),
            ("Content-Range: bytes 0-99/1000\nETag: \"b\"", 206, false),
            ("Content-Range: bytes 0-99/1000\nETag: W/\"a\"", 206, false),
            ("Content-Range: bytes 0-99/1000", 206, false), ("ETag: \"a\"", 206, false),
            ("Content-Range: bytes 0-99/1000\nETag: \"a\"\nContent-Encoding: gzip", 206, false),
            ("Content-Range: bytes 0-99/1000\nETag: \"a\"", 200, false),
        ]
    )
    func accepted(lines: String, status: Int, isAccepted: Bool) throws {
        let completion = try #require(Completion(for: request(), among: heads([part("100-199")])))
        #expect(completion.accepts(response(lines, status: status), for: 0..<100) == isAccepted)
    }

    @Test("the representation of a completion is found again, of its own variant only")
    func foundAgain() throws {
        let german = heads([part("0-99", "Last-Modified: {-10}\nVary: Accept-Language", for: "Accept-Language: de")])
        let english = heads([part("0-99", "Last-Modified: {-10}\nVary: Accept-Language", for: "Accept-Language: en")])
        let completion = try #require(Completion(for: request("Accept-Language: de"), among: german + english))
        #expect(completion.index(among: german + english) == 1)
        #expect(completion.index(among: english) == nil)
        #expect(completion.missing(from: 50, beside: german.last) == 100..<1_000)
        #expect(completion.missing(from: 50, beside: nil) == 50..<1_000)
        #expect(completion.missing(from: 1_000, beside: nil) == nil)
    }

    @Test("what has arrived of a response is a part of it, if it has a strong validator")
    func brokenOff() throws {
        let whole = stored("ETag: \"a\"\nVary: Accept", for: "Accept: a", length: 1_000)
        let part = try #require(whole.part(at: 0, length: 600))
        #expect(part.status == 206 && part.headerFields[.contentRange] == "bytes 0-599/1000")
        #expect(part.partSpan?.bytes == 0..<600)
        #expect(part.vary.without(.range) == whole.vary)
        let second = try #require(self.part("600-999").part(at: 100, length: 50))
        #expect(second.headerFields[.contentRange] == "bytes 700-749/1000")
        for head in [
            stored("", length: 1_000), stored("ETag: W/\"a\"", length: 1_000), stored("ETag: \"a\"", length: nil),
            stored("ETag: \"a\"", length: 600), stored("ETag: \"a\"", status: 404, length: 1_000),
        ] {
            #expect(head.part(at: 0, length: 600) == nil)
        }
        #expect(whole.part(at: 0, length: 0) == nil && whole.part(at: 0, length: 1_000) == nil)
    }

    @Test("a part of a broken-off response keeps its digest as that of the whole, and a part of a part does not")
    func digestOfBrokenOff() throws {
        let digest = "Content-Digest: sha-256=:AQ==:"
        let name = try #require(HTTPField.Name("Repr-Digest"))
        let part = try #require(stored("ETag: \"a\"\n\(digest)", length: 1_000).part(at: 0, length: 600))
        #expect(part.headerFields[name] == "sha-256=:AQ==:")
        let both = stored("ETag: \"a\"\n\(digest)\nRepr-Digest: sha-256=:Ag==:", length: 1_000)
        #expect(try #require(both.part(at: 0, length: 600)).headerFields[name] == "sha-256=:Ag==:")
        let ofPart = try #require(self.part("600-999", "ETag: \"a\"\n\(digest)").part(at: 100, length: 50))
        #expect(ofPart.headerFields[name] == nil)
    }

    @Test("no lengths and offsets of a server cause a trap", arguments: [Int.max, Int.max - 1, 0, -1])
    func extremes(number: Int) {
        let head = stored("ETag: \"a\"\nContent-Range: bytes 0-1/\(Int.max)", status: 206, length: number)
        _ = head.partSpan
        _ = head.part(at: max(0, number), length: number)
        let last = stored(
            "ETag: \"a\"\nContent-Range: bytes \(Int.max - 2)-\(Int.max - 1)/\(Int.max)",
            status: 206,
            length: 2
        )
        #expect(last.partSpan?.bytes.upperBound == .max)
        _ = last.part(at: number < 0 ? 0 : number, length: 2)
        _ = Completion(for: request("Range: bytes=0-\(Int.max)"), among: heads([last]))
    }
}

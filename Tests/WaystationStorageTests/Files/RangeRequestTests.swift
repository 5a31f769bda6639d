import Foundation
import HTTPTypes
import Testing
import WaystationStorage

/// `Range` fields for the ten bytes "abcdefghij"; `nil` stands for the whole file, "" for 416.
private let ranges: [(String, String?)] = [
    ("bytes=0-0", "a"), ("bytes=0-4", "abcde"), ("bytes=5-9", "fghij"), ("bytes=9-9", "j"), ("bytes=0-9", "abcdefghij"),
    ("bytes=5-", "fghij"), ("bytes=0-", "abcdefghij"), ("bytes=9-", "j"), ("bytes=5-100", "fghij"),
    ("bytes=0-99999999999999999999999", "abcdefghij"), ("bytes=-1", "j"), ("bytes=-10", "abcdefghij"),
    ("bytes=-11", "abcdefghij"), ("bytes=-99999999999999999999", "abcdefghij"), ("BYTES=0-1", "ab"),
    ("bytes= 0-1 ", "ab"), ("bytes=0-1,", "ab"), ("bytes=,\t0-1", "ab"), ("bytes=007-008", "hi"),
    // Not satisfiable by any byte
    ("bytes=10-", ""), ("bytes=10-10", ""), ("bytes=100-200", ""), ("bytes=-0", ""),
    ("bytes=99999999999999999999-", ""),
    // Several ranges: ignored as section 14.2 allows
    ("bytes=0-1,3-4", nil), ("bytes=0-0, -1", nil), ("bytes=0-,0-,0-,0-", nil), ("bytes=10-,0-1", nil),
    // Invalid: ignored
    ("bytes=5-4", nil), ("bytes=", nil), ("bytes", nil), ("bytes=-", nil), ("bytes=a-b", nil), ("bytes=0-b", nil),
    ("bytes=0x0-1", nil), ("bytes=+0-1", nil), ("bytes=0--1", nil), ("bytes=--1", nil), ("bytes=0 - 1", nil),
    ("bytes 0-1", nil), ("bytes=0", nil), ("=0-1", nil), ("", nil), ("bytes =0-1", nil), ("bytes=\u{661}-\u{662}", nil),
    // Other units: ignored
    ("items=0-1", nil), ("none", nil), ("octets=0-1", nil),
]

@Suite("Range requests (RFC 9110 section 14)")
struct RangeRequestTests {
    @Test("A Range field is honoured, ignored or refused as not satisfiable", arguments: ranges, [0, 1 << 20])
    func range(_ range: (field: String, expected: String?), residentFileLimit: Int) throws {
        let site = try TemporarySite(["a.txt": "abcdefghij"])
        let directory = try site.directory(.init(residentFileLimit: residentFileLimit))
        let whole = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        let request = FileRequest(path: "a.txt", headerFields: [.range: range.field])
        let answer = try #require(directory.answer(request).answer)
        switch range.expected {
        case nil:
            #expect(answer.status == .ok)
            #expect(answer.headerFields == whole.headerFields)
            #expect(try answer.body.text() == "abcdefghij")
        case "":
            #expect(answer.status == .rangeNotSatisfiable)
            #expect(answer.headerFields[.contentRange] == "bytes */10")
            #expect(answer.length == 0)
        case let expected?:
            let text = try answer.body.text()
            #expect(answer.status == .partialContent)
            #expect(text == expected)
            #expect(answer.headerFields[.contentLength] == String(expected.utf8.count))
            for name in [HTTPField.Name.eTag, .lastModified, .contentType, .acceptRanges] {
                #expect(answer.headerFields[name] == whole.headerFields[name])
            }
            let first = Int(try #require(text.utf8.first) - UInt8(ascii: "a"))
            let field = "bytes \(first)-\(first + text.utf8.count - 1)/10"
            #expect(answer.headerFields[.contentRange] == field)
        }
    }

    @Test(
        "An empty file satisfies no range but a suffix, which is answered with the whole file",
        arguments: [("bytes=0-", 416), ("bytes=-5", 200)]
    )
    func emptyFile(field: String, status: Int) throws {
        let site = try TemporarySite(["empty.txt": ""])
        let request = FileRequest(path: "empty.txt", headerFields: [.range: field])
        let answer = try #require(try site.directory().answer(request).answer)
        #expect(answer.status.code == status)
        #expect(answer.headerFields[.contentRange] == (status == 416 ? "bytes */0" : nil))
    }

    @Test("A range of bytes in memory is a copy whose indices begin at 0")
    func dataIndices() throws {
        let site = try TemporarySite(["a.txt": "abcdefghij"])
        let request = FileRequest(path: "a.txt", headerFields: [.range: "bytes=5-6"])
        guard case .data(let data)? = try site.directory().answer(request).answer?.body else {
            Issue.record("not in memory")
            return
        }
        #expect(data.startIndex == 0)
        #expect(data[0] == UInt8(ascii: "f"))
    }
}

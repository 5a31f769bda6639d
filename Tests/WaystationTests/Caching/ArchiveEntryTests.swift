import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import WaystationStorage

@testable import Waystation

@Suite("What the archive knows of a request")
struct ArchiveEntryTests {
    private let url = "https://a.example/x"

    private func entry(_ request: URLRequest) -> ArchiveEntry? { ArchiveEntry(request, canonical: url) }

    @Test("a plain GET has a key: method, URL, and the partition that everyone shares")
    func plain() throws {
        let entry = try #require(try entry(URLRequest("GET", url, ["Accept": "text/html"])))
        #expect(entry.key == RequestKey(method: "GET", url: url))
        #expect(entry.requestFields[.accept] == "text/html")
        #expect(try self.entry(URLRequest("GET", url, body: "")) != nil)
    }

    @Test("other methods have none", arguments: ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "QUERY"])
    func methods(method: String) throws {
        #expect(try entry(URLRequest(method, url)) == nil)
    }

    @Test("a GET with a body has none")
    func bodies() throws {
        #expect(try entry(URLRequest("GET", url, body: "x")) == nil)
        var request = try URLRequest("GET", url)
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(entry(request) == nil)
    }

    @Test(
        "a partial or conditional GET has none",
        arguments: [
            ("Range", "bytes=0-1"), ("If-Match", "*"), ("if-none-match", "\"a\""), ("If-Range", "\"a\""),
            ("If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
            ("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
        ]
    )
    func conditional(name: String, value: String) throws {
        #expect(try entry(URLRequest("GET", url, [name: value])) == nil)
    }

    @Test("each credential has a partition of its own, which reveals nothing of it")
    func partitions() throws {
        let credentials = ["Basic dXNlcjpwYXNz", "Bearer secret", "Bearer secret2"]
        let partitions = try credentials.map { credential in
            try #require(try entry(URLRequest("GET", url, ["Authorization": credential]))).key.partition
        }
        #expect(Set(partitions + [""]).count == 4)
        for partition in partitions {
            #expect(partition.utf8.count == 32)
            #expect(partition.allSatisfy { $0.isHexDigit })
        }
        let again = try entry(URLRequest("GET", url, ["authorization": "Bearer secret"]))
        #expect(again?.key.partition == partitions[1])
    }

    @Test("whole representations, and word that one is gone, are stored")
    func statuses() throws {
        let stored = try (100...599).filter { try ArchiveEntry.isStorable(.head($0)) }
        #expect(stored == [200, 203, 204, 410])
    }

    @Test(
        "privacy and selection by everything forbid storing, ages do not",
        arguments: [
            (["Cache-Control": "no-store"], false), (["cache-control": "max-age=60, NO-STORE "], false),
            (["Cache-Control": "private, max-age=0, must-revalidate"], true), (["Cache-Control": "no-cache"], true),
            (["Cache-Control": "x-no-store"], true), (["Expires": "0"], true), (["Pragma": "no-cache"], true),
            (["Vary": "*"], false), (["Vary": "Accept, *"], false), (["Vary": "Accept"], true),
        ]
    )
    func fields(fields: [String: String], isStorable: Bool) throws {
        #expect(try ArchiveEntry.isStorable(.head(200, fields)) == isStorable)
    }

    @Test("of several variants the one that the request's own fields choose is taken")
    func variants() throws {
        let german = try #require(try entry(URLRequest("GET", url, ["Accept-Language": "de"])))
        let record = try german.vary(of: .head(200, ["Vary": "accept-language, , Accept"]))
        #expect(record.fields.map(\.name.canonicalName) == ["accept", "accept-language"])
        #expect(record.fields.map(\.value) == [nil, "de"])
        #expect(record.matches(german.requestFields))
        let plain = try #require(try entry(URLRequest("GET", url)))
        #expect(!record.matches(plain.requestFields))
        #expect(try german.vary(of: .head(200)) == .none)
    }
}

import Foundation
import HTTPTypes
import Testing
import WaystationStorage

/// A request with conditions and its status; T stands for the tag of "abcdefghij", U for a wrong tag.
private struct Scenario: Sendable, CustomStringConvertible {
    let fields: [(HTTPField.Name, String)]
    let status: Int
    let rule: String

    init(_ status: Int, _ rule: String, _ fields: (HTTPField.Name, String)...) {
        self.fields = fields
        self.status = status
        self.rule = rule
    }

    var description: String { "\(rule): \(status)" }
}

private let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
private let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
private let later = "Sun, 06 Nov 1994 08:49:38 GMT"

private let scenarios = [
    // If-Match, section 13.1.1: strong comparison
    Scenario(200, "If-Match with the tag", (.ifMatch, "T")),
    Scenario(200, "If-Match with a list", (.ifMatch, "U, T")),
    Scenario(200, "If-Match with any", (.ifMatch, "*")),
    Scenario(412, "If-Match with another tag", (.ifMatch, "U")),
    Scenario(412, "If-Match with the weak tag", (.ifMatch, "W/T")),
    Scenario(412, "If-Match with no tag at all", (.ifMatch, "abc")),
    Scenario(412, "If-Match with the tag and what is none", (.ifMatch, "T, abc")),
    Scenario(412, "If-Match with the tag and any", (.ifMatch, "T, *")),
    Scenario(200, "If-Match with a list of empty elements", (.ifMatch, ", T ,,")),
    Scenario(412, "If-Match goes before If-None-Match", (.ifMatch, "U"), (.ifNoneMatch, "T")),
    Scenario(304, "If-Match holds, If-None-Match decides", (.ifMatch, "T"), (.ifNoneMatch, "T")),
    // If-Unmodified-Since, section 13.1.4
    Scenario(200, "If-Unmodified-Since its time", (.ifUnmodifiedSince, modified)),
    Scenario(200, "If-Unmodified-Since later", (.ifUnmodifiedSince, later)),
    Scenario(412, "If-Unmodified-Since earlier", (.ifUnmodifiedSince, earlier)),
    Scenario(200, "If-Unmodified-Since no date", (.ifUnmodifiedSince, "yesterday")),
    Scenario(200, "If-Match makes If-Unmodified-Since void", (.ifMatch, "T"), (.ifUnmodifiedSince, earlier)),
    // If-None-Match, section 13.1.2: weak comparison
    Scenario(304, "If-None-Match with the tag", (.ifNoneMatch, "T")),
    Scenario(304, "If-None-Match with the weak tag", (.ifNoneMatch, "W/T")),
    Scenario(304, "If-None-Match with a list", (.ifNoneMatch, "U , W/\"x\",T")),
    Scenario(304, "If-None-Match with a list of empty elements", (.ifNoneMatch, ",, T ,")),
    Scenario(304, "If-None-Match with any", (.ifNoneMatch, "*")),
    Scenario(304, "If-None-Match on two lines", (.ifNoneMatch, "U"), (.ifNoneMatch, "T")),
    Scenario(200, "If-None-Match with another tag", (.ifNoneMatch, "U")),
    Scenario(200, "If-None-Match with a comma in a tag", (.ifNoneMatch, "\"a,b\"")),
    Scenario(304, "If-None-Match after a comma in a tag", (.ifNoneMatch, "\"a,b\", T")),
    Scenario(200, "If-None-Match without quotes", (.ifNoneMatch, "abc")),
    Scenario(200, "If-None-Match with the tag and what is none", (.ifNoneMatch, "T, abc")),
    Scenario(200, "If-None-Match without a comma between", (.ifNoneMatch, "T U")),
    Scenario(200, "If-None-Match with any in a list", (.ifNoneMatch, ", *")),
    Scenario(200, "If-None-Match not closed", (.ifNoneMatch, "\"abc")),
    Scenario(200, "If-None-Match empty", (.ifNoneMatch, "")),
    Scenario(200, "If-None-Match with a small w", (.ifNoneMatch, "w/T")),
    Scenario(200, "If-None-Match makes If-Modified-Since void", (.ifNoneMatch, "U"), (.ifModifiedSince, later)),
    // If-Modified-Since, section 13.1.3
    Scenario(304, "If-Modified-Since its time", (.ifModifiedSince, modified)),
    Scenario(304, "If-Modified-Since later", (.ifModifiedSince, later)),
    Scenario(200, "If-Modified-Since earlier", (.ifModifiedSince, earlier)),
    Scenario(304, "If-Modified-Since in RFC 850 form", (.ifModifiedSince, "Sunday, 06-Nov-94 08:49:37 GMT")),
    Scenario(304, "If-Modified-Since in asctime form", (.ifModifiedSince, "Sun Nov  6 08:49:37 1994")),
    Scenario(200, "If-Modified-Since no date", (.ifModifiedSince, "0")),
    Scenario(200, "If-Modified-Since on two lines", (.ifModifiedSince, later), (.ifModifiedSince, later)),
    // If-Range, section 13.1.5
    Scenario(206, "If-Range with the tag", (.range, "bytes=0-1"), (.ifRange, "T")),
    Scenario(200, "If-Range with another tag", (.range, "bytes=0-1"), (.ifRange, "U")),
    Scenario(200, "If-Range with the weak tag", (.range, "bytes=0-1"), (.ifRange, "W/T")),
    Scenario(206, "If-Range with its time", (.range, "bytes=0-1"), (.ifRange, modified)),
    Scenario(200, "If-Range with an earlier time", (.range, "bytes=0-1"), (.ifRange, earlier)),
    Scenario(200, "If-Range with a later time", (.range, "bytes=0-1"), (.ifRange, later)),
    Scenario(200, "If-Range with neither", (.range, "bytes=0-1"), (.ifRange, "x")),
    Scenario(200, "If-Range that fails with a range that does not exist", (.range, "bytes=10-"), (.ifRange, "U")),
    Scenario(200, "If-Range without Range", (.ifRange, "T")),
    // Conditions come before the range
    Scenario(304, "If-None-Match goes before Range", (.range, "bytes=0-1"), (.ifNoneMatch, "T")),
    Scenario(412, "If-Match goes before Range", (.range, "bytes=10-"), (.ifMatch, "U")),
]

@Suite("Conditional requests (RFC 9110 section 13)")
struct ConditionalRequestTests {
    @Test("The preconditions of a request decide its status", arguments: scenarios, [0, 1 << 20])
    private func status(_ scenario: Scenario, residentFileLimit: Int) throws {
        let site = try TemporarySite(["a.txt": "abcdefghij"])
        site.touch("a.txt", seconds: 784_111_777, nanoseconds: 500_000_000)
        let directory = try site.directory(.init(residentFileLimit: residentFileLimit))
        let tag = try #require(directory.answer(FileRequest(path: "a.txt")).answer?.headerFields[.eTag])
        var request = FileRequest(path: "a.txt")
        for (name, value) in scenario.fields {
            let value =
                name == .ifModifiedSince || name == .ifUnmodifiedSince || value == modified
                    || value == earlier || value == later
                ? value : value.replacing("T", with: tag).replacing("U", with: "\"other\"")
            request.headerFields.append(HTTPField(name: name, value: value))
        }
        let answer = try #require(directory.answer(request).answer)
        #expect(answer.status.code == scenario.status)
        #expect(answer.length == [200: 10, 206: 2][scenario.status, default: 0])
    }

    @Test("A 304 has the ETag and no field that describes the representation, for GET and HEAD")
    func notModifiedFields() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory()
        let whole = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        for method in [HTTPRequest.Method.get, .head] {
            let request = FileRequest(method: method, path: "a.txt", headerFields: [.ifNoneMatch: "*"])
            let answer = try #require(directory.answer(request).answer)
            #expect(answer.status == .notModified)
            #expect(answer.headerFields == [.eTag: try #require(whole.headerFields[.eTag])])
        }
    }

    @Test("Last-Modified of a file from the future is the time of the answer")
    func futureFile() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        site.touch("a.txt", seconds: 2000)
        let directory = try OfflineDirectory(site.root, now: { FileTime(seconds: 1000) })
        let answer = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        #expect(answer.headerFields[.lastModified] == "Thu, 01 Jan 1970 00:16:40 GMT")
        // A file that was modified in the current second could have two versions with this time (section 8.8.2.2).
        let ranged = FileRequest(
            path: "a.txt",
            headerFields: [.range: "bytes=0-0", .ifRange: "Thu, 01 Jan 1970 00:16:40 GMT"]
        )
        #expect(directory.answer(ranged).answer?.status == .ok)
    }
}

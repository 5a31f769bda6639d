import HTTPTypes
import Testing
import WaystationHTTP

@Suite("Requests outside the protocol (RFC 9111 §4.2.4)")
struct OutOfBandTests {
    private static let old = stored("Cache-Control: max-age=1, must-revalidate, no-cache\nETag: \"a\"")

    @Test("get any stored response that matches, however old", arguments: [0, 100, 1e9])
    func anyAge(_ now: Double) throws {
        let selection = StoredSelection(ignoringFreshnessFor: request(), among: [Self.old], now: moment(now))
        #expect(try #require(selection).freshness.age == .seconds(now))
    }

    @Test(
        "have their conditions and ranges answered",
        arguments: [("Range: bytes=0-1", StoredAnswer.part(0..<2)), ("If-None-Match: \"a\"", .notModified)]
    )
    func answers(_ lines: String, _ expected: StoredAnswer) throws {
        let selection = StoredSelection(ignoringFreshnessFor: request(lines), among: [Self.old], now: moment(9))
        #expect(try #require(selection).answer == expected)
    }

    @Test(
        "get nothing if a cache may not answer the request, or if no response matches",
        arguments: [request(method: .post), request("If-Match: \"a\""), request("Accept: c/d")]
    )
    func nothing(_ asked: HTTPRequest) {
        let other = stored("ETag: \"a\"\nVary: Accept", for: "Accept: a/b")
        #expect(StoredSelection(ignoringFreshnessFor: asked, among: [other], now: moment(0)) == nil)
        #expect(Revalidation(alwaysFor: asked, among: [other], now: moment(0)) == nil)
    }

    @Test("can have a fresh response validated, which stands in if the network is unreachable")
    func always() throws {
        let fresh = stored("Cache-Control: max-age=60\nETag: \"a\"")
        let sent = try #require(Revalidation(alwaysFor: request(), among: [fresh], now: moment(1)))
        #expect(sent.isConditional && sent.reason == .request)
        #expect(sent.request.headerFields[.ifNoneMatch] == "\"a\"")
        #expect(!sent.request.headerFields.contains(.cacheControl))
        #expect(sent.standIn(for: .unreachable, now: moment(1)) != nil)
        #expect(sent.standIn(for: .status(503), now: moment(1)) == nil)
    }
}

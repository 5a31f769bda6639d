import Foundation
import Testing
import Waystation
import WaystationTesting

@Suite("Cache directives of a request, end to end (RFC 9111 §5.2.1)")
struct RequestDirectiveEndToEndTests {
    private static let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"a\""]

    private static func asking(
        _ rule: String,
        _ directives: String,
        after seconds: TimeInterval,
        _ outcome: TwoLoads.Outcome,
        of fields: KeyValuePairs<String, String> = fields
    ) -> TwoLoads {
        TwoLoads(rule, fields, outcome, after: seconds, asking: ["Cache-Control": directives])
    }

    @Test(
        "in Cache-Control are obeyed",
        arguments: [
            asking("§5.2.1.1", "max-age=10", after: 10, .hit),
            asking("§5.2.1.1", "max-age=10", after: 11, .validated(tag: "\"a\"")),
            asking("§5.2.1.1", "max-age=0", after: 1, .validated(tag: "\"a\"")),
            asking("§5.2.1.1", "max-age=1000", after: 60, .validated(tag: "\"a\"")),
            asking("§4.2.1", "max-age=recent", after: 1, .validated(tag: "\"a\"")),
            asking("§5.2.1.2", "max-stale", after: 10_000, .hit),
            asking("§5.2.1.2", "max-stale=40", after: 100, .hit),
            asking("§5.2.1.2", "max-stale=40", after: 101, .validated(tag: "\"a\"")),
            asking("§5.2.1.2", "max-age=5, max-stale=20", after: 20, .hit),
            asking(
                "§5.2.2.2",
                "max-stale",
                after: 100,
                .validated(tag: "\"a\""),
                of: ["Cache-Control": "max-age=60, must-revalidate", "ETag": "\"a\""]
            ),
            asking(
                "§5.2.2.4",
                "max-stale",
                after: 1,
                .validated(tag: "\"a\""),
                of: ["Cache-Control": "max-age=60, no-cache", "ETag": "\"a\""]
            ),
            asking("§5.2.1.3", "min-fresh=10", after: 50, .hit),
            asking("§5.2.1.3", "min-fresh=10", after: 51, .validated(tag: "\"a\"")),
            asking("§5.2.1.4", "no-cache", after: 1, .validated(tag: "\"a\"")),
            asking("§5.2.1.4", "no-cache, max-stale", after: 100, .validated(tag: "\"a\"")),
            asking("§5.2.1.7", "only-if-cached", after: 59, .hit),
            asking("§5.2.1.7", "only-if-cached", after: 60, .gatewayTimeout),
            asking("§5.2.1.7", "only-if-cached, max-stale", after: 60, .hit),
            asking("§5.2.1.7", "only-if-cached, no-cache", after: 1, .gatewayTimeout),
            asking("§5.2.3", "surprise=1", after: 59, .hit),
            asking("§5.2", "MAX-AGE=\"10\"", after: 11, .validated(tag: "\"a\"")),
        ]
    )
    func cacheControl(loads: TwoLoads) async throws { try await loads.check() }

    @Test(
        "in Pragma are obeyed when there is no Cache-Control (§5.4)",
        arguments: [
            TwoLoads("§5.4", fields, .validated(tag: "\"a\""), after: 1, asking: ["Pragma": "no-cache"]),
            TwoLoads("§5.4", fields, .hit, after: 1, asking: ["Pragma": "other"]),
            TwoLoads(
                "§5.4",
                fields,
                .hit,
                after: 1,
                asking: ["Pragma": "no-cache", "Cache-Control": "max-age=100"]
            ),
        ]
    )
    func pragma(loads: TwoLoads) async throws { try await loads.check() }

    @Test("no-store prevents storing the response, and a stored one must be confirmed (§5.2.1.5)")
    func noStore() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=60"]) }
        try await fixture.load()
        #expect(try await fixture.load("/", ["Cache-Control": "no-store"]).body == "2")
        #expect(fixture.seen(1, "Cache-Control") == "no-store")
        fixture.clock.advance(by: 100)
        #expect(try await fixture.load("/", ["Cache-Control": "no-store"]).body == "3")
        #expect(try await fixture.load().body == "4")
        #expect(fixture.origin.requestCount == 4)
    }
}

@Suite("A client's own conditions and ranges, end to end (RFC 9111 §4.3.2, RFC 9110 §13, §14)")
struct OwnConditionEndToEndTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let fields: [String: String]
        let status: Int
        let body: String
        var testDescription: String { "\(fields) is \(status)" }

        init(_ fields: [String: String], _ status: Int, _ body: String = "") {
            self.fields = fields
            self.status = status
            self.body = body
        }
    }

    private static let changed = CachingFixture.date(-1000)

    private func fixture() throws -> CachingFixture {
        try CachingFixture { _ in
            .ok(
                "0123456789",
                fields: ["Cache-Control": "max-age=3600", "ETag": "\"a\"", "Last-Modified": Self.changed]
            )
        }
    }

    @Test(
        "are answered by a fresh stored response, without the origin",
        arguments: [
            Case(["Range": "bytes=0-0"], 206, "0"),
            Case(["Range": "bytes=2-4"], 206, "234"),
            Case(["Range": "bytes=5-"], 206, "56789"),
            Case(["Range": "bytes=-3"], 206, "789"),
            Case(["Range": "bytes=8-100"], 206, "89"),
            Case(["Range": "bytes=0-"], 206, "0123456789"),
            Case(["Range": "bytes=10-"], 416),
            Case(["Range": "bytes=1-2,4-5"], 200, "0123456789"),
            Case(["Range": "bytes=5-1"], 200, "0123456789"),
            Case(["Range": "lines=1-2"], 200, "0123456789"),
            Case(["Range": "bytes=0-1", "If-Range": "\"a\""], 206, "01"),
            Case(["Range": "bytes=0-1", "If-Range": "\"b\""], 200, "0123456789"),
            Case(["Range": "bytes=0-1", "If-Range": "W/\"a\""], 200, "0123456789"),
            Case(["Range": "bytes=0-1", "If-Range": changed], 206, "01"),
            Case(["If-None-Match": "\"a\""], 304),
            Case(["If-None-Match": "W/\"a\""], 304),
            Case(["If-None-Match": "\"x\", \"a\""], 304),
            Case(["If-None-Match": "*"], 304),
            Case(["If-None-Match": "\"b\""], 200, "0123456789"),
            Case(["If-Modified-Since": changed], 304),
            Case(["If-Modified-Since": CachingFixture.date()], 304),
            Case(["If-Modified-Since": CachingFixture.date(-2000)], 200, "0123456789"),
            Case(["If-None-Match": "\"b\"", "If-Modified-Since": changed], 200, "0123456789"),
            Case(["If-None-Match": "\"a\"", "Range": "bytes=0-1"], 304),
        ]
    )
    func answered(by known: Case) async throws {
        let fixture = try fixture()
        try await fixture.load()
        let got = try await fixture.load("/", known.fields)
        #expect(got.status == known.status)
        #expect(got.body == known.body)
        #expect(got.isHit)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test(
        "that only the origin can evaluate go to the origin",
        arguments: [
            ["If-Match": "\"a\""], ["If-Unmodified-Since": CachingFixture.date()],
        ]
    )
    func forwarded(fields: [String: String]) async throws {
        let fixture = try fixture()
        try await fixture.load()
        #expect(try await fixture.load("/", fields).status == 200)
        #expect(fixture.origin.requestCount == 2)
        for (name, value) in fields { #expect(fixture.seen(1, name) == value) }
    }

    @Test(
        "are forwarded unchanged when nothing is stored, and a part does not answer for the whole (§3.3)",
        arguments: ["Range", "If-None-Match"]
    )
    func nothingStored(name: String) async throws {
        let value = name == "Range" ? "bytes=0-1" : "\"a\""
        let fixture = try CachingFixture { request in
            switch request.value(of: name) {
            case nil: .ok("0123456789", fields: ["Cache-Control": "max-age=60"])
            default:
                name == "Range"
                    ? .status(
                        206,
                        fields: ["Content-Range": "bytes 0-1/10", "Cache-Control": "max-age=60"],
                        body: Data("01".utf8)
                    ) : .status(304, fields: ["ETag": "\"a\"", "Cache-Control": "max-age=60"])
            }
        }
        #expect(try await fixture.load("/", [name: value]).status == (name == "Range" ? 206 : 304))
        #expect(fixture.seen(0, name) == value)
        #expect(try await fixture.load().body == "0123456789")
        // The part has no validator: the origin is asked for the rest, and then for the whole.
        #expect(fixture.origin.requestCount == (name == "Range" ? 3 : 2))
    }

    @Test("with a tag that the cache does not know are forwarded, and the client gets the 304 (§4.3.2)")
    func clientsTag() async throws {
        let fixture = try CachingFixture { request in
            let asked = request.value(of: "If-None-Match") ?? ""
            return asked.contains("\"b\"")
                ? .status(304, fields: ["ETag": "\"b\""])
                : .ok("one", fields: ["ETag": "\"a\"", "Cache-Control": "max-age=10"])
        }
        try await fixture.load()
        fixture.clock.advance(by: 20)
        let got = try await fixture.load("/", ["If-None-Match": "\"b\""])
        #expect(got.status == 304)
        let sent = try #require(fixture.seen(1, "If-None-Match"))
        #expect(sent.contains("\"a\"") && sent.contains("\"b\""))
    }
}

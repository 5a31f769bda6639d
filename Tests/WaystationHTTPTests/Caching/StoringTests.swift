import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var method: HTTPRequest.Method = .get
    var status = 200
    var request = ""
    var response = ""
    /// The reason for refusing it; nil if it is stored.
    var refusal: StoringRefusal?

    var testDescription: String {
        "§\(section) \(method) \(status) [\(request)] [\(response)] → \(refusal.map { "\($0)" } ?? "stored")"
    }
}

@Suite("Storing a response (RFC 9111 §3)")
struct StoringTests {
    private static let marked = "Cache-Control: max-age=60"

    private static let statuses: [Row] =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map { Row(section: "3, 4.2.2", status: $0) }
        + [
            201, 202, 205, 302, 303, 307, 400, 401, 403, 406, 408, 409, 411, 413, 415, 422, 426, 451, 500, 502,
            503, 504, 599,
        ]
        .flatMap {
            [
                Row(section: "3", status: $0, refusal: .notMarkedStorable),
                Row(section: "3", status: $0, response: marked),
            ]
        }
        + [100, 101, 102, 103, 199].map { Row(section: "3", status: $0, response: marked, refusal: .interim) }
        + [
            Row(section: "3.3", status: 206, response: marked, refusal: .partialContent),
            Row(
                section: "3.4",
                status: 206,
                response: marked + "\nContent-Range: bytes 0-1/2\nETag: \"a\"",
                refusal: .partialContent
            ),
            Row(
                section: "3.3",
                status: 206,
                request: "Range: bytes=0-1",
                response: marked + "\nContent-Range: bytes 0-1/2"
            ),
            Row(
                section: "3.3",
                status: 206,
                request: "Range: bytes=0-1",
                response: "Content-Range: bytes 0-1/2\nETag: \"a\""
            ),
            Row(
                section: "RFC 9110 §15.3.7",
                status: 206,
                request: "Range: bytes=0-1, 4-5",
                response: marked + "\nContent-Type: multipart/byteranges; boundary=a",
                refusal: .partialContent
            ),
            Row(
                section: "RFC 9110 §15.3.7",
                status: 206,
                request: "Range: bytes=0-1",
                response: marked + "\nContent-Range: bytes 0-1/2\nContent-Encoding: x-unknown",
                refusal: .partialContent
            ),
            Row(section: "3", status: 304, response: marked, refusal: .notModified),
            Row(section: "4", status: 412, response: marked, refusal: .conditional),
            Row(section: "4", status: 416, response: marked, refusal: .conditional),
        ]
        + [428, 429, 431, 511].flatMap {
            [
                Row(section: "RFC 6585 §3–6", status: $0, refusal: .uncacheableStatus),
                Row(section: "RFC 6585 §3–6", status: $0, response: marked, refusal: .uncacheableStatus),
                Row(
                    section: "RFC 6585 §3–6",
                    status: $0,
                    response: "Cache-Control: private",
                    refusal: .uncacheableStatus
                ),
            ]
        }

    private static let methods: [Row] =
        [.head, .options, .put, .delete, .trace, .patch, .connect].map {
            Row(section: "3", method: $0, response: marked, refusal: .method)
        }
        + [
            Row(section: "3", method: .post, response: marked, refusal: .method),
            Row(section: "RFC 9110 §9.3.3", method: .post, response: "Content-Location: /a", refusal: .method),
            Row(
                section: "RFC 9110 §9.3.3",
                method: .post,
                response: marked + "\nContent-Location: /b",
                refusal: .method
            ),
            Row(section: "RFC 9110 §9.3.3", method: .post, response: marked + "\nContent-Location: /a"),
            Row(
                section: "RFC 9110 §9.3.3",
                method: .post,
                response: "Expires: {60}\nContent-Location: https://example.com/a"
            ),
            Row(
                section: "RFC 9110 §9.3.3",
                method: .post,
                response: marked + "\nContent-Location: https://other.example/a",
                refusal: .method
            ),
            Row(
                section: "RFC 9110 §9.3.3",
                method: .post,
                status: 201,
                response: marked + "\nContent-Location: /a",
                refusal: .method
            ),
            Row(
                section: "RFC 9110 §9.3.3",
                method: .put,
                response: marked + "\nContent-Location: /a",
                refusal: .method
            ),
        ]

    private static let directives: [Row] = [
        Row(section: "3", response: marked),
        Row(section: "5.2.2.5", response: "Cache-Control: no-store", refusal: .responseNoStore),
        Row(section: "5.2.2.5", response: "Cache-Control: max-age=60, no-store", refusal: .responseNoStore),
        Row(section: "5.2.2.5", response: "Cache-Control: no-store, public, max-age=60", refusal: .responseNoStore),
        Row(
            section: "5.2.2.5",
            response: "Cache-Control: max-age=60\nCache-Control: NO-STORE",
            refusal: .responseNoStore
        ),
        Row(section: "5.2.1.5", request: "Cache-Control: no-store", response: marked, refusal: .requestNoStore),
        Row(
            section: "5.2.1.5",
            request: "Cache-Control: max-age=0, No-Store",
            response: marked,
            refusal: .requestNoStore
        ),
        Row(section: "5.2.1.4", request: "Cache-Control: no-cache", response: marked),
        Row(section: "5.2.1.1", request: "Cache-Control: max-age=0", response: marked),
        Row(section: "5.4", request: "Pragma: no-cache", response: marked),
        Row(section: "5.2.2.3", response: "Cache-Control: must-understand, no-store"),
        Row(section: "5.2.2.3", response: "Cache-Control: must-understand, no-store, max-age=60"),
        Row(section: "5.2.2.3", status: 404, response: "Cache-Control: must-understand, no-store"),
        Row(
            section: "5.2.2.3",
            status: 299,
            response: "Cache-Control: must-understand, no-store, max-age=60",
            refusal: .notUnderstood
        ),
        Row(
            section: "5.2.2.3",
            status: 299,
            response: "Cache-Control: must-understand, max-age=60",
            refusal: .notUnderstood
        ),
        Row(
            section: "5.2.2.3",
            status: 599,
            response: "Cache-Control: must-understand, max-age=60",
            refusal: .notUnderstood
        ),
        Row(section: "5.2.2.3", status: 299, response: marked),
        Row(section: "5.2.2.3", response: "Cache-Control: must-understand=1, no-store", refusal: .responseNoStore),
        Row(
            section: "5.2.2.3",
            request: "Cache-Control: no-store",
            response: "Cache-Control: must-understand, no-store",
            refusal: .requestNoStore
        ),
        Row(section: "5.2.2.9", status: 302, response: "Cache-Control: public"),
        Row(section: "5.2.2.7", status: 302, response: "Cache-Control: private"),
        Row(section: "5.2.2.7", status: 302, response: "Cache-Control: private=\"X-A\"", refusal: .notMarkedStorable),
        Row(section: "5.2.2.7", response: "Cache-Control: private, max-age=60"),
        Row(section: "5.3", status: 302, response: "Expires: {60}"),
        Row(section: "5.3", status: 302, response: "Expires: 0"),
        Row(section: "3", status: 302, response: "Cache-Control: s-maxage=60", refusal: .notMarkedStorable),
        Row(section: "3", response: "Cache-Control: s-maxage=60"),
        Row(section: "3", status: 302, response: "Cache-Control: must-revalidate", refusal: .notMarkedStorable),
        Row(section: "3", status: 302, response: "Cache-Control: no-cache", refusal: .notMarkedStorable),
        Row(section: "RFC 8246 §2", status: 302, response: "Cache-Control: immutable", refusal: .notMarkedStorable),
        Row(
            section: "RFC 5861 §3",
            status: 302,
            response: "Cache-Control: stale-while-revalidate=60",
            refusal: .notMarkedStorable
        ),
        Row(
            section: "RFC 9213 §2",
            status: 302,
            response: "CDN-Cache-Control: max-age=60",
            refusal: .notMarkedStorable
        ),
        Row(
            section: "RFC 9213 §2",
            response: "Cache-Control: no-store\nCDN-Cache-Control: max-age=60",
            refusal: .responseNoStore
        ),
        Row(section: "5.2.2.4", response: "Cache-Control: no-cache"),
        Row(section: "5.2.2.1", response: "Cache-Control: max-age=0"),
        Row(section: "4.2.1", status: 302, response: "Cache-Control: max-age=abc"),
        Row(section: "3.5", request: "Authorization: Basic eDp5", response: marked),
        Row(section: "3.5", request: "Authorization: Basic eDp5"),
        Row(section: "3", response: marked + "\nSet-Cookie: a=b"),
        Row(section: "3", request: "Cookie: a=b", response: marked),
        Row(section: "3", request: "Range: bytes=0-1", response: marked),
        Row(section: "3", request: "If-None-Match: \"x\"", response: marked),
        Row(section: "4.1", response: marked + "\nVary: *", refusal: .variesOnEverything),
        Row(section: "4.1", response: marked + "\nVary: Accept, *", refusal: .variesOnEverything),
        Row(section: "4.1", response: marked + "\nVary: Accept\nVary: *", refusal: .variesOnEverything),
        Row(section: "4.1", response: marked + "\nVary: Accept Encoding", refusal: .variesOnEverything),
        Row(section: "4.1", response: marked + "\nVary: Accept"),
    ]

    @Test("the status code decides", arguments: statuses)
    private func statusesHold(_ row: Row) { check(row) }

    @Test("the method decides", arguments: methods)
    private func methodsHold(_ row: Row) { check(row) }

    @Test("directives and fields decide", arguments: directives)
    private func directivesHold(_ row: Row) { check(row) }

    private func check(_ row: Row) {
        let decision = StoringDecision(
            of: response(row.response, status: row.status),
            to: request(row.request, method: row.method),
            requestTime: moment(0),
            responseTime: moment(1)
        )
        switch decision {
        case .store: #expect(row.refusal == nil)
        case .refuse(let refusal): #expect(refusal == row.refusal)
        }
    }

    private func kept(_ lines: String, request asked: HTTPRequest = request()) throws -> StoredHead {
        let decision = StoringDecision(
            of: response(lines),
            to: asked,
            requestTime: moment(0),
            responseTime: moment(1),
            contentLength: 7
        )
        guard case .store(let head) = decision else {
            throw StoringExpected(decision: "\(decision)")
        }
        return head
    }

    private struct StoringExpected: Error { var decision: String }

    @Test("§3.3: a response that was cut off is refused")
    func incomplete() {
        let decision = StoringDecision(
            of: response(Self.marked),
            to: request(),
            requestTime: moment(0),
            responseTime: moment(1),
            isComplete: false
        )
        #expect(decision == .refuse(.incomplete))
    }

    @Test("RFC 9110 §5.4: a response with too many field lines is refused, and updates nothing")
    func tooManyFields() throws {
        let name = try #require(HTTPField.Name("X-A"))
        let many = HTTPFields(repeatElement(HTTPField(name: name, value: "1"), count: 16_385))
        let decision = StoringDecision(
            of: HTTPResponse(status: .ok, headerFields: many),
            to: request(),
            requestTime: moment(0),
            responseTime: moment(1)
        )
        #expect(decision == .refuse(.tooManyFields))
        var answer = response("ETag: \"a\"", status: 304)
        answer.headerFields.append(contentsOf: many)
        let updated = try outcome(answer, of: [stored("ETag: \"a\"")]).firstUpdate
        #expect(try !#require(updated).headerFields.contains(name))
    }

    @Test("§2: a target without scheme or authority is refused")
    func target() {
        let asked = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/a")
        let decision = StoringDecision(
            of: response(Self.marked),
            to: asked,
            requestTime: moment(0),
            responseTime: moment(1)
        )
        #expect(decision == .refuse(.target))
    }

    @Test("§3: a status code that the rules list as heuristically cacheable is stored without a mark")
    func agreedStatus() {
        var rules = CachingRules()
        rules.heuristicStatuses.insert(302)
        let decision = StoringDecision(
            of: response(status: 302),
            to: request(),
            requestTime: moment(0),
            responseTime: moment(1),
            rules: rules
        )
        guard case .store = decision else {
            Issue.record("\(decision)")
            return
        }
    }

    @Test(
        "§3.1: fields that belong to the connection or to a proxy are not stored",
        arguments: [
            "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Transfer-Encoding: chunked", "Upgrade: h2c",
            "TE: trailers", "Proxy-Connection: close", "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: a",
            "Proxy-Authorization: Basic x",
        ]
    )
    func connectionFields(_ line: String) throws {
        let fields = try kept(Self.marked + "\nConnection: X-Hop, close\n" + line).headerFields
        let name = try #require(HTTPField.Name(String(line.prefix { $0 != ":" })))
        #expect(!fields.contains(name))
    }

    @Test(
        "§3.1: every other field is stored, including unknown ones",
        arguments: [
            "X-Unknown: 1", "Set-Cookie: a=b", "ETag: \"a\"", "Content-Type: text/plain", "Content-Encoding: gzip",
            "Content-Length: 7", "Warning: 199 - x", "Trailer: X-T", "Cache-Status: a; hit",
            "CDN-Cache-Control: max-age=1",
        ]
    )
    func otherFields(_ line: String) throws {
        let fields = try kept(Self.marked + "\n" + line).headerFields
        let name = try #require(HTTPField.Name(String(line.prefix { $0 != ":" })))
        #expect(fields[name] == String(line.drop { $0 != ":" }.dropFirst(2)))
    }

    @Test(
        "§3.3, RFC 9112 §6.3: an uncertain length is refused; a repeated length counts once",
        arguments: [
            ("Content-Length: 5\nContent-Length: 6", true), ("Content-Length: 5, 6", true),
            ("Content-Length: 5abc", true),
            ("Content-Length: 0x5", true), ("Content-Length: -5", true), ("Content-Length: +5", true),
            ("Content-Length: 5,", true), ("Content-Length: 99999999999999999999", true),
            ("Content-Length: 5\nTransfer-Encoding: chunked", true), ("Transfer-Encoding: chunked", false),
            ("Content-Length: 5\nContent-Length: 5", false), ("Content-Length: 5 , 05", false), ("", false),
        ]
    )
    func uncertainLength(_ lines: String, isRefused: Bool) {
        let decision = StoringDecision(
            of: response(Self.marked + "\n" + lines),
            to: request(),
            requestTime: moment(0),
            responseTime: moment(1)
        )
        #expect((decision == .refuse(.uncertainLength)) == isRefused)
    }

    @Test("§3.1: several lines of a field stay separate")
    func severalLines() throws {
        let fields = try kept(Self.marked + "\nSet-Cookie: a=b\nSet-Cookie: c=d").headerFields
        #expect(fields[values: .setCookie] == ["a=b", "c=d"])
    }

    @Test("§3.1, §5.2.2.4: fields of no-cache=\"…\" are not stored, those of private=\"…\" are")
    func qualified() throws {
        let lines =
            "Cache-Control: max-age=60, no-cache=\"Set-Cookie\", private=\"X-User\"\nSet-Cookie: a=b\nX-User: me"
        let fields = try kept(lines).headerFields
        #expect(!fields.contains(.setCookie))
        #expect(fields[try #require(HTTPField.Name("X-User"))] == "me")
    }

    @Test(
        "RFC 9110 §6.6.1: a missing or invalid Date becomes the time of receipt; a valid one stays",
        arguments: [("", 1), ("Date: yesterday", 1), ("Date: {-9}", -9)]
    )
    func date(_ line: String, _ expected: Int) throws {
        let head = try kept(Self.marked + "\n" + line)
        #expect(head.headerFields[.date] == fields("Date: {\(expected)}")[.date])
        #expect(head.date == moment(Double(expected)))
    }

    @Test("a head has a status that HTTP can express, whatever a store has read", arguments: [-1, 1_000, Int.max])
    func status(read: Int) throws {
        let head = StoredHead(
            key: RequestKey(method: "GET", url: "https://example.com/a"),
            status: read,
            headerFields: fields("Cache-Control: max-age=60"),
            requestTime: moment(0),
            responseTime: moment(0)
        )
        #expect(head.status == (read < 0 ? 0 : 999))
        let decision = ReuseDecision(for: request(), among: [head], now: moment(1))
        #expect(try #require(decision.selection).response.status.code == head.status)
    }

    @Test("a head has its URL, times, length and variant")
    func head() throws {
        let head = try kept(
            Self.marked + "\nVary: Accept",
            request: request("Accept: text/html", url: "https://example.com/a?b")
        )
        #expect(head.key.url == "https://example.com/a?b")
        #expect(head.key.method == "GET")
        #expect(head.requestTime == moment(0))
        #expect(head.responseTime == moment(1))
        #expect(head.contentLength == 7)
        #expect(head.isComplete)
        #expect(head.vary.nominees.map(\.value) == ["text/html"])
    }
}

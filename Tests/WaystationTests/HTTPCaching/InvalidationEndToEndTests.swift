import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationStorage
import WaystationTesting

@Suite("Invalidation of stored responses by unsafe requests, end to end (RFC 9111 §4.4)")
struct InvalidationEndToEndTests {
    struct Change: CustomTestStringConvertible, Sendable {
        var method = "POST"
        var status = 200
        var fields: KeyValuePairs<String, String> = [:]
        /// The target that is loaded before and after the change.
        var target = "/page"
        let drops: Bool
        var testDescription: String {
            "\(method) with \(status) \(fields.map { "\($0): \($1)" }) \(drops ? "drops" : "keeps") \(target)"
        }
    }

    @Test(
        "depends on method, status, Location and Content-Location",
        arguments: ["POST", "PUT", "PATCH", "DELETE", "MKCOL", "X-UNKNOWN"].map { Change(method: $0, drops: true) }
            + ["OPTIONS", "PROPFIND", "REPORT", "QUERY"].map { Change(method: $0, drops: false) }
            + [201, 202, 204, 303].map { Change(status: $0, drops: true) }
            + [400, 403, 404, 409, 412, 500, 503].map { Change(status: $0, drops: false) }
            + [
                Change(fields: ["Location": "/other"], target: "/other", drops: true),
                Change(status: 201, fields: ["Location": "/other"], target: "/other", drops: true),
                Change(fields: ["Content-Location": "/other"], target: "/other", drops: true),
                Change(fields: ["Location": "other"], target: "/other", drops: true),
                Change(fields: ["Location": "http://other.example/other"], target: "/other", drops: false),
                Change(status: 404, fields: ["Location": "/other"], target: "/other", drops: false),
                Change(target: "/unrelated", drops: false),
                Change(target: "/page?a=b", drops: false),
            ]
    )
    func change(known: Change) async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            request.method == "GET"
                ? .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"])
                : .status(known.status, fields: known.fields)
        }
        try await fixture.load(known.target)
        let body = known.method == "POST" ? Data("x".utf8) : nil
        #expect(try await fixture.load("/page", method: known.method, body: body).status == known.status)
        let again = try await fixture.load(known.target)
        #expect(again.body == (known.drops ? "2" : "1"))
        #expect(again.isHit != known.drops)
        #expect(fixture.origin.requests.map(\.method) == ["GET", known.method] + (known.drops ? ["GET"] : []))
    }

    @Test("a POST's 303 drops the responses of both URLs, and is followed by GET (RFC 9110 §15.4.4)")
    func seeOther() async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            request.method == "POST"
                ? .redirect(303, to: "/list")
                : .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"])
        }
        try await fixture.load("/form")
        try await fixture.load("/list")
        #expect(try await fixture.load("/form", method: "POST", body: Data("x".utf8)).body == "3")
        #expect(try await fixture.load("/form").body == "4")
        #expect(
            fixture.asked.prefix(4).map { $0 } == ["GET /form", "GET /list", "POST /form", "GET /list"]
        )
    }

    @Test("a POST's response with a lifetime and the POST's own location answers GETs (RFC 9110 §9.3.3)")
    func stored() async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            .ok(
                "\(request.method) \(count.next())",
                fields: [
                    "Cache-Control": "max-age=60",
                    "Content-Location": request.target == "/other" ? "/" : request.target,
                ]
            )
        }
        func post(_ target: String) async throws -> String {
            try await fixture.load(target, method: "POST", body: Data("x".utf8)).body
        }
        #expect(try await fixture.load("/a").body == "GET 1")
        #expect(try await post("/a") == "POST 2")
        let hit = try await fixture.load("/a")
        #expect(hit.body == "POST 2")
        #expect(hit.isHit)
        // Not for another login, nor at another location.
        #expect(try await fixture.load("/a", ["Authorization": "Bearer 1"]).body == "GET 3")
        #expect(try await post("/other") == "POST 4")
        #expect(try await fixture.load("/other").body == "GET 5")
        #expect(try await fixture.load("/").body == "GET 6")
        #expect(try await post("/a") == "POST 7")
        #expect(try await fixture.load("/a").body == "POST 7")
    }

    @Test("drops all variants, and those of every login")
    func everything() async throws {
        let fixture = try CachingFixture { _ in .ok("x", fields: ["Cache-Control": "max-age=60", "Vary": "X-Kind"]) }
        let requests = [["X-Kind": "a"], ["X-Kind": "b"], ["Authorization": "Bearer 1"]]
        for fields in requests { try await fixture.load("/", fields) }
        try await fixture.load(method: "POST", body: Data("x".utf8))
        for fields in requests { #expect(try await !fixture.load("/", fields).isHit) }
        #expect(fixture.origin.requestCount == 7)
    }

    @Test("drops the responses of URLs with and without user information, and so does a removal", arguments: 0..<5)
    func userInformation(way: Int) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"]) }
        let plain = fixture.origin.url("/page")
        let named = try #require(
            URL(string: plain.absoluteString.replacing("http://", with: "http://anna:secret@"))
        )
        func load(_ url: URL, method: String = "GET") async throws -> String {
            var request = URLRequest(url: url)
            request.httpMethod = method
            let (data, _) = try await fixture.session.data(for: request)
            await fixture.cache.flush()
            return String(decoding: data, as: UTF8.self)
        }
        // Each login has a response of its own.
        for (url, body) in [(plain, "1"), (named, "2"), (plain, "1"), (named, "2")] {
            #expect(try await load(url) == body)
        }
        let stored = try StoreInspector(directory: fixture.cache.directory).entries()
        #expect(stored.map(\.key.url) == [plain.absoluteString, plain.absoluteString])
        switch way {
        case 0: _ = try await load(plain, method: "POST")
        case 1: _ = try await load(named, method: "POST")
        case 2: try await fixture.cache.remove(plain)
        case 3: try await fixture.cache.remove(named)
        default: try await fixture.cache.remove(host: "127.0.0.1")
        }
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("remove(host:) takes a host in any spelling", arguments: ["127.0.0.1", "0x7F.1", "%3127.0.0.1"])
    func spelledHost(host: String) async throws {
        let fixture = try CachingFixture { _ in .ok(fields: ["Cache-Control": "max-age=3600"]) }
        try await fixture.load()
        #expect(try await fixture.cache.remove(host: host) == 1)
        #expect(try await fixture.cache.remove(host: "::1") == 0)
    }

    @Test(
        "remove(host:) refuses text that is no host alone, and says what to use",
        arguments: ["127.0.0.1:PORT", "127.0.0.1:80", "127.0.0.1:", "[::1]:80", "http://127.0.0.1/", "127.0.0.1/a", ""]
    )
    func notAHost(text: String) async throws {
        let fixture = try CachingFixture { _ in .ok(fields: ["Cache-Control": "max-age=3600"]) }
        try await fixture.load()
        let text = text.replacing("PORT", with: "\(try #require(fixture.origin.url("/").port))")
        let error = await #expect(throws: WaystationError.self) { try await fixture.cache.remove(host: text) }
        #expect("\(try #require(error))".hasPrefix("invalidHost: “\(text)” is not a host"))
        #expect(error?.message.contains("remove(prefix:)") == true)
        #expect(await fixture.cache.statistics.entries == 1)
    }

    /// A page that was changed while a load waits at a gate for the response `1`; later loads get `2`, `3` and so on.
    private func changedDuringLoad() async throws -> (
        fixture: CachingFixture, early: Task<String, any Error>, gate: ScriptedOrigin.Gate
    ) {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { request in
            guard request.method == "GET" else { return .ok() }
            let fields: KeyValuePairs = ["Cache-Control": "max-age=3600"]
            // The scripts of two connections may run in another order than their requests have come. Request 1 is the
            // change.
            guard request.order == 0 else { return .ok("\(request.order)", fields: fields) }
            return .ok("1", fields: fields).held(at: gate)
        }
        let early = Task { try await fixture.load().body }
        await fixture.origin.waitForRequests(1)
        try await fixture.load(method: "POST", body: Data("x".utf8))
        return (fixture, early, gate)
    }

    @Test("a response that was requested before the change is not stored after it")
    func underWay() async throws {
        let (fixture, early, gate) = try await changedDuringLoad()
        gate.open()
        #expect(try await early.value == "1")
        #expect(try await fixture.load().body == "2")
    }

    @Test("a load after the change does not wait for a request from before it")
    func joinsNothingOlder() async throws {
        let (fixture, early, gate) = try await changedDuringLoad()
        #expect(try await fixture.load().body == "2")
        gate.open()
        #expect(try await early.value == "1")
        #expect(try await fixture.load().body == "2")
        #expect(fixture.origin.requests.map(\.method) == ["GET", "POST", "GET"])
    }
}

@Suite("Unsafe requests that Foundation sends itself")
struct HandedBackChangeTests {
    @Test("an upload makes what is stored invalid (§4.4)")
    func upload() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"]) }
        try await fixture.load()
        var request = URLRequest(url: fixture.origin.url())
        request.httpMethod = "PUT"
        _ = try await fixture.session.upload(for: request, from: Data("new".utf8))
        await fixture.cache.flush()
        #expect(fixture.origin.requests.map(\.method) == ["GET", "PUT"])
        #expect(try await fixture.load().body == "3")
    }

    @Test("a request with a body stream invalidates the stored response (§4.4)")
    func stream() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600"]) }
        try await fixture.load()
        var request = URLRequest(url: fixture.origin.url())
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("new".utf8))
        _ = try await fixture.session.data(for: request)
        await fixture.cache.flush()
        #expect(try await fixture.load().body == "3")
    }
}

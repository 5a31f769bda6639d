import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("Validation, end to end (RFC 9111 §4.3)")
struct ValidationEndToEndTests {
    private static let changed = CachingFixture.date(-1000)

    @Test(
        "uses the stored validators",
        arguments: [
            TwoLoads("§4.3.1", ["Cache-Control": "max-age=1", "ETag": "\"a\""], .validated(tag: "\"a\""), after: 9),
            TwoLoads(
                "§4.3.1",
                ["Cache-Control": "max-age=1", "ETag": "W/\"a\""],
                .validated(tag: "W/\"a\""),
                after: 9
            ),
            TwoLoads(
                "§4.3.1",
                ["Cache-Control": "max-age=1", "Last-Modified": changed],
                .validated(since: changed),
                after: 9
            ),
            TwoLoads(
                "§4.3.1",
                ["Cache-Control": "max-age=1", "ETag": "\"a\"", "Last-Modified": changed],
                .validated(tag: "\"a\"", since: changed),
                after: 9
            ),
            TwoLoads("§5.2.2.4", ["Cache-Control": "no-cache", "ETag": "\"a\""], .validated(tag: "\"a\"")),
            TwoLoads(
                "§5.2.2.4",
                ["Cache-Control": "no-cache, max-age=60", "Last-Modified": changed],
                .validated(since: changed)
            ),
            TwoLoads("§5.2.2.4", ["Cache-Control": "no-cache"], .loaded),
            TwoLoads(
                "§5.2.2.2",
                ["Cache-Control": "max-age=1, must-revalidate", "ETag": "\"a\""],
                .validated(tag: "\"a\""),
                after: 9
            ),
            TwoLoads(
                "§4.3.1",
                ["Cache-Control": "max-age=1", "ETag": "unquoted"],
                .validated(tag: "unquoted"),
                after: 9
            ),
        ]
    )
    func validators(loads: TwoLoads) async throws { try await loads.check() }

    @Test("a 304 updates the fields that it has and keeps the others (§3.2, §4.3.4)", arguments: [true, false])
    func updates(hasTag: Bool) async throws {
        let fixture = try CachingFixture { request in
            guard request.value(of: "If-None-Match") != nil else {
                return .ok(
                    "body",
                    fields: [
                        "Cache-Control": "max-age=10", "ETag": "\"a\"", "X-Changed": "1", "X-Kept": "1",
                        "Content-Type": "text/plain",
                    ]
                )
            }
            return hasTag
                ? .status(304, fields: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "X-Changed": "2"])
                : .status(304, fields: ["Cache-Control": "max-age=60", "X-Changed": "2"])
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        try await fixture.load()
        fixture.clock.advance(by: 59)
        let hit = try await fixture.load()
        #expect(hit.isHit)
        #expect(hit.body == "body")
        #expect(hit["X-Changed"] == "2")
        #expect(hit["X-Kept"] == "1")
        #expect(hit["Content-Type"] == "text/plain")
        #expect(hit["Content-Length"] == "4")
        #expect(fixture.asked == ["GET /", "GET / \"a\""])
    }

    @Test("a 304 with another tag leads to a second request without conditions (§4.3.4)")
    func foreignNotModified() async throws {
        let fixture = try CachingFixture { request in
            request.value(of: "If-None-Match") == nil
                ? .ok("new", fields: ["Cache-Control": "max-age=10", "ETag": "\"a\""])
                : .status(304, fields: ["ETag": "\"other\""])
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        let got = try await fixture.load()
        #expect(got.status == 200)
        #expect(got.body == "new")
        #expect(fixture.asked == ["GET /", "GET / \"a\"", "GET /"])
    }

    @Test("a full response replaces the stored one (§4.3.3)", arguments: [200, 404, 410])
    func replaced(status: Int) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            let number = count.next()
            return .status(
                number == 1 ? 200 : status,
                fields: ["Cache-Control": "max-age=10", "ETag": "\"\(number)\""],
                body: Data("\(number)".utf8)
            )
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load().body == "2")
        let hit = try await fixture.load()
        #expect(hit.body == "2")
        #expect(hit.status == status)
        #expect(hit.isHit)
        #expect(fixture.asked == ["GET /", "GET / \"1\""])
    }

    @Test(
        "a server error is passed on, and does not replace the stored response (§4.3.3)",
        arguments: [500, 502, 503, 504]
    )
    func serverError(status: Int) async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            switch count.next() {
            case 1: .ok("good", fields: ["Cache-Control": "max-age=10", "ETag": "\"a\""])
            case 2: .status(status, fields: ["Cache-Control": "max-age=3600"])
            default: .status(304, fields: ["ETag": "\"a\"", "Cache-Control": "max-age=10"])
            }
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load().status == status)
        let good = try await fixture.load()
        #expect(good.status == 200)
        #expect(good.body == "good")
        #expect(fixture.asked == ["GET /", "GET / \"a\"", "GET / \"a\""])
    }

    @Test("a new response with no-store removes the stored one (§4.3.3)")
    func noLongerStorable() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            let number = count.next()
            return .ok(
                "\(number)",
                fields: ["Cache-Control": number == 1 ? "max-age=10" : "no-store", "ETag": "\"a\(number)\""]
            )
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load().body == "2")
        fixture.origin.stop()
        await #expect(throws: URLError.self) { try await fixture.load() }
    }

    @Test(
        "a 304 with no-store or with Vary: * answers its request, and removes the stored response (§4.1, §5.2.2.5)",
        arguments: [
            ["Cache-Control": "no-store"], ["Cache-Control": "max-age=60", "Vary": "*"],
            ["Cache-Control": "max-age=60", "Vary": "a b"],
        ] as [KeyValuePairs<String, String>]
    )
    func confirmedForTheLastTime(fields: KeyValuePairs<String, String>) async throws {
        let fixture = try CachingFixture { request in
            request.value(of: "If-None-Match") == nil
                ? .ok(
                    "body",
                    fields: [
                        "Cache-Control": "max-age=10", "ETag": "\"a\"",
                        "Last-Modified": CachingFixture.date(-100 * 86_400),
                    ]
                ) : .status(304, fields: fields)
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        let confirmed = try await fixture.load()
        #expect(confirmed.status == 200)
        #expect(confirmed.body == "body")
        #expect(try await !fixture.load().isHit)
        #expect((0..<3).map { fixture.seen($0, "If-None-Match") } == [nil, "\"a\"", nil])
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("a 304 for a request with no-store does not change the stored response (§5.2.1.5)")
    func confirmedForOneRequest() async throws {
        let fixture = try CachingFixture { request in
            request.value(of: "If-None-Match") == nil
                ? .ok("body", fields: ["Cache-Control": "max-age=10", "ETag": "\"a\""])
                : .status(304, fields: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load("/", ["Cache-Control": "no-store"]).body == "body")
        #expect(try await !fixture.load().isHit)
        #expect(try await fixture.load().isHit)
        #expect(fixture.asked == ["GET /", "GET / \"a\"", "GET / \"a\""])
    }

    @Test(
        "a refusal is passed on, and does not replace the stored response, even if it may be stored (§4.3.3)",
        arguments: [401, 403, 429],
        [URLRequest.CachePolicy.useProtocolCachePolicy, .reloadIgnoringLocalCacheData]
    )
    func refusal(status: Int, policy: URLRequest.CachePolicy) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1
                ? .ok("good", fields: ["Cache-Control": "max-age=10", "ETag": "\"a\""])
                : .status(status, fields: ["Cache-Control": "private, max-age=0"])
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        #expect(try await fixture.load(policy: policy).status == status)
        fixture.origin.stop()
        let good = try await fixture.load()
        #expect(good.status == 200)
        #expect(good.body == "good")
    }

    @Test("a HEAD with the same validators freshens the stored response (§4.3.5)")
    func headFreshens() async throws {
        let fixture = try CachingFixture { request in
            .ok(
                "body",
                fields: [
                    "Cache-Control": request.method == "HEAD" ? "max-age=60" : "max-age=10", "ETag": "\"a\"",
                    "X-From": request.method, "X-\(request.method)": "1",
                ]
            )
        }
        try await fixture.load()
        fixture.clock.advance(by: 20)
        let head = try await fixture.load(method: "HEAD", ["Cache-Control": "no-cache"])
        #expect(head.status == 200)
        // With all fields that a hit has from now on.
        #expect(head["X-From"] == "HEAD")
        #expect(head["X-GET"] == "1")
        fixture.clock.advance(by: 30)
        let hit = try await fixture.load()
        #expect(hit.body == "body")
        #expect(hit.isHit)
        #expect(hit["X-From"] == "HEAD")
        #expect(fixture.origin.requests.map(\.method) == ["GET", "HEAD"])
    }

    @Test("a HEAD with other validators invalidates the stored response (§4.3.5)")
    func headInvalidates() async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            .ok("\(count.next())", fields: ["Cache-Control": "max-age=3600", "ETag": "\"\(request.method)\""])
        }
        try await fixture.load()
        try await fixture.load(method: "HEAD", ["Cache-Control": "no-cache"])
        #expect(try await fixture.load().body == "3")
        #expect(fixture.origin.requests.map(\.method) == ["GET", "HEAD", "GET"])
    }

    @Test("a HEAD with another length invalidates the stored response (§4.3.5)")
    func headTellsLength() async throws {
        let fixture = try CachingFixture { request in
            request.method == "HEAD"
                ? .ok("changed", fields: ["Cache-Control": "max-age=60"])
                : .ok("body", fields: ["Cache-Control": "max-age=10"])
        }
        try await fixture.load()
        try await fixture.load(method: "HEAD", ["Cache-Control": "no-cache"])
        #expect(try await !fixture.load().isHit)
        #expect(fixture.origin.requests.map(\.method) == ["GET", "HEAD", "GET"])
    }

    @Test("a HEAD is answered by a stored GET, and never stored (§4, §9.3.2 of RFC 9110)")
    func headFromGet() async throws {
        let fixture = try CachingFixture { _ in .ok("body", fields: ["Cache-Control": "max-age=60"]) }
        #expect(try await fixture.load(method: "HEAD").body == "")
        #expect(try await fixture.load().body == "body")
        let head = try await fixture.load(method: "HEAD")
        #expect(head.isHit)
        #expect(head["Content-Length"] == "4")
        #expect(head.body == "")
        #expect(fixture.origin.requests.map(\.method) == ["HEAD", "GET"])
    }

    @Test(
        "an archive strategy validates too, and a 304 restarts the stored response's time",
        arguments: [
            CacheStrategy.cacheFirst(for: .seconds(60)), .networkFirst(), .staleWhileRevalidate(upTo: .seconds(60)),
        ]
    )
    func archives(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy) { request in
            request.value(of: "If-None-Match") == "\"a\""
                ? .status(304, fields: ["ETag": "\"a\""]) : .ok("copy", fields: ["ETag": "\"a\""])
        }
        try await fixture.load()
        fixture.clock.advance(by: 61)
        let renewed = try await fixture.load()
        #expect(renewed.body == "copy")
        #expect(fixture.asked == ["GET /", "GET / \"a\""])
        fixture.origin.stop()
        fixture.clock.advance(by: 59)
        #expect(try await fixture.load().body == "copy")
    }

    @Test("by HEAD loads the page when its validators differ, or when it has none", arguments: [true, false])
    func byHead(hasValidators: Bool) async throws {
        let count = Counter()
        let fixture = try CachingFixture(.revalidate(by: .head)) { _ in
            let number = count.next()
            return hasValidators
                ? .ok("\(number)", fields: ["ETag": "\"\(number)\""])
                : .ok("\(number)", fields: ["Content-Type": "text/plain"])
        }
        try await fixture.load()
        #expect(try await fixture.load().body == "3")
        #expect(fixture.origin.requests.map(\.method) == ["GET", "HEAD", "GET"])
        #expect(fixture.seen(2, "If-None-Match") == nil)
    }

    @Test("with .revalidate uses Last-Modified when there is no tag", arguments: [true, false])
    func byDate(isChanged: Bool) async throws {
        let fixture = try CachingFixture(.revalidate) { request in
            if request.value(of: "If-Modified-Since") == Self.changed, !isChanged {
                return .status(304, fields: ["Last-Modified": Self.changed])
            }
            return .ok(
                request.value(of: "If-Modified-Since") == nil ? "old" : "new",
                fields: ["Last-Modified": Self.changed]
            )
        }
        try await fixture.load()
        #expect(try await fixture.load().body == (isChanged ? "new" : "old"))
        #expect(fixture.asked == ["GET /", "GET / \(Self.changed)"])
    }
}

@Suite("Several variants, end to end (RFC 9111 §4.1)")
struct VariantEndToEndTests {
    private static func script(_ vary: String, _ field: String) -> CachingFixture.Script {
        { request in
            let variant = request.values(of: field).joined(separator: ", ")
            return .ok(variant, fields: ["Cache-Control": "max-age=60", "Vary": vary])
        }
    }

    @Test(
        "each is found by the request's field, and a third value is another request to the origin",
        arguments: [
            "Accept-Language", "accept-language", "X-Other, Accept-Language", "Accept-Language,Accept-Language",
        ]
    )
    func each(vary: String) async throws {
        let fixture = try CachingFixture(.standard, Self.script(vary, "Accept-Language"))
        for _ in 0..<3 {
            for language in ["de", "fr"] {
                #expect(try await fixture.load("/", ["Accept-Language": language]).body == language)
            }
        }
        #expect(fixture.origin.requestCount == 2)
        #expect(try await fixture.load("/", ["Accept-Language": "it"]).body == "it")
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("an absent field does not match a present one", arguments: [true, false])
    func absent(isAbsentFirst: Bool) async throws {
        let fixture = try CachingFixture { request in
            .ok(request.value(of: "X-Kind") ?? "none", fields: ["Cache-Control": "max-age=60", "Vary": "X-Kind"])
        }
        let requests: [[String: String]] = isAbsentFirst ? [[:], ["X-Kind": "a"]] : [["X-Kind": "a"], [:]]
        for _ in 0..<2 {
            for fields in requests { #expect(try await fixture.load("/", fields).body == fields["X-Kind"] ?? "none") }
        }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("a request that matches no variant sends all their tags, and the 304 selects the variant (§4.1)")
    func tags() async throws {
        let fixture = try CachingFixture { request in
            let language = request.value(of: "Accept-Language") ?? ""
            let fields: KeyValuePairs = [
                "Cache-Control": "max-age=60", "Vary": "Accept-Language", "ETag": "\"\(language)\"",
            ]
            if language == "de-AT" {
                return .status(
                    304,
                    fields: ["ETag": "\"de\"", "Cache-Control": "max-age=60", "Vary": "Accept-Language"]
                )
            }
            return .ok(language, fields: fields)
        }
        for language in ["de", "fr"] { try await fixture.load("/", ["Accept-Language": language]) }
        let first = try await fixture.load("/", ["Accept-Language": "de-AT"])
        #expect(first.status == 200)
        #expect(first.body == "de")
        let sent = try #require(fixture.seen(2, "If-None-Match"))
        #expect(sent.contains("\"de\"") && sent.contains("\"fr\""))
        #expect(fixture.seen(2, "If-Modified-Since") == nil)
        let second = try await fixture.load("/", ["Accept-Language": "de-AT"])
        #expect(second.isHit)
        #expect(second.body == "de")
        for language in ["de", "fr"] { #expect(try await fixture.load("/", ["Accept-Language": language]).isHit) }
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("a stale variant is validated while another one stays fresh")
    func oneStale() async throws {
        let fixture = try CachingFixture { request in
            let kind = request.value(of: "X-Kind") ?? ""
            let tag = "\"\(kind)\""
            let fields: KeyValuePairs = [
                "Cache-Control": kind == "a" ? "max-age=10" : "max-age=100", "Vary": "X-Kind", "ETag": tag,
            ]
            return (request.value(of: "If-None-Match") ?? "").contains(tag)
                ? .status(304, fields: fields) : .ok(kind, fields: fields)
        }
        for kind in ["a", "b"] { try await fixture.load("/", ["X-Kind": kind]) }
        fixture.clock.advance(by: 50)
        #expect(try await fixture.load("/", ["X-Kind": "b"]).isHit)
        let confirmed = try await fixture.load("/", ["X-Kind": "a"])
        #expect(confirmed.body == "a")
        #expect(confirmed.cacheStatus.contains("fwd-status=304"))
        #expect(fixture.origin.requestCount == 3)
    }

    @Test("a 304 with a strong tag does not freshen a response to which its origin gave a weak one (§4.3.4)")
    func strongTagForWeakOne() async throws {
        let count = Counter()
        let fixture = try CachingFixture { request in
            request.value(of: "If-None-Match") == nil
                ? .ok("\(count.next())", fields: ["ETag": "W/\"x\"", "Cache-Control": "max-age=10"])
                : .status(304, fields: ["ETag": "\"x\"", "Cache-Control": "max-age=60"])
        }
        try await fixture.load()
        fixture.clock.advance(by: 10)
        for _ in 0..<2 { #expect(try await fixture.load().body == "1") }
        #expect(fixture.asked == ["GET /", "GET / W/\"x\"", "GET / W/\"x\""])
    }

    @Test("a response with Vary: Cookie is stored for each value of the login cookie")
    func cookies() async throws {
        let fixture = try CachingFixture { request in
            .ok(
                request.value(of: "Cookie") ?? "none",
                fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"]
            )
        }
        let storage = try #require(fixture.session.configuration.httpCookieStorage)
        #expect(try await fixture.load().body == "none")
        for login in ["a", "b", "a"] {
            let cookie = try #require(
                HTTPCookie(properties: [.name: "login", .value: login, .domain: "127.0.0.1", .path: "/"])
            )
            storage.setCookie(cookie)
            #expect(try await fixture.load().body == "login=\(login)")
            #expect(try await fixture.load().isHit)
        }
        #expect(fixture.origin.requestCount == 3)
    }
}

import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

/// Tests the cookies that requests carry and responses set, with a server on loopback.
@Suite("The cookies of an interceptor")
struct CookieExchangeTests {
    /// An app with cookies and no login.
    private final class Fixture: Sendable {
        let origin: ScriptedOrigin
        /// Foundation's storage has a clock of its own, and drops cookies that have ended by it.
        let clock = ManualClock(startingAt: .now)
        let cookies: CookieStore
        let cache: ResponseCache
        let interceptor: Interceptor
        let storage: HTTPCookieStorage?
        let session: URLSession
        private let directory: TemporaryDirectory

        init(
            via route: Route = .network,
            isLoopbackSecure: Bool = false,
            hasStorage: Bool = true,
            configure: (URLSessionConfiguration) -> Void = { _ in },
            _ script: @escaping ScriptedOrigin.Script
        ) throws {
            directory = try TemporaryDirectory()
            origin = try ScriptedOrigin(script: script)
            let clock = clock
            let cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: isLoopbackSecure), now: clock.now)
            let cache = try ResponseCache(directory: directory.url, environment: .patient, now: clock.now)
            (self.cookies, self.cache) = (cookies, cache)
            interceptor = try Interceptor {
                $0.rules = [
                    .allow("http://127.0.0.1:*/**", via: route), .allow("http://localhost:*/**", via: route),
                ]
                $0.cookies = cookies
                $0.cache = cache
                $0.now = clock.now
                $0.schedule = clock.schedule
            }
            let configuration = URLSessionConfiguration.ephemeral
            if !hasStorage { configuration.httpCookieStorage = nil }
            configure(configuration)
            storage = configuration.httpCookieStorage
            session = URLSession(configuration: configuration.intercepted(by: interceptor))
        }

        @discardableResult
        func load(_ target: String, host: String = "127.0.0.1", _ fields: [String: String] = [:]) async throws -> String
        {
            let url = try #require(URL(string: "http://\(host):\(origin.port)\(target)"))
            var request = URLRequest(url: url)
            request.timeoutInterval = 600
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            let (data, _) = try await session.data(for: request)
            await cache.flush()
            return String(decoding: data, as: UTF8.self)
        }

        var seen: [String?] { origin.requests.map { $0.value(of: "Cookie") } }
    }

    /// Answers `/set` with these cookies, and every other request without cookies.
    private static func setting(_ cookies: String...) -> ScriptedOrigin.Script {
        let response: ScriptedOrigin.Response =
            switch cookies.count {
            case 1: .ok("", fields: ["Set-Cookie": cookies[0]])
            case 2: .ok("", fields: ["Set-Cookie": cookies[0], "Set-Cookie": cookies[1]])
            default: .ok("", fields: ["Set-Cookie": cookies[0], "Set-Cookie": cookies[1], "Set-Cookie": cookies[2]])
            }
        return { $0.path.hasPrefix("/set") ? response : .ok() }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let rule: String
        let set: String
        let target: String
        let sent: String?
        var testDescription: String { rule }
    }

    @Test(
        "are sent to the requests that RFC 6265 selects, and to no others",
        arguments: [
            Case(rule: "at a path and below it", set: "a=1; Path=/admin", target: "/admin/x", sent: "a=1"),
            Case(rule: "not at another path", set: "a=1; Path=/admin", target: "/other", sent: nil),
            Case(rule: "not at a path that only begins alike", set: "a=1; Path=/foo", target: "/foobar", sent: nil),
            Case(rule: "no Path: for the folder that set it", set: "a=1", target: "/other", sent: "a=1"),
            Case(rule: "Secure: not set over http", set: "a=1; Secure", target: "/", sent: nil),
            Case(rule: "Max-Age=0: removed", set: "a=1; Max-Age=0", target: "/", sent: nil),
            Case(rule: "another host's domain: refused", set: "a=1; Domain=shop.example", target: "/", sent: nil),
            Case(rule: "a suffix of an address: refused", set: "a=1; Domain=0.0.1", target: "/", sent: nil),
            Case(rule: "__Host- without its promise: refused", set: "__Host-a=1", target: "/", sent: nil),
            Case(rule: "nothing but a name: ignored", set: "word", target: "/", sent: nil),
            Case(
                rule: "a date with its comma",
                set: "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT",
                target: "/",
                sent: "a=1"
            ),
        ]
    )
    func selection(_ one: Case) async throws {
        let fixture = try Fixture(Self.setting(one.set))
        try await fixture.load("/set")
        try await fixture.load(one.target)
        #expect(fixture.seen == [nil, one.sent])
    }

    @Test("are not sent to another host")
    func hosts() async throws {
        let fixture = try Fixture(Self.setting("a=1; Path=/"))
        try await fixture.load("/set")
        try await fixture.load("/", host: "localhost")
        #expect(fixture.seen == [nil, nil])
    }

    @Test("with Secure are set and sent over loopback when loopback counts as secure")
    func trustworthyLoopback() async throws {
        let fixture = try Fixture(isLoopbackSecure: true, Self.setting("a=1; Secure; Path=/"))
        try await fixture.load("/set")
        try await fixture.load("/")
        #expect(fixture.seen == [nil, "a=1"])
    }

    @Test("that have expired are not sent, and are removed from the session's storage")
    func expiry() async throws {
        let fixture = try Fixture(Self.setting("a=1; Max-Age=86400; Path=/"))
        try await fixture.load("/set")
        await fixture.cookies.synchronize()
        #expect(fixture.storage?.cookies?.count == 1)
        fixture.clock.advance(by: 86_399)
        try await fixture.load("/")
        fixture.clock.advance(by: 1)
        try await fixture.load("/")
        await fixture.cookies.synchronize()
        #expect(fixture.seen == [nil, "a=1", nil])
        #expect(fixture.storage?.cookies?.isEmpty == true)
    }

    @Test("of one response are all taken, except malformed ones")
    func several() async throws {
        let fixture = try Fixture(
            Self.setting("a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/", "=; Path", "c=3; Path=/")
        )
        try await fixture.load("/set")
        try await fixture.load("/")
        #expect(fixture.seen == [nil, "a=1; c=3"])
    }

    @Test("with longer paths come first")
    func order() async throws {
        let fixture = try Fixture(Self.setting("a=short; Path=/", "a=long; Path=/shop"))
        try await fixture.load("/set")
        try await fixture.load("/shop/x")
        #expect(fixture.seen == [nil, "a=long; a=short"])
    }

    @Test("that a redirect sets are sent to its target", arguments: [Route.network, .cache(.standard)])
    func redirect(route: Route) async throws {
        let fixture = try Fixture(via: route) { request in
            guard request.path == "/a" else { return .ok() }
            return .status(302, fields: ["Location": "/b", "Set-Cookie": "a=1"])
        }
        try await fixture.load("/a")
        #expect(fixture.seen == [nil, "a=1"])
    }

    @Test("after a redirect to another host are that host's, without the first host's and the app's own")
    func redirectElsewhere() async throws {
        let fixture = try Fixture(hasStorage: false) { request in
            switch request.path {
            case "/here", "/there": return .ok("", fields: ["Set-Cookie": "\(request.path.dropFirst())=1; Path=/"])
            case "/go":
                let port = request.value(of: "Host")?.split(separator: ":").last ?? ""
                return .redirect(302, to: "http://localhost:\(port)/target")
            default: return .ok()
            }
        }
        try await fixture.load("/here")
        try await fixture.load("/there", host: "localhost")
        try await fixture.load("/go", ["Cookie": "own=1"])
        #expect(fixture.seen == [nil, nil, "here=1; own=1", "there=1"])
    }

    @Test("of a 304 are taken; serving a stored response sets no cookies")
    func notModified() async throws {
        let count = Counter()
        let fixture = try Fixture(via: .cache(.standard)) { request in
            let number = count.next()
            let fields: KeyValuePairs<String, String> =
                ["ETag": "\"e\"", "Cache-Control": "max-age=60", "Set-Cookie": "n=\(number); Path=/"]
            return request.value(of: "If-None-Match") == nil
                ? .ok("page", fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load("/")
        fixture.clock.advance(by: 61)
        #expect(try await fixture.load("/") == "page")
        #expect(fixture.cookies.cookies.map(\.value) == ["2"])
        fixture.cookies.removeAll()
        #expect(try await fixture.load("/") == "page")
        #expect(fixture.cookies.cookies.isEmpty)
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("are sent with a renewal in the background, and those of its response are taken")
    func renewal() async throws {
        let count = Counter()
        let fixture = try Fixture(via: .cache(.staleWhileRevalidate(upTo: .days(1)))) { _ in
            .ok("page", fields: ["Set-Cookie": "n=\(count.next()); Path=/"])
        }
        try await fixture.load("/")
        var changes = fixture.cookies.changes.makeAsyncIterator()
        try await fixture.load("/")
        let change = try #require(await changes.next())
        #expect(change.change.cookie.pair == "n=2")
        #expect(change.author == .response(fixture.origin.url("/")))
        #expect(fixture.seen == [nil, "n=1"])
    }

    @Test("select the stored response when Vary names Cookie", arguments: ["Cookie", "cookie, Accept-Language"])
    func vary(nominated: String) async throws {
        let fixture = try Fixture(via: .cache(.standard)) { request in
            .ok(request.value(of: "Cookie") ?? "-", fields: ["Cache-Control": "max-age=60", "Vary": nominated])
        }
        for value in ["1", "2", "1"] {
            try fixture.cookies.insert(
                Cookie(name: "a", value: value, domain: "127.0.0.1", isHostOnly: true, creation: fixture.clock.now())
            )
            #expect(try await fixture.load("/") == "a=\(value)")
        }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("are known after a redirect to another origin, so a response with Vary: Cookie is stored")
    func varyAfterRedirect() async throws {
        let count = Counter()
        let fixture = try Fixture(via: .cache(.standard)) { request in
            guard request.path == "/" else {
                return .ok("\(count.next())", fields: ["Cache-Control": "max-age=60", "Vary": "Cookie"])
            }
            let port = request.value(of: "Host")?.split(separator: ":").last ?? ""
            return .redirect(302, to: "http://localhost:\(port)/page")
        }
        for _ in 0..<2 { #expect(try await fixture.load("/", ["Cookie": "own=1"]) == "1") }
    }

    @Test("are merged with the app's own Cookie field, whose pair wins over a cookie of the same name")
    func ownPairs() async throws {
        // If its storage has a cookie for the host, Foundation overwrites the field before the waystation sees it.
        let fixture = try Fixture(hasStorage: false) { _ in .ok() }
        for name in ["a", "b"] {
            try fixture.cookies.insert(
                Cookie(name: name, value: "jar", domain: "127.0.0.1", isHostOnly: true, creation: fixture.clock.now())
            )
        }
        try await fixture.load("/", ["Cookie": "b=own; c=own"])
        #expect(fixture.seen == ["a=jar; b=own; c=own"])
    }

    @Test("do not replace the app's own pair that equals another host's cookie")
    func ownPairElsewhere() async throws {
        let fixture = try Fixture(hasStorage: false) { _ in .ok() }
        try fixture.cookies.insert(
            Cookie(name: "lang", value: "de", domain: "shop.example", creation: fixture.clock.now())
        )
        try await fixture.load("/", ["Cookie": "lang=de"])
        #expect(fixture.seen == ["lang=de"])
    }

    @Test("with SameSite=Strict are not sent for another site's document")
    func sameSite() async throws {
        let fixture = try Fixture(Self.setting("strict=1; SameSite=Strict; Path=/", "plain=1; Path=/"))
        try await fixture.load("/set")
        var request = URLRequest(url: fixture.origin.url("/"))
        request.mainDocumentURL = URL(string: "https://evil.example/")
        _ = try await fixture.session.data(for: request)
        request.mainDocumentURL = fixture.origin.url("/page")
        _ = try await fixture.session.data(for: request)
        #expect(fixture.seen == [nil, nil, "strict=1; plain=1"])
    }

    @Test("with SameSite are not taken from the response to another site's request, unless the user follows a link")
    func sameSiteOfResponse() async throws {
        let fixture = try Fixture(Self.setting("a=1; SameSite=Strict; Path=/"))
        let events = fixture.interceptor.events
        var request = URLRequest(url: fixture.origin.url("/set"))
        request.mainDocumentURL = URL(string: "https://evil.example/")
        _ = try await fixture.session.data(for: request)
        #expect(fixture.cookies.cookies.isEmpty)
        var refusals: [CookieError.Code] = []
        for await event in events {
            if case .cookies(let event) = event.kind, case .refused(let error) = event.kind {
                refusals.append(error.code)
            }
            if case .served = event.kind { break }
        }
        #expect(refusals == [.sameSite])
        request.mainDocumentURL = CrossSite.link
        _ = try await fixture.session.data(for: request)
        #expect(fixture.cookies.cookies.map(\.pair) == ["a=1"])
    }

    /// A store with the cookie `a`, and a server whose responses set the cookie `b`.
    private static func settingAnother(_ configure: (URLSessionConfiguration) -> Void = { _ in }) throws -> Fixture {
        let fixture = try Fixture(configure: configure) { _ in .ok("", fields: ["Set-Cookie": "b=2; Path=/"]) }
        try fixture.cookies.insert(
            Cookie(name: "a", value: "1", domain: "127.0.0.1", isHostOnly: true, creation: fixture.clock.now())
        )
        return fixture
    }

    @Test("are neither sent nor taken where the session's configuration or the request refuses them")
    func refusing() async throws {
        let silent = try Self.settingAnother { $0.httpShouldSetCookies = false }
        for _ in 0..<2 { try await silent.load("/", ["Cookie": "own=1"]) }
        #expect(silent.seen == ["own=1", "own=1"])
        #expect(silent.cookies.cookies.map(\.name) == ["a", "b"])
        let deaf = try Self.settingAnother { $0.httpCookieAcceptPolicy = .never }
        for _ in 0..<2 { try await deaf.load("/") }
        #expect(deaf.seen == ["a=1", "a=1"])
        let plain = try Self.settingAnother()
        var request = URLRequest(url: plain.origin.url("/"))
        request.httpShouldHandleCookies = false
        for _ in 0..<2 { _ = try await plain.session.data(for: request) }
        #expect(plain.seen == [nil, nil])
        #expect(plain.cookies.cookies.map(\.name) == ["a"])
    }

    @Test(
        "of an upload's response are not taken where the session's configuration or the request refuses them",
        arguments: ["configuration", "request"]
    )
    func refusingUpload(refusing place: String) async throws {
        let fixture = try Self.settingAnother {
            if place == "configuration" { $0.httpCookieAcceptPolicy = .never }
        }
        var request = URLRequest(url: fixture.origin.url("/"))
        request.httpMethod = "POST"
        request.httpShouldHandleCookies = place != "request"
        _ = try await fixture.session.upload(for: request, from: Data("x".utf8))
        await fixture.cookies.synchronize()
        #expect(fixture.cookies.cookies.map(\.name) == ["a"])
        #expect(fixture.storage?.cookies?.map(\.name) == ["a"])
    }

    @Test(
        "of an upload's response are not taken over from Foundation's storage while its body arrives",
        arguments: Refusal.allCases
    )
    func uploadUnderWay(_ refusal: Refusal) async throws {
        let gate = try ScriptedOrigin.Gate()
        let set = refusal == .attribute ? "b=2; Path=/; Secure" : "b=2; Path=/"
        let fixture = try Fixture { request in
            guard request.method == "POST" else { return .ok() }
            return .stream([.bytes(Data("o".utf8)), .wait(gate), .bytes(Data("k".utf8))], fields: ["Set-Cookie": set])
        }
        var request = URLRequest(url: fixture.origin.url("/form"))
        request.httpMethod = "POST"
        request.httpShouldHandleCookies = refusal != .request
        async let upload = fixture.session.upload(for: request, from: Data("x".utf8))
        // Foundation has stored it.
        #expect(await eventually { fixture.storage?.cookies?.isEmpty == false })
        let own = HTTPCookie(properties: [.name: "own", .value: "1", .domain: "127.0.0.1", .path: "/"])
        fixture.storage?.setCookie(try #require(own))
        try await fixture.load("/other")
        #expect(fixture.seen.last??.contains("own=1") == true)
        #expect(fixture.cookies.cookies.isEmpty)
        gate.open()
        _ = try await upload
        // That of the app is taken over when the upload has ended.
        await fixture.cookies.synchronize()
        #expect(fixture.cookies.cookies.map(\.pair) == ["own=1"])
        #expect(fixture.storage?.cookies?.map(\.name) == ["own"])
    }

    @Test(
        "of a response to an upload that is cancelled are not taken over, and removed none, if the request refuses them",
        arguments: ["b=2; Path=/", "a=2; Path=/", "a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]
    )
    func cancelledUpload(set: String) async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try Fixture { request in
            guard request.method == "POST" else { return .ok() }
            return .stream([.bytes(Data("o".utf8)), .wait(gate)], fields: ["Set-Cookie": set])
        }
        try fixture.cookies.insert(
            Cookie(name: "a", value: "1", domain: "127.0.0.1", isHostOnly: true, creation: fixture.clock.now())
        )
        await fixture.cookies.synchronize()
        func held() -> [String] { (fixture.storage?.cookies ?? []).map { "\($0.name)=\($0.value)" } }
        #expect(held() == ["a=1"])
        var request = URLRequest(url: fixture.origin.url("/form"))
        request.httpMethod = "POST"
        request.httpShouldHandleCookies = false
        let upload = Task { [request] in try await fixture.session.upload(for: request, from: Data("x".utf8)) }
        #expect(await eventually { held() != ["a=1"] })
        try await fixture.load("/other")
        upload.cancel()
        await #expect(throws: (any Error).self) { try await upload.value }
        #expect(await eventually { held() == ["a=1"] })
        #expect(fixture.cookies.cookies.map(\.pair) == ["a=1"])
    }

    /// The reason for which a response's cookie is not taken.
    enum Refusal: CaseIterable { case request, attribute }

    @Test("of an upload are chosen by Foundation, and those of its response are taken")
    func upload() async throws {
        let fixture = try Fixture { _ in .ok("", fields: ["Set-Cookie": "a=1; Path=/"]) }
        var request = URLRequest(url: fixture.origin.url("/form"))
        request.httpMethod = "POST"
        _ = try await fixture.session.upload(for: request, from: Data("x".utf8))
        #expect(fixture.cookies.cookies.map(\.pair) == ["a=1"])
        _ = try await fixture.session.upload(for: request, from: Data("x".utf8))
        #expect(fixture.seen == [nil, "a=1"])
    }

    @Test(
        "of an upload's response follow RFC 6265, whatever Foundation has stored for them",
        arguments: [
            Case(rule: "Max-Age", set: "a=1; Path=/; Max-Age=86400", target: "/", sent: "a=1 / ends"),
            Case(rule: "removed with Max-Age=0", set: "old=; Path=/; Max-Age=0", target: "/", sent: nil),
            Case(
                rule: "Max-Age and other attributes after a date",
                set: "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Max-Age=86400; Path=/; Secure; HttpOnly",
                target: "/",
                sent: "a=1 / ends secure HTTP"
            ),
            Case(
                rule: "a date that Foundation takes for a past one",
                set: "old=2; Expires=Saturday, 09-Jun-68 10:18:14 GMT; Path=/",
                target: "/",
                sent: "old=2 / ends"
            ),
            Case(rule: "no Path, and a value with a colon", set: "a=1:2", target: "/dir/", sent: "a=1:2 /dir"),
            Case(rule: "Secure over http", set: "a=1; Path=/; Secure", target: "/", sent: nil),
        ]
    )
    func uploadByTheRules(_ one: Case) async throws {
        let fixture = try Fixture(isLoopbackSecure: one.sent != nil) { request in
            request.method == "POST" ? .ok("", fields: ["Set-Cookie": one.set]) : .ok()
        }
        try fixture.cookies.insert(
            Cookie(name: "old", value: "1", domain: "127.0.0.1", isHostOnly: true, creation: fixture.clock.now())
        )
        await fixture.cookies.synchronize()
        var request = URLRequest(url: fixture.origin.url("/dir/form"))
        request.httpMethod = "POST"
        _ = try await fixture.session.upload(for: request, from: Data("x".utf8))
        await fixture.cookies.synchronize()
        try await fixture.load(one.target)
        let kept = fixture.cookies.cookies.filter { $0.name != "old" || one.set.hasPrefix("old") }
        #expect(kept.first.map(Self.text) == one.sent)
        #expect(kept.count == (one.sent == nil ? 0 : 1))
        let stored = (fixture.storage?.cookies ?? []).map { "\($0.name) \($0.path)" }.sorted()
        #expect(stored == fixture.cookies.cookies.map { "\($0.name) \($0.path)" }.sorted())
    }

    /// The pair, the path and the attributes of a cookie.
    private static func text(_ cookie: Cookie) -> String {
        var parts = [cookie.pair, cookie.path]
        if cookie.expires != nil { parts.append("ends") }
        if cookie.isSecure { parts.append("secure") }
        if cookie.isHTTPOnly { parts.append("HTTP") }
        return parts.joined(separator: " ")
    }

    @Test("are chosen by Foundation when the interceptor has no cookie store")
    func without() async throws {
        let origin = try ScriptedOrigin(script: Self.setting("a=1; Path=/admin"))
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        _ = try await session.data(from: origin.url("/set"))
        _ = try await session.data(from: origin.url("/other"))
        #expect(origin.requests.map { $0.value(of: "Cookie") } == [nil, "a=1"])
    }
}

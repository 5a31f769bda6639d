import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Two accounts")
struct AccountTests {
    /// Two apps with a login each, over one cache, and a server that returns the token that it got.
    private struct Two {
        let origin: ScriptedOrigin
        let alice: LoginFixture
        let bob: LoginFixture

        init(sharing storage: HTTPCookieStorage? = nil, script: @escaping LoginFixture.Script) throws {
            origin = try ScriptedOrigin(script: script)
            let route = Route.cache(.standard)
            alice = try LoginFixture(
                ScriptedProvider(["alice", "alice2"]),
                account: "alice",
                via: route,
                origin: origin,
                storage: storage
            )
            bob = try LoginFixture(
                ScriptedProvider(["bob"]),
                account: "bob",
                via: route,
                origin: origin,
                cache: alice.cache,
                storage: storage
            )
        }
    }

    private static let cacheable: LoginFixture.Script = { request in
        .ok(request.value(of: "Cookie") ?? "absent", fields: ["Cache-Control": "max-age=60"])
    }

    @Test("over one cache each get their own responses only")
    func oneCache() async throws {
        let two = try Two(script: Self.cacheable)
        for fixture in [two.alice, two.bob] { try await fixture.login.logIn() }
        for _ in 0..<2 {
            #expect(try await two.alice.load("/page").body == "token=alice")
            #expect(try await two.bob.load("/page").body == "token=bob")
            await two.alice.cache.flush()
        }
        #expect(two.origin.requestCount == 2)
    }

    @Test("over one cache have separate responses also without a token, by their other cookies")
    func otherCookies() async throws {
        let two = try Two { request in
            guard let name = request.path.split(separator: "/").last, request.path.hasPrefix("/set") else {
                return .ok(request.value(of: "Cookie") ?? "absent", fields: ["Cache-Control": "max-age=60"])
            }
            return .ok("", fields: ["Set-Cookie": "sid=\(name); Path=/"])
        }
        try await two.alice.load("/set/alice")
        try await two.bob.load("/set/bob")
        #expect(try await two.alice.load("/page").body == "sid=alice")
        await two.alice.cache.flush()
        #expect(try await two.bob.load("/page").body == "sid=bob")
    }

    @Test("never share a fetch for identical requests; the requests of one account do")
    func trips() async throws {
        let gate = try ScriptedOrigin.Gate()
        let two = try Two { request in
            .ok(request.value(of: "Cookie") ?? "-", fields: ["Cache-Control": "max-age=60"]).held(at: gate)
        }
        for fixture in [two.alice, two.bob] { try await fixture.login.logIn() }
        async let first = two.alice.load("/page")
        async let second = two.bob.load("/page")
        await two.origin.waitForRequests(2)
        async let third = two.alice.load("/page")
        gate.open()
        #expect(try await first.body == "token=alice")
        #expect(try await second.body == "token=bob")
        #expect(try await third.body == "token=alice")
        #expect(two.origin.requestCount == 2)
    }

    @Test("do not affect each other's responses and loads at a log-out")
    func logOut() async throws {
        let gate = try ScriptedOrigin.Gate()
        let two = try Two { request in
            let response = Self.cacheable(request)
            return request.path == "/late" ? response.held(at: gate) : response
        }
        for fixture in [two.alice, two.bob] {
            try await fixture.login.logIn()
            try await fixture.load("/page")
        }
        await two.alice.cache.flush()
        async let late = two.bob.load("/late")
        await two.origin.waitForRequests(3)
        await two.alice.login.logOut()
        gate.open()
        #expect(try await late.body == "token=bob")
        #expect(try await two.bob.load("/page").body == "token=bob")
        #expect(try await two.alice.load("/page").body == "absent")
        #expect(two.origin.requestCount == 4)
    }

    @Test("over one HTTPCookieStorage do not send each other's cookies")
    func oneStorage() async throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let two = try Two(sharing: storage, script: Self.cacheable)
        try await two.alice.login.logIn()
        #expect(storage.cookies?.map(\.value) == ["alice"])
        #expect(try await two.bob.load("/page").body == "absent")
        #expect(!two.bob.login.isLoggedIn)
        #expect(try await two.bob.load("/page?needAuth=true").body == "token=bob")
        #expect(two.alice.login.token == "alice")
        #expect(storage.cookies?.map(\.value) == ["alice"])
    }

    @Test("over one cookie store are refused, and so is one account over two stores")
    func refused() throws {
        let cookies = CookieStore()
        let alice = LoginSession(account: "alice", cookie: .named("token", domain: "shop.example")) { "a" }
        let bob = LoginSession(account: "bob", cookie: .named("token", domain: "shop.example")) { "b" }
        func make(_ login: LoginSession, _ cookies: CookieStore?) throws -> Interceptor {
            try Interceptor {
                $0.login = login
                $0.cookies = cookies
            }
        }
        let first = try make(alice, cookies)
        let again = try make(alice, nil)
        for (login, cookies) in [(bob, cookies), (alice, CookieStore())] {
            let error = #expect(throws: WaystationError.self) { try make(login, cookies) }
            #expect(error?.code == .invalidLogin)
        }
        withExtendedLifetime([first, again]) {}
    }

    @Test("find their stored responses after a restart with the token, but not after a log-out")
    func restart() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ResponseCache(directory: folder.url.appending(path: "cache"), environment: .patient)
        let network = ScriptedTransport { request in
            .ok(request.value(forHTTPHeaderField: "Cookie") ?? "absent", fields: ["Cache-Control": "max-age=600"])
        }
        let url = try #require(URL(string: "https://shop.example/page"))
        func start() throws -> (LoginSession, URLSession) {
            let cookie = LoginCookie.named("token", domain: "shop.example", lifetime: .days(30))
            let login = LoginSession(cookie: cookie) { "same" }
            let interceptor = try Interceptor {
                $0.rules = [.allow("https://shop.example/**", via: .cache(.standard), requiresLogin: .marked)]
                $0.cookies = CookieStore(file: folder.url.appending(path: "cookies.json"))
                $0.cache = cache
                $0.login = login
                $0.makeTransport = { _ in network }
                // Timers never fire, so that the test works on a busy machine.
                $0.schedule = { _, _ in }
            }
            return (login, URLSession(configuration: .ephemeral.intercepted(by: interceptor)))
        }
        do {
            let (login, session) = try start()
            try await login.logIn()
            _ = try await session.data(from: url)
            await cache.flush()
        }
        let (login, session) = try start()
        #expect(login.isLoggedIn)
        _ = try await session.data(from: url)
        #expect(network.requests.count == 1)
        await login.logOut()
        let (next, after) = try start()
        #expect(!next.isLoggedIn)
        try await next.logIn()
        #expect(String(decoding: try await after.data(from: url).0, as: UTF8.self) == "token=same")
        #expect(network.requests.count == 2)
    }

    @Test("find their stored responses also when the token is renewed after a restart")
    func renewedAfterRestart() async throws {
        let folder = try TemporaryDirectory()
        let network = ScriptedTransport { request in
            let isRefused = request.url?.path == "/new" && request.value(forHTTPHeaderField: "Cookie") == "token=t1"
            return isRefused ? .init([.head(401), .end]) : .ok("page", fields: ["Cache-Control": "max-age=600"])
        }
        let file = folder.url.appending(path: "cookies.json")
        let directory = folder.url.appending(path: "cache")
        do {
            let shop = try Shop(network, file: file, cacheDirectory: directory)
            try await shop.login.logIn()
            try await shop.load("https://shop.example/page")
            await shop.cache.flush()
            await shop.cookies.synchronize()
        }
        let shop = try Shop(network, tokens: ["t2"], file: file, cacheDirectory: directory)
        try await shop.load("https://shop.example/new")
        #expect(shop.seen.suffix(2) == ["token=t1", "token=t2"])
        let count = network.requests.count
        try await shop.load("https://shop.example/page")
        #expect(network.requests.count == count)
    }

    @Test("belong to a login also when the host is spelled in another way")
    func spelledHost() async throws {
        let fixture = try LoginFixture(via: .cache(.standard), script: Self.cacheable)
        try await fixture.login.logIn()
        let url = try #require(URL(string: "http://0x7f.1:\(fixture.origin.port)/page?needAuth=true"))
        for _ in 0..<2 {
            let (data, _) = try await fixture.session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "token=t1")
            await fixture.cache.flush()
        }
        #expect(fixture.origin.requestCount == 1)
        await fixture.login.logOut()
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("send the token to the hosts of its domain over secure connections only")
    func domain() async throws {
        let network = ScriptedTransport { _ in .ok() }
        let shop = try Shop(network, via: .network)
        try await shop.login.logIn()
        for url in [
            "https://shop.example/", "https://img.shop.example/", "http://shop.example/", "https://notshop.example/",
            "https://example/",
        ] {
            try await shop.load(url)
        }
        #expect(shop.seen == ["token=t1", "token=t1", nil, nil, nil])
        #expect(await shop.failure("/?needAuth=true") == nil)
        do {
            try await shop.load("https://notshop.example/?needAuth=true")
            Issue.record("notshop.example is not in the login's domain")
        } catch {
            #expect(Failure(error).reason == .loginOutOfDomain)
        }
    }

    @Test("do not send a token that the app wrote into a request itself")
    func ownToken() async throws {
        let shop = try Shop(ScriptedTransport { _ in .ok() }, via: .network)
        try await shop.load("https://shop.example/", ["Cookie": "token=forged; a=1"])
        try await shop.login.logIn()
        try await shop.load("https://img.shop.example/", ["Cookie": "token=forged"])
        #expect(shop.seen == ["a=1", "token=t1"])
    }

    @Test("do not keep their interceptors alive")
    func released() async throws {
        weak var interceptor: Interceptor?
        weak var login: LoginSession?
        weak var cookies: CookieStore?
        do {
            let fixture = try LoginFixture(via: .cache(.standard), script: Self.cacheable)
            (interceptor, login, cookies) = (fixture.interceptor, fixture.login, fixture.cookies)
            try await fixture.load("/page?needAuth=true")
            await fixture.login.logOut()
            try await fixture.load("/page?needAuth=true")
            fixture.session.invalidateAndCancel()
        }
        #expect(await eventually { interceptor == nil && login == nil && cookies == nil })
        #expect(interceptor == nil)
        #expect(login == nil)
        #expect(cookies == nil)
    }
}

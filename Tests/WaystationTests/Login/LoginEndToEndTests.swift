import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTesting

/// Tests a login from the app's session to the requests that a server on loopback gets.
@Suite("A login for app and pages")
struct LoginEndToEndTests {
    @Test("a marked request waits for the provider, and is sent with its token")
    func marked() async throws {
        let fixture = try LoginFixture { _ in .ok("page") }
        #expect(!fixture.login.isLoggedIn)
        #expect(try await fixture.load("/page?needAuth=true") == (200, "page"))
        #expect(fixture.seen == ["token=t1"])
        #expect(fixture.provider.reasons == [.signIn])
        #expect(fixture.login.isLoggedIn)
    }

    @Test("an unmarked request loads at once, without a login", arguments: ["/", "/?needAuth=false", "/?needAuth"])
    func unmarked(target: String) async throws {
        let fixture = try LoginFixture { _ in .ok("page") }
        try await fixture.load(target)
        #expect(fixture.seen == [nil])
        #expect(fixture.provider.reasons.isEmpty)
    }

    @Test("an unmarked request does not wait for a login that another request waits for")
    func unmarkedDuringLogin() async throws {
        let door = Door()
        let provider = ScriptedProvider(["t1"], behind: door)
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin { _ in .ok("page") })
        async let marked = fixture.load("/a?needAuth=true")
        await provider.waitForQuestions(1)
        try await fixture.load("/b")
        #expect(fixture.origin.requests.map(\.target) == ["/b"])
        door.open()
        _ = try await marked
        #expect(fixture.seen == [nil, "token=t1"])
    }

    @Test("after a login every request to the host has the token, and the provider is not called again")
    func loggedIn() async throws {
        let fixture = try LoginFixture { _ in .ok("page") }
        try await fixture.login.logIn()
        try await fixture.login.logIn()
        try await fixture.load("/a")
        try await fixture.load("/b?needAuth=true")
        #expect(fixture.seen == ["token=t1", "token=t1"])
        #expect(fixture.provider.reasons.count == 1)
    }

    @Test("the provider is called once for a hundred waiting requests")
    func many() async throws {
        let door = Door()
        let provider = ScriptedProvider(["t1"], behind: door)
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin { _ in .ok("page") })
        try await withThrowingTaskGroup { group in
            for number in 0..<100 {
                group.addTask { _ = try await fixture.load("/\(number)?needAuth=true") }
            }
            await provider.waitForQuestions(1)
            door.open()
            try await group.waitForAll()
        }
        #expect(provider.reasons.count == 1)
        #expect(fixture.seen.count == 100)
        #expect(fixture.seen.allSatisfy { $0 == "token=t1" })
    }

    @Test(
        "a rule may require a login always, by a header field, or by a predicate",
        arguments: ["always", "header", "when"]
    )
    func requirements(kind: String) async throws {
        let requirement: LoginRequirement =
            switch kind {
            case "always": .always
            case "header": .whenHeader("X-Auth", is: "1")
            default: .when { $0.url.path == "/private" }
            }
        let fixture = try LoginFixture(requiresLogin: requirement) { _ in .ok("page") }
        if kind != "always" { try await fixture.load("/public") }
        #expect(fixture.provider.reasons.isEmpty)
        try await fixture.load("/private", ["X-Auth": "1"])
        #expect(fixture.provider.reasons == [.signIn])
        #expect(fixture.seen.last == "token=t1")
    }

    @Test(
        "the time limit fails all waiting loads, whether or not the provider obeys the cancel",
        arguments: [true, false]
    )
    func timeLimit(ignoringCancel: Bool) async throws {
        let door = Door(ignoringCancel: ignoringCancel)
        let provider = ScriptedProvider(["late", "t2"], behind: door)
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin { _ in .ok("page") })
        async let failures = withTaskGroup(of: Failure?.self) { group in
            for number in 0..<5 { group.addTask { await fixture.failure("/\(number)?needAuth=true") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await fixture.waitForWaiters(5)
        await fixture.passTimeLimit()
        let expected = Failure(.userAuthenticationRequired, .loginTimedOut)
        #expect(await failures == Array(repeating: expected, count: 5))
        #expect(fixture.origin.requestCount == 0)
        // The provider's late token is dropped.
        door.open()
        try await fixture.load("/?needAuth=true")
        #expect(fixture.seen == ["token=t2"])
        #expect(provider.cancelled == 1)
    }

    @Test("the error of a login has the account, the host and the provider's error")
    func message() async throws {
        let fixture = try LoginFixture([]) { _ in .ok("page") }
        do {
            try await fixture.load("/page?needAuth=true")
            Issue.record("the load succeeded although the provider has no token")
        } catch let error as URLError {
            let reason = try #require(error.userInfo[NSUnderlyingErrorKey] as? WaystationError)
            #expect(reason.code == .loginFailed)
            #expect(reason.message == "the login of alice for 127.0.0.1 failed: the provider failed: Refusal()")
            #expect(reason.cause is ScriptedProvider.Refusal)
            #expect(error.failingURL == fixture.origin.url("/page?needAuth=true"))
        }
    }

    @Test("a provider that failed is called again for the next marked request")
    func failedOnce() async throws {
        let fixture = try LoginFixture([]) { _ in .ok("page") }
        for count in 1...2 {
            #expect(await fixture.failure("/?needAuth=true") == Failure(.userAuthenticationRequired, .loginFailed))
            #expect(fixture.provider.reasons.count == count)
        }
    }

    @Test("a cancelled load stops waiting, and cancelling the last one cancels the provider")
    func cancelled() async throws {
        let provider = ScriptedProvider(["t1", "t2"], behind: Door())
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin { _ in .ok("page") })
        let first = Task { await fixture.failure("/a?needAuth=true") }
        let second = Task { await fixture.failure("/b?needAuth=true") }
        await fixture.waitForWaiters(2)
        first.cancel()
        #expect(await first.value?.code == .cancelled)
        #expect(provider.cancelled == 0)
        await fixture.waitForWaiters(1)
        second.cancel()
        #expect(await second.value?.code == .cancelled)
        await fixture.waitForWaiters(0)
        #expect(fixture.origin.requestCount == 0)
        try await fixture.load("/c?needAuth=true")
        #expect(fixture.seen == ["token=t2"])
        #expect(provider.cancelled == 1)
    }

    @Test("logIn() throws when its task is cancelled")
    func cancelledAhead() async throws {
        let provider = ScriptedProvider([], behind: Door(ignoringCancel: true))
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin { _ in .ok() })
        let ahead = Task { try await fixture.login.logIn() }
        await fixture.waitForWaiters(1)
        ahead.cancel()
        await #expect(throws: CancellationError.self) { try await ahead.value }
    }

    @Test("a host outside the login's domain is refused without a call of the provider")
    func outOfDomain() async throws {
        let fixture = try LoginFixture { _ in .ok("page") }
        var request = URLRequest(url: fixture.origin.url("/?needAuth=true"))
        request.url = URL(string: "http://localhost:\(fixture.origin.port)/?needAuth=true")
        do {
            _ = try await fixture.session.data(for: request)
            Issue.record("the load succeeded although localhost is not in the login's domain")
        } catch {
            #expect(Failure(error) == Failure(.userAuthenticationRequired, .loginOutOfDomain))
        }
        #expect(fixture.provider.reasons.isEmpty)
        #expect(fixture.origin.requestCount == 0)
    }

    @Test("a redirect to a marked URL waits for the login")
    func redirected() async throws {
        let fixture = try LoginFixture { request in
            request.path == "/a" ? .redirect(to: "/b?needAuth=true") : .ok("page")
        }
        #expect(try await fixture.load("/a") == (200, "page"))
        #expect(fixture.seen == [nil, "token=t1"])
    }

    @Test("a redirect meets the login of its target's rule, and leaves the token behind when it leaves the domain")
    func redirectedToAnotherRule() async throws {
        let archive = Route.cache(.cacheFirst(for: .days(1)))
        let fixture = try LoginFixture(
            rules: [
                .allow("http://127.0.0.1:*/members/**", via: archive, requiresLogin: .always),
                .allow("http://127.0.0.1:*/**", via: .network),
                .allow("http://localhost:*/**", via: archive),
            ]
        ) { request in
            switch request.path {
            case "/in": .redirect(to: "/members/page")
            case "/members/out":
                .redirect(to: "http://localhost:\(request.value(of: "Host")?.split(separator: ":").last ?? "")/")
            default: .ok(request.value(of: "Cookie") ?? "absent")
            }
        }
        for _ in 1...2 {
            #expect(try await fixture.load("/in") == (200, "token=t1"))
            #expect(try await fixture.load("/members/out") == (200, "absent"))
            await fixture.cache.flush()
        }
        #expect(fixture.provider.reasons.count == 1)
        #expect(
            fixture.origin.requests.map(\.path) == ["/in", "/members/page", "/members/out", "/", "/in", "/members/out"]
        )
    }

    @Test("a body that a 307 leads into the login's domain, or out of it, is sent whole")
    func redirectedBody() async throws {
        let fixture = try LoginFixture(
            rules: [
                .allow("http://127.0.0.1:*/members/**", via: .network, requiresLogin: .always),
                .allow("http://*:*/**", via: .network),
            ]
        ) { request in
            switch request.path {
            case "/in": .redirect(307, to: "/members/order")
            case "/members/out":
                .redirect(
                    307,
                    to: "http://localhost:\(request.value(of: "Host")?.split(separator: ":").last ?? "")/order"
                )
            default:
                .ok(
                    "\(request.method) \(String(decoding: request.body, as: UTF8.self)) \(request.value(of: "Cookie") ?? "-")"
                )
            }
        }
        for (path, expected) in [("/in", "POST books token=t1"), ("/members/out", "POST books -")] {
            var request = URLRequest(url: fixture.origin.url(path))
            request.httpMethod = "POST"
            request.httpBody = Data("books".utf8)
            let (body, _) = try await fixture.session.data(for: request)
            #expect(String(decoding: body, as: UTF8.self) == expected)
        }
        #expect(fixture.origin.requests.map(\.path) == ["/in", "/members/order", "/members/out", "/order"])
        #expect(fixture.origin.requests.allSatisfy { $0.body == Data("books".utf8) })
    }

    @Test("the token is in the session's storage, with all attributes, before the request is sent")
    func inStorage() async throws {
        let fixture = try LoginFixture { _ in .ok("page") }
        let seen = Mutex<HTTPCookie?>(nil)
        let storage = fixture.storage
        let origin = try ScriptedOrigin { _ in
            seen.withLock { $0 = storage.cookies?.first }
            return .ok("page")
        }
        _ = try await fixture.session.data(from: origin.url("/?needAuth=true"))
        let cookie = try #require(seen.withLock { $0 })
        #expect(cookie.name == "token" && cookie.value == "t1" && cookie.domain == "127.0.0.1" && cookie.path == "/")
        #expect(cookie.isSecure && cookie.isHTTPOnly && cookie.expiresDate == nil)
    }

    @Test("a token ends at its expiry, and the provider is called again")
    func expiry() async throws {
        let clock = ManualClock()
        let network = ScriptedTransport { _ in .ok("page") }
        let count = Counter()
        let login = LoginSession(cookie: .named("token", domain: "shop.example", lifetime: .hours(1))) { _ in
            LoginToken("t\(count.next())")
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network, requiresLogin: .always)]
            $0.login = login
            $0.makeTransport = { _ in network }
            $0.now = clock.now
            $0.schedule = clock.schedule
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "https://shop.example/"))
        for seconds in [0, 3_599, 1] as [TimeInterval] {
            clock.advance(by: seconds)
            _ = try await session.data(from: url)
        }
        #expect(
            network.requests.map { $0.value(forHTTPHeaderField: "Cookie") } == ["token=t1", "token=t1", "token=t2"]
        )
    }

    @Test("a token with a line break or a semicolon is refused", arguments: ["a\r\nX: y", "a;b", "a\nb"])
    func unsendable(token: String) async throws {
        let fixture = try LoginFixture([token]) { _ in .ok("page") }
        #expect(await fixture.failure("/?needAuth=true") == Failure(.userAuthenticationRequired, .loginFailed))
        #expect(fixture.origin.requestCount == 0)
        #expect(!fixture.login.isLoggedIn)
    }

    @Test("a token that has already expired is refused, and a renewal keeps the old token")
    func expired() async throws {
        let clock = ManualClock()
        let network = ScriptedTransport { request in
            .init([.head(request.url?.path == "/refused" ? 401 : 200), .end])
        }
        let cookie = LoginCookie.named("token", domain: "shop.example")
        let cookies = CookieStore(now: clock.now)
        let login = LoginSession(cookie: cookie) { reason in
            reason == .signIn ? LoginToken("t1") : LoginToken("t2", expires: clock.now())
        }
        let expired = LoginSession(account: "expired", cookie: cookie) { _ in
            LoginToken("t0", expires: clock.now())
        }
        func session(_ login: LoginSession) throws -> URLSession {
            let interceptor = try Interceptor {
                $0.rules = [.allow("https://shop.example/**", via: .network, requiresLogin: .marked)]
                $0.cookies = login === expired ? nil : cookies
                $0.login = login
                $0.makeTransport = { _ in network }
                $0.now = clock.now
                $0.schedule = clock.schedule
            }
            return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        }
        func failure(_ session: URLSession, _ path: String) async throws -> Failure? {
            do {
                _ = try await session.data(from: try #require(URL(string: "https://shop.example\(path)")))
                return nil
            } catch { return Failure(error) }
        }
        let failed = Failure(.userAuthenticationRequired, .loginFailed)
        #expect(try await failure(session(expired), "/?needAuth=true") == failed)
        #expect(network.requests.isEmpty)
        let session = try session(login)
        try await login.logIn()
        #expect(try await failure(session, "/refused") == failed)
        #expect(cookies.cookies.map(\.value) == ["t1"])
    }

    @Test("a rule that requires a login is refused without one when the interceptor is made")
    func missing() throws {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.rules = [.allow("https://a.example/**", via: .network, requiresLogin: .marked)] }
        }
        #expect(error?.code == .missingLogin)
    }

    @Test(
        "a cookie that cannot be sent or stored is refused when the interceptor is made",
        arguments: [
            LoginCookie.named("a=b", domain: "a.example"), .named("token", domain: "localhost"),
            .named("token", domain: "co.uk"),
        ]
    )
    func invalid(cookie: LoginCookie) throws {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.login = LoginSession(cookie: cookie) { "t" } }
        }
        #expect(error?.code == .invalidLogin)
    }

    @Test("a cookie for a single host is accepted, also if the host's name is a public suffix")
    func hostOnly() throws {
        _ = try Interceptor {
            $0.login = LoginSession(cookie: .named("token", domain: "localhost", isHostOnly: true)) { "t" }
        }
    }

    @Test("events report logins and log-outs, without the token")
    func events() async throws {
        let fixture = try LoginFixture(["secret"]) { _ in .ok("page") }
        let events = fixture.interceptor.events
        try await fixture.load("/?needAuth=true")
        await fixture.login.logOut()
        var told: [String] = []
        for await event in events {
            told.append(event.description)
            if case .login(let event) = event.kind, case .loggedOut = event.kind { break }
        }
        for text in ["alice asked for sign-in", "alice logged in by sign-in", "alice logged out, 0 loads ended"] {
            #expect(told.contains("login " + text))
        }
        #expect(!told.contains { $0.contains("secret") })
    }
}

import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A log-out")
struct LogoutTests {
    private static let stored: LoginFixture.Script = { request in
        .ok(request.value(of: "Cookie") ?? "absent", fields: ["Cache-Control": "max-age=60"])
    }

    @Test("removes the login's cookies from the store and from the session's storage, and no others")
    func cookies() async throws {
        let fixture = try LoginFixture { request in
            request.path == "/sid" ? .ok("", fields: ["Set-Cookie": "sid=1; Path=/"]) : .ok()
        }
        try await fixture.login.logIn()
        try await fixture.load("/sid")
        let other = try Cookie(name: "other", value: "1", domain: "shop.example", creation: fixture.clock.now())
        try fixture.cookies.insert(other)
        await fixture.cookies.synchronize()
        #expect(Set((fixture.storage.cookies ?? []).map(\.name)) == ["token", "sid", "other"])
        await fixture.login.logOut()
        #expect(!fixture.login.isLoggedIn)
        #expect(fixture.cookies.cookies.map(\.name) == ["other"])
        #expect((fixture.storage.cookies ?? []).map(\.name) == ["other"])
        try await fixture.load("/")
        #expect(fixture.seen.last == .some(nil))
    }

    @Test("removes the domain's cookies that only a storage has")
    func inStoragesOnly() async throws {
        let view = WebView()
        let shop = try Shop(ScriptedTransport { _ in .ok() }, via: .network, beside: view)
        func cookie(_ name: String, _ domain: String = "shop.example") throws -> Cookie {
            try Cookie(name: name, value: "1", domain: domain, creation: shop.clock.now())
        }
        try await shop.login.logIn()
        // Foundation's own loads, the web view and the app put cookies there, and no request has followed.
        shop.storage.setCookie(
            try #require(HTTPCookie(properties: [.name: "sid", .value: "1", .domain: "shop.example", .path: "/"]))
        )
        for cookie in [try cookie("view"), try cookie("other", "news.example")] { view.put(cookie) }
        await shop.login.logOut()
        #expect(shop.cookies.cookies.map(\.name) == ["other"])
        #expect(view.held.map(\.name) == ["other"])
        #expect((shop.storage.cookies ?? []).map(\.name) == ["other"])
        try await shop.load("https://shop.example/")
        #expect(shop.seen == [nil])
    }

    @Test("removes the cookies that Foundation stores until its loads have ended, and takes later ones")
    func storedMeanwhile() async throws {
        let store = CookieStore()
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let sync = try #require(store.sync(with: storage, limit: .seconds(3)) { _, _ in })
        func put(_ value: String) throws {
            let properties: [HTTPCookiePropertyKey: Any] =
                [.name: "sid", .value: value, .domain: "shop.example", .path: "/"]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let id = Cookie.ID(name: "token", domain: "shop.example", isHostOnly: false, path: "/")
        _ = store.end(id, of: "alice")
        await store.synchronize()
        try put("early")
        store.endStorages(of: id)
        await store.synchronize()
        #expect(store.cookies.isEmpty)
        #expect(storage.cookies?.isEmpty == true)
        try put("late")
        _ = sync.look()
        #expect(store.cookies.map(\.value) == ["late"])
    }

    @Test("removes the credentials of its hosts, and no others")
    func credentials() async throws {
        let fixture = try LoginFixture { _ in .ok() }
        for host in ["127.0.0.1", "shop.example"] {
            let space = URLProtectionSpace(
                host: host,
                port: 80,
                protocol: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            fixture.credentials.set(credential, for: space)
        }
        try await fixture.login.logIn()
        await fixture.login.logOut()
        let left = fixture.credentials.allCredentials.filter { !$0.value.isEmpty }
        #expect(left.map(\.key.host) == ["shop.example"])
    }

    @Test("removes the login's stored responses", arguments: [CacheStrategy.standard, .cacheFirst(for: .days(1))])
    func responses(strategy: CacheStrategy) async throws {
        let fixture = try LoginFixture(via: .cache(strategy), script: Self.stored)
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page").body == "token=t1")
        await fixture.cache.flush()
        #expect(try await fixture.load("/page").body == "token=t1")
        #expect(fixture.origin.requestCount == 1)
        await fixture.login.logOut()
        #expect(await fixture.cache.statistics.entries == 0)
        #expect(try await fixture.load("/page").body == "absent")
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page").body == "token=t2")
    }

    @Test("fails the loads that wait for a login, and drops the provider's late token", arguments: [true, false])
    func waiting(ignoringCancel: Bool) async throws {
        let door = Door(ignoringCancel: ignoringCancel)
        let provider = ScriptedProvider(["late"], behind: door)
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin { _ in .ok() })
        async let failure = fixture.failure("/?needAuth=true")
        await fixture.waitForWaiters(1)
        await fixture.login.logOut()
        #expect(await failure == .loggedOut)
        door.open()
        for _ in 0..<1_000 { await Task.yield() }
        #expect(!fixture.login.isLoggedIn)
        #expect(fixture.origin.requestCount == 0)
        #expect(provider.cancelled == 1)
    }

    @Test("fails a load whose response has not begun, and takes no cookies of it", arguments: [false, true])
    func inFlight(isCached: Bool) async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture(via: isCached ? .cache(.standard) : .network) { _ in
            .ok("late", fields: ["Set-Cookie": "sid=late; Path=/", "Cache-Control": "max-age=60"]).held(at: gate)
        }
        try await fixture.login.logIn()
        async let failure = fixture.failure("/page")
        await fixture.origin.waitForRequests(1)
        await fixture.login.logOut()
        gate.open()
        #expect(await failure == .loggedOut)
        await fixture.cache.flush()
        #expect(fixture.cookies.cookies.isEmpty)
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("fails a load in the middle of its body, and stores nothing of it")
    func streaming() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture(via: .cache(.standard)) { _ in
            .stream(
                [.bytes(Data("one".utf8)), .wait(gate), .bytes(Data("two".utf8))],
                fields: ["Cache-Control": "max-age=60"]
            )
        }
        try await fixture.login.logIn()
        let begun = Door()
        let watching = RecordingDelegate(received: { _ in begun.open() })
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: fixture.interceptor),
            delegate: watching,
            delegateQueue: nil
        )
        session.dataTask(with: fixture.origin.url("/page")).resume()
        await begun.pass()
        await fixture.login.logOut()
        gate.open()
        await watching.completion()
        #expect(watching.body == Data("one".utf8))
        #expect(watching.calls.last == .completed(.userCancelledAuthentication))
        await fixture.cache.flush()
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("fails a load in the middle of a stored body")
    func streamingFromCache() async throws {
        let size = 4 << 20
        let fixture = try LoginFixture(via: .cache(.standard)) { _ in
            .ok(.random(size), fields: ["Cache-Control": "max-age=60"])
        }
        try await fixture.login.logIn()
        try await fixture.load("/page")
        await fixture.cache.flush()
        let begun = Door()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let watching = RecordingDelegate(received: { _ in
            // The load reads the next piece after an operation that is queued behind this one.
            queue.isSuspended = true
            begun.open()
        })
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: fixture.interceptor),
            delegate: watching,
            delegateQueue: queue
        )
        session.dataTask(with: fixture.origin.url("/page")).resume()
        await begun.pass()
        await fixture.login.logOut()
        queue.isSuspended = false
        await watching.completion()
        #expect(watching.calls.last == .completed(.userCancelledAuthentication))
        #expect(watching.body.count < size)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("prevents the storing of a response that has almost ended")
    func aboutToStore() async throws {
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { _ in
            .init([.head(200, fields: ["Cache-Control": "max-age=60"]), .part(Data("late".utf8)), .wait(gate), .end])
        }
        let shop = try Shop(network)
        try await shop.login.logIn()
        async let failure = shop.failure("/page")
        await network.waitForRequests(1)
        await shop.login.logOut()
        gate.open()
        #expect(await failure == .loggedOut)
        await shop.cache.flush()
        #expect(await shop.cache.statistics.entries == 0)
    }

    @Test("drops the response and the cookies of a renewal in the background")
    func renewal() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture(via: .cache(.staleWhileRevalidate(upTo: .days(1)))) { request in
            // The scripts of two connections may run in another order than their requests have come.
            let number = request.order + 1
            let fields: KeyValuePairs<String, String> = [
                "Cache-Control": "max-age=60", "Set-Cookie": "sid=\(number); Path=/",
            ]
            return number == 1 ? .ok("1", fields: fields) : .ok("2", fields: fields).held(at: gate)
        }
        try await fixture.login.logIn()
        try await fixture.load("/page")
        await fixture.cache.flush()
        #expect(try await fixture.load("/page").body == "1")
        await fixture.origin.waitForRequests(2)
        await fixture.login.logOut()
        gate.open()
        let (_, response) = try await fixture.session.data(from: fixture.origin.url("/other"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        await fixture.cache.flush()
        #expect(!fixture.cookies.cookies.contains { $0.value == "2" })
        #expect(fixture.seen.last == .some(nil))
        #expect(await fixture.cache.statistics.entries == 1)
    }

    @Test("drops the response and the cookies of a renewal that arrive although it was cancelled")
    func lateRenewal() async throws {
        let url = "http://127.0.0.1/page"
        let heads = try (1...2).map {
            try ResponseHead.head(200, ["Cache-Control": "max-age=60", "Set-Cookie": "sid=\($0); Path=/"], at: url)
        }
        @Sendable func answer(_ number: Int, _ receiver: any TransportReceiver) {
            receiver.transportDidReceive(heads[number - 1])
            receiver.transportDidReceive(Data("\(number)".utf8))
            receiver.transportDidEnd(nil)
        }
        let network = DrivenTransport(onStart: { number, receiver in
            if number == 1 { answer(1, receiver) }
        })
        let route = Route.cache(.staleWhileRevalidate(upTo: .days(1)))
        let fixture = try LoginFixture(via: route, through: network) { _ in .ok() }
        try await fixture.login.logIn()
        for _ in 0..<2 { #expect(try await fixture.load("/page").body == "1") }
        let renewal = try await network.receiver(2)
        await fixture.login.logOut()
        answer(2, renewal)
        await fixture.cache.flush()
        #expect(fixture.cookies.cookies.isEmpty)
        #expect(fixture.storage.cookies?.isEmpty == true)
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("ends a renewal in the background, which may still be waiting to be sent")
    func endedRenewal() async throws {
        let count = Counter()
        let network = ScriptedTransport { _ in
            count.next() == 1 ? .ok("page", fields: ["Cache-Control": "max-age=60"]) : .unanswered
        }
        let shop = try Shop(network, via: .cache(.staleWhileRevalidate(upTo: .days(1))))
        try await shop.login.logIn()
        for _ in 0..<2 {
            #expect(try await shop.load("https://shop.example/page") == "page")
            await shop.cache.flush()
        }
        await network.waitForRequests(2)
        #expect(network.cancelledRequests.isEmpty)
        await shop.login.logOut()
        #expect(network.cancelledRequests.map(\.url?.path) == ["/page"])
    }

    @Test("fails a load that waits for the renewal of its token")
    func renewing() async throws {
        let fixture = try LoginFixture(
            ScriptedProvider(["t1"], behind: Door()),
            origin: ScriptedOrigin { _ in .status(401) }
        )
        try fixture.insertToken("old")
        async let failure = fixture.failure("/page")
        await fixture.waitForWaiters(1)
        await fixture.login.logOut()
        #expect(await failure == .loggedOut)
        #expect(!fixture.login.isLoggedIn)
    }

    @Test("cancels an upload that Foundation runs")
    func upload() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture { _ in .ok("late", fields: ["Set-Cookie": "sid=late"]).held(at: gate) }
        try await fixture.login.logIn()
        let request = URLRequest(url: fixture.origin.url("/form"))
        var post = request
        post.httpMethod = "POST"
        async let failure: URLError.Code? = {
            do {
                _ = try await fixture.session.upload(for: post, from: Data("x".utf8))
                return nil
            } catch { return (error as? URLError)?.code }
        }()
        let sent = await fixture.origin.waitForRequests(1)
        #expect(sent.first?.value(of: "Cookie") == "token=t1")
        await fixture.login.logOut()
        gate.open()
        #expect(await failure == .cancelled)
        #expect(fixture.cookies.cookies.isEmpty)
    }

    @Test("returns only after an upload has been cancelled, however long that takes")
    func uploadHasEnded() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture { _ in .ok("late").held(at: gate) }
        try await fixture.login.logIn()
        var post = URLRequest(url: fixture.origin.url("/form"))
        post.httpMethod = "POST"
        let task = fixture.session.uploadTask(with: post, from: Data("x".utf8))
        task.resume()
        await fixture.origin.waitForRequests(1)
        // While this block holds the task's queue, the task cannot be cancelled.
        let queue = try #require(FoundationInternals.workQueue(of: task))
        let hold = DispatchSemaphore(value: 0)
        queue.async { _ = hold.wait(timeout: .now() + .milliseconds(500)) }
        await fixture.login.logOut()
        #expect(task.state != .running)
        hold.signal()
        gate.open()
    }

    @Test("fails a suspended task without waiting for its resumption")
    func suspended() async throws {
        let gate = try ScriptedOrigin.Gate()
        let delegate = RecordingDelegate()
        let fixture = try LoginFixture(delegate: delegate) { _ in .ok("late").held(at: gate) }
        try await fixture.login.logIn()
        let task = fixture.session.dataTask(with: fixture.origin.url("/page"))
        task.resume()
        await fixture.origin.waitForRequests(1)
        task.suspend()
        await fixture.login.logOut()
        gate.open()
        task.resume()
        await delegate.completion()
        #expect(delegate.calls == [.completed(.userCancelledAuthentication)])
    }

    @Test("fails a load that a redirect has led to a host of the login")
    func redirected() async throws {
        let gate = try ScriptedOrigin.Gate()
        let target = try ScriptedOrigin { _ in .ok("late").held(at: gate) }
        let fixture = try LoginFixture { _ in .redirect(to: target.url("/page").absoluteString) }
        try await fixture.login.logIn()
        let elsewhere = try #require(URL(string: "http://localhost:\(fixture.origin.port)/"))
        async let failure: Failure? = {
            do {
                _ = try await fixture.session.data(from: elsewhere)
                return nil
            } catch { return Failure(error) }
        }()
        #expect(await target.waitForRequests(1).first?.value(of: "Cookie") == "token=t1")
        await fixture.login.logOut()
        gate.open()
        #expect(await failure == .loggedOut)
    }

    @Test("fails a request that was prepared with a removed cookie before it is sent")
    func carried() async throws {
        let network = ScriptedTransport { _ in .ok() }
        let shop = try Shop(network, via: .network)
        try await shop.login.logIn()
        let url = try #require(URL(string: "https://shop.example/"))
        let prepared = shop.cookies.choosing(for: URLRequest(url: url), login: shop.login.id)
        await shop.login.logOut()
        let client = RecordingJourneyClient()
        let load = Journey(client, prepared, by: shop.interceptor)
        load.start()
        load.go(on: Visit(Hop(prepared), .send))
        #expect(await client.completion() == [.end(.userCancelledAuthentication)])
        #expect(network.requests.isEmpty)
    }

    @Test("waits for a load that has just got its end, and does not count it")
    func justEnded() async throws {
        let shop = try Shop(ScriptedTransport { _ in .ok() }, via: .network)
        try await shop.login.logIn()
        let loads = shop.login.loads
        let epoch = loads.epoch
        let (counts, counted) = AsyncStream<Int>.makeStream()
        let client = RecordingJourneyClient(ended: {
            Task { counted.yield(await loads.advance()) }
            // The log-out has listed the loads before this one leaves its place.
            while loads.epoch == epoch { sched_yield() }
        })
        let url = try #require(URL(string: "https://shop.example/"))
        let load = Journey(client, URLRequest(url: url), by: shop.interceptor)
        try load.begin()
        #expect(await client.completion().last == .end(nil))
        for await count in counts {
            #expect(count == 0)
            break
        }
    }

    @Test("returns only after a request with its cookies that is just being sent has been sent", arguments: [1, 2])
    func sending(logOuts: Int) async throws {
        let entered = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        // The script runs within `start`.
        let network = ScriptedTransport { _ in
            entered.signal()
            goesOn.wait()
            return .ok()
        }
        let shop = try Shop(network, via: .network)
        try await shop.login.logIn()
        let url = try #require(URL(string: "https://shop.example/"))
        async let load: Failure? = {
            do {
                _ = try await shop.session.data(from: url)
                return nil
            } catch { return Failure(error) }
        }()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                entered.wait()
                continuation.resume()
            }
        }
        // The log-out of another login must not take the request out of sight.
        if logOuts == 2 {
            let other = Cookie.ID(name: "token", domain: "other.example", isHostOnly: true, path: "/")
            _ = shop.cookies.end(other, of: "bob")
        }
        let hasReturned = Atomic(false)
        let logOut = Task {
            await shop.login.logOut()
            hasReturned.store(true, ordering: .relaxed)
        }
        // The log-out ends the load first, and has only its own work left then.
        #expect(await load == .loggedOut)
        await shop.cache.flush()
        for _ in 0..<100_000 { await Task.yield() }
        let returnedEarly = hasReturned.load(ordering: .relaxed)
        #expect(!returnedEarly)
        goesOn.signal()
        await logOut.value
        #expect(network.requests.count == 1)
    }

    @Test("does not prevent an equal cookie of another host, nor one that is set again")
    func commonPair() async throws {
        let network = ScriptedTransport { request in
            .ok("", fields: request.url?.path == "/set" ? ["Set-Cookie": "lang=de; Path=/"] : [:])
        }
        let shop = try Shop(network, via: .network)
        try await shop.login.logIn()
        for host in ["shop.example", "news.example"] { try await shop.load("https://\(host)/set") }
        await shop.login.logOut()
        try await shop.load("https://news.example/")
        try await shop.load("https://shop.example/set")
        try await shop.load("https://shop.example/")
        #expect(shop.seen == ["token=t1", nil, "lang=de", nil, "lang=de"])
    }

    @Test("prevents the storing of a token that arrives during it")
    func lateToken() throws {
        let store = CookieStore()
        let token = try Cookie(name: "token", value: "t", domain: "shop.example", creation: .now)
        let moment = store.moment()
        _ = store.end(token.id, of: "alice")
        #expect(try !store.insert(token, of: "alice", asOf: moment))
        #expect(store.cookies.isEmpty)
        #expect(try store.insert(token, of: "alice", asOf: store.moment()))
    }

    @Test("waits for loads that it ends, and refuses loads that got their cookies before it")
    func places() async {
        let login = LoginSession(cookie: .named("token", domain: "shop.example")) { "t" }
        let before = LoginTicket(login)
        let ended = Mutex(0)
        let (place, over) = (LoginPlace(), LoginPlace())
        #expect(
            place.enter(before) { place in
                ended.withLock { $0 += 1 }
                place.leave()
                return true
            }
        )
        #expect(place.enter(before) { _ in false }, "a load that is inside stays there")
        // A load that has just ended by itself leaves its place, and is not counted.
        #expect(
            over.enter(before) { place in
                place.leave()
                return false
            }
        )
        #expect(await login.loads.advance() == 1)
        #expect(ended.withLock { $0 } == 1)
        let after = LoginTicket(login)
        for ticket in [before, after] {
            #expect(!place.enter(ticket) { _ in true }, "a load that has left does not enter again")
        }
        #expect(!LoginPlace().enter(before) { _ in true })
        // A load that has been released is not counted.
        #expect(LoginPlace().enter(after) { _ in true })
        #expect(await login.loads.advance() == 0)
        withExtendedLifetime((place, over)) {}
    }

    @Test("removes a cookie again that Foundation writes back into its storage afterwards")
    func writtenBack() async throws {
        let fixture = try LoginFixture { _ in .ok() }
        try await fixture.login.logIn()
        let held = try #require(fixture.storage.cookies?.first)
        await fixture.login.logOut()
        fixture.storage.setCookie(held)
        try await fixture.load("/")
        #expect(fixture.seen == [nil])
        await fixture.cookies.synchronize()
        #expect(fixture.storage.cookies?.isEmpty == true)
        #expect(!fixture.login.isLoggedIn)
    }

    @Test("does nothing without a login, and before there is an interceptor")
    func nobody() async throws {
        let fixture = try LoginFixture { _ in .ok() }
        await fixture.login.logOut()
        let alone = LoginSession(cookie: .named("token", domain: "shop.example")) { "t" }
        await alone.logOut()
        await #expect(throws: WaystationError.self) { try await alone.logIn() }
        try await fixture.load("/?needAuth=true")
        #expect(fixture.seen == ["token=t1"])
    }

    @Test("allows the provider to return the same token again afterwards")
    func sameToken() async throws {
        let fixture = try LoginFixture(["t", "t"], via: .cache(.standard), script: Self.stored)
        try await fixture.load("/?needAuth=true")
        await fixture.login.logOut()
        #expect(try await fixture.load("/?needAuth=true").body == "token=t")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("removes its cookies from a Cookie field that Foundation wrote before")
    func staleField() async throws {
        let fixture = try LoginFixture { _ in .ok() }
        try await fixture.login.logIn()
        let task = fixture.session.dataTask(with: fixture.origin.url("/page"))
        #expect(task.originalRequest?.value(forHTTPHeaderField: "Cookie") == "token=t1")
        await fixture.login.logOut()
        task.resume()
        await fixture.origin.waitForRequests(1)
        #expect(fixture.seen == [nil])
    }
}

/// An app with a scripted network, for hosts that a loopback server cannot have.
struct Shop {
    let network: ScriptedTransport
    let clock = ManualClock()
    let cookies: CookieStore
    let login: LoginSession
    let cache: ResponseCache
    let interceptor: Interceptor
    let session: URLSession
    let storage: HTTPCookieStorage
    private let directory: TemporaryDirectory

    init(
        _ network: ScriptedTransport,
        tokens: [String] = ["t1", "t2", "t3"],
        via route: Route = .cache(.standard),
        file: URL? = nil,
        cacheDirectory: URL? = nil,
        beside other: (any CookieStorage)? = nil
    ) throws {
        self.network = network
        directory = try TemporaryDirectory()
        let clock = clock
        let provider = ScriptedProvider(tokens)
        let folder = cacheDirectory ?? directory.url
        let cache = try ResponseCache(directory: folder, environment: .patient, now: clock.now)
        let cookies = CookieStore(file: file, now: clock.now)
        let login = LoginSession(cookie: .named("token", domain: "shop.example", lifetime: .days(30))) {
            try await provider.answer($0)
        }
        interceptor = try Interceptor {
            $0.rules = [.allow("*://*/**", via: route, requiresLogin: .marked)]
            $0.cache = cache
            $0.cookies = cookies
            $0.cookieStorages = other.map { [$0] } ?? []
            $0.login = login
            $0.makeTransport = { _ in network }
            $0.now = clock.now
            $0.schedule = clock.schedule
        }
        (self.cache, self.cookies, self.login) = (cache, cookies, login)
        let configuration = URLSessionConfiguration.ephemeral
        storage = try #require(configuration.httpCookieStorage)
        session = URLSession(configuration: configuration.intercepted(by: interceptor))
    }

    @discardableResult
    func load(_ url: String, _ fields: [String: String] = [:]) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: url)))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    func failure(_ path: String) async -> Failure? {
        do {
            try await load("https://shop.example\(path)")
            return nil
        } catch {
            return Failure(error)
        }
    }

    /// The `Cookie` field of each request that was sent.
    var seen: [String?] { network.requests.map { $0.value(forHTTPHeaderField: "Cookie") } }
}

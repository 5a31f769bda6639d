import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Synchronized cookie storages")
struct StorageSyncTests {
    /// An app whose cookies are also in Foundation's storage, and in a storage of its own if it has one.
    private struct App {
        let network = ScriptedTransport { _ in .ok("", fields: ["Set-Cookie": "response=1; Path=/"]) }
        let clock = ManualClock()
        let cookies: CookieStore
        let interceptor: Interceptor
        let storage: HTTPCookieStorage
        let session: URLSession

        init(beside other: (any CookieStorage)? = nil, timeout: Duration = .seconds(3)) throws {
            let (clock, network) = (clock, network)
            let cookies = CookieStore(now: clock.now)
            self.cookies = cookies
            interceptor = try Interceptor {
                $0.rules = [.allow("https://shop.example/**", via: .network)]
                $0.cookies = cookies
                $0.cookieStorages = other.map { [$0] } ?? []
                $0.storageTimeout = timeout
                $0.makeTransport = { _ in network }
                $0.now = clock.now
                $0.schedule = clock.schedule
            }
            let configuration = URLSessionConfiguration.ephemeral
            storage = try #require(configuration.httpCookieStorage)
            session = URLSession(configuration: configuration.intercepted(by: interceptor))
        }

        func load() async throws {
            _ = try await session.data(from: try #require(URL(string: "https://shop.example/page")))
        }

        var seen: [String?] { network.requests.map { $0.value(forHTTPHeaderField: "Cookie") } }
    }

    private static func cookie(_ name: String, _ value: String = "1", path: String = "/") throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [.name: name, .value: value, .domain: "shop.example", .path: path])
        )
    }

    @Test("a response's cookie is put into the session's storage, and the app gets the change")
    func response() async throws {
        let app = try App()
        var changes = app.cookies.changes.makeAsyncIterator()
        try await app.load()
        await app.cookies.synchronize()
        let url = try #require(URL(string: "https://shop.example/page"))
        #expect(await changes.next()?.author == .response(url))
        #expect(app.storage.cookies?.map(\.name) == ["response"])
    }

    @Test("a cookie that the app puts into the session's storage is sent with the next request that it matches")
    func put() async throws {
        let app = try App()
        try app.storage.setCookie(Self.cookie("app"))
        try app.storage.setCookie(Self.cookie("elsewhere", path: "/other"))
        var changes = app.cookies.changes.makeAsyncIterator()
        try await app.load()
        #expect(app.seen == ["app=1"])
        #expect(await changes.next()?.author == .storage("HTTPCookieStorage"))
    }

    @Test("a cookie that the app changes or removes in the session's storage is changed for the next request too")
    func changedAndRemoved() async throws {
        let app = try App()
        let first = try Self.cookie("app")
        app.storage.setCookie(first)
        try await app.load()
        app.storage.setCookie(try Self.cookie("app", "2"))
        try await app.load()
        app.storage.deleteCookie(first)
        try await app.load()
        #expect(app.seen == ["app=1", "app=2; response=1", "response=1"])
    }

    @Test("a cookie that the app puts into or removes from the store changes in the session's storage too")
    func store() async throws {
        let app = try App()
        let cookie = try Cookie(
            name: "a",
            value: "1",
            domain: "shop.example",
            isSecure: true,
            creation: app.clock.now()
        )
        try app.cookies.insert(cookie)
        await app.cookies.synchronize()
        let held = try #require(app.storage.cookies?.first)
        #expect(held.domain == ".shop.example" && held.isSecure && held.value == "1")
        app.cookies.remove(cookie.id)
        await app.cookies.synchronize()
        #expect(app.storage.cookies?.isEmpty == true)
    }

    @Test("a cookie keeps attributes that a storage cannot hold, and repeated syncs report one change")
    func noLoop() async throws {
        let app = try App()
        let cookie = try Cookie(
            name: "a",
            value: "1",
            domain: "shop.example",
            isSecure: true,
            sameSite: .strict,
            creation: app.clock.now()
        )
        let changes = app.cookies.changes
        try app.cookies.insert(cookie)
        for _ in 0..<3 {
            await app.cookies.synchronize()
            try await app.load()
        }
        #expect(app.cookies.cookies.first?.sameSite == .strict)
        app.cookies.removeAll()
        var names: [String] = []
        for await change in changes {
            names.append(change.change.cookie.name)
            if !change.change.isPresent, change.change.cookie.name == "response" { break }
        }
        #expect(names == ["a", "response", "a", "response"])
    }

    @Test("a cookie value with a line break is refused, reported once and never sent")
    func lineBreak() async throws {
        let app = try App()
        let events = app.interceptor.events
        app.storage.setCookie(try Self.cookie("bad", "1\r\nX-Injected: 1"))
        try await app.load()
        try await app.load()
        #expect(app.seen == [nil, "response=1"])
        app.session.invalidateAndCancel()
        var refusals = 0
        for await event in events {
            if case .cookies(let event) = event.kind, case .refused(let error) = event.kind {
                #expect(error.code == .character)
                refusals += 1
            }
            if case .served = event.kind, app.network.requests.count == 2 { break }
        }
        #expect(refusals == 1)
    }

    @Test("a storage that another store uses is not shared, and its cookies are not sent")
    func inUse() async throws {
        let (first, second) = (try App(), CookieStore())
        first.storage.setCookie(try Self.cookie("app"))
        try await first.load()
        let network = ScriptedTransport { _ in .ok() }
        let told = Mutex<[String]>([])
        second.addListener { event in told.withLock { $0.append("\(event)") } }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network)]
            $0.cookies = second
            $0.makeTransport = { _ in network }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = first.storage
        let session = URLSession(configuration: configuration.intercepted(by: interceptor))
        let url = try #require(URL(string: "https://shop.example/page"))
        let task = session.dataTask(with: url)
        // Foundation has already written the cookie into the task's request.
        #expect(task.originalRequest?.value(forHTTPHeaderField: "Cookie")?.contains("app=1") == true)
        task.resume()
        await network.waitForRequests(1)
        #expect(network.requests.first?.value(forHTTPHeaderField: "Cookie") == nil)
        #expect(second.cookies.isEmpty)
        #expect(told.withLock { $0.contains { $0.contains("is in step with another cookie store") } })
    }

    @Test("a storage is kept in step as long as it exists, and not longer")
    func gone() async throws {
        let app = try App()
        for _ in 0..<10 {
            let configuration = URLSessionConfiguration.ephemeral.intercepted(by: app.interceptor)
            #expect(configuration.httpCookieStorage != nil)
        }
        #expect(
            await eventually {
                try? app.cookies.insert(Cookie(name: "a", value: "1", domain: "shop.example", creation: .now))
                return app.cookies.state.withLock { $0.syncs.count } == 1
            }
        )
        await app.cookies.synchronize()
        #expect(app.cookies.cookies.map(\.name) == ["a"])
        #expect(app.storage.cookies?.map(\.name) == ["a"])
    }

    @Test("explaining a request takes no cookie from the storage that all sessions share, and puts none into it")
    func explaining() async throws {
        let cookies = CookieStore()
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://explained.example/**", via: .network)]
            $0.cookies = cookies
        }
        let others = try #require(
            HTTPCookie(properties: [.name: "others", .value: "1", .domain: "explained.example", .path: "/"])
        )
        HTTPCookieStorage.shared.setCookie(others)
        defer { HTTPCookieStorage.shared.deleteCookie(others) }
        try cookies.insert(Cookie(name: "own", value: "1", domain: "explained.example", creation: .now))
        _ = await interceptor.explain(try #require(URL(string: "https://explained.example/page")))
        await cookies.synchronizeStorages()
        #expect(cookies.cookies.map(\.name) == ["own"])
        let shared = (HTTPCookieStorage.shared.cookies ?? []).filter { $0.domain.hasSuffix("explained.example") }
        #expect(shared.map(\.name) == ["others"])
        // A storage that is in step with one store is closed to every other store.
        #expect(cookies.state.withLock { $0.syncs.isEmpty })
    }

    // MARK: - A storage of the app's own

    @Test("a storage of the app's own is synchronized both ways")
    func own() async throws {
        let view = WebView()
        let app = try App(beside: view)
        let there = try Cookie(name: "view", value: "1", domain: "shop.example", creation: app.clock.now())
        view.put(there)
        try await app.load()
        #expect(app.seen == ["view=1"])
        await app.cookies.synchronize()
        #expect(view.held.map(\.name) == ["response", "view"])
        #expect(Set((app.storage.cookies ?? []).map(\.name)) == ["response", "view"])
        view.put(nil, there.id)
        try await app.load()
        #expect(app.seen.last == "response=1")
    }

    @Test("a storage that fails is reported, and loads continue")
    func failing() async throws {
        let view = WebView { _, _ in true }
        let app = try App(beside: view)
        let events = app.interceptor.events
        try await app.load()
        for await event in events {
            if case .cookies(let event) = event.kind, case .storageFailed("web view", _) = event.kind { break }
        }
        #expect(app.seen == [nil])
    }

    @Test("a storage that was not ready gets the store's cookies with the next sync")
    func notReady() async throws {
        let view = WebView { call, number in call == .cookies && number <= 2 }
        let app = try App(beside: view)
        try app.cookies.insert(Cookie(name: "a", value: "1", domain: "shop.example", creation: app.clock.now()))
        for _ in 0..<3 { await app.cookies.synchronize() }
        #expect(view.held.map(\.name) == ["a"])
    }

    @Test("a cookie that a storage did not remove is removed with the next sync, and does not come back")
    func notRemoved() async throws {
        let view = WebView { call, number in call == .remove && number == 1 }
        let app = try App(beside: view)
        let cookie = try Cookie(name: "a", value: "1", domain: "shop.example", creation: app.clock.now())
        try app.cookies.insert(cookie)
        await app.cookies.synchronize()
        app.cookies.remove(cookie.id)
        for _ in 0..<2 { await app.cookies.synchronize() }
        #expect(view.held.isEmpty)
        #expect(app.cookies.cookies.isEmpty)
    }

    @Test("a storage that never answers is reported at the time limit, and later loads do not wait for it")
    func silent() async throws {
        let door = Door(ignoringCancel: true)
        let view = WebView(behind: door)
        let app = try App(beside: view)
        let events = app.interceptor.events
        async let first: Void = app.load()
        #expect(await eventually { view.isBusy })
        app.clock.fire()
        for await event in events {
            if case .cookies(let event) = event.kind, case .storageTimedOut("web view") = event.kind { break }
        }
        try await first
        // No load waits for the storage until it answers.
        try await app.load()
        #expect(app.network.requests.count == 2)
        door.open()
        #expect(await eventually { !view.held.isEmpty })
        #expect(view.held.map(\.name) == ["response"])
    }

    @Test("one storage of two interceptors is called one call at a time, and has the newest cookies")
    func shared() async throws {
        let door = Door(ignoringCancel: true)
        let view = WebView(behind: door)
        let app = try App(beside: view)
        let second = try Interceptor {
            $0.cookies = app.cookies
            $0.cookieStorages = [view]
            $0.schedule = app.clock.schedule
        }
        for value in 1...5 {
            try app.cookies.insert(
                Cookie(name: "a", value: "\(value)", domain: "shop.example", creation: app.clock.now())
            )
        }
        door.open()
        await app.cookies.synchronize()
        #expect(view.held.map(\.value) == ["5"])
        #expect(app.cookies.cookies.map(\.value) == ["5"])
        #expect(view.mostAtOnce == 1)
        withExtendedLifetime(second) {}
    }

    @Test("syncs run one after another, and the last one writes the current cookies")
    func queued() async throws {
        let door = Door(ignoringCancel: true)
        let view = WebView(behind: door)
        let app = try App(beside: view)
        for value in 1...5 {
            try app.cookies.insert(
                Cookie(name: "a", value: "\(value)", domain: "shop.example", creation: app.clock.now())
            )
        }
        door.open()
        await app.cookies.synchronize()
        #expect(view.held.map(\.value) == ["5"])
        #expect(view.mostAtOnce == 1)
    }
}

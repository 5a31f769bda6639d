import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationPacks
import WaystationRecording
import WaystationTesting

/// Every Swift example of the documentation, compiled and, if possible, run.
///
/// An example is written between `// snippet: name` and `// end snippet`. ``DocumentationTests`` compares the examples
/// with those in the documents, so that both must change together.
// Imports what an app imports, so that an example that needs more does not compile.
@Suite("The documentation's examples")
struct ReadmeExamplesTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    @Test("an interceptor gets a cookie store")
    func cookieStore() async throws {
        let cookieFile = folder.root.appending(path: "cookies.json")
        // snippet: cookie-store
        let cookies = CookieStore(file: cookieFile)  // without a file: in memory
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network)]
            $0.cookies = cookies
        }
        Task { for await change in cookies.changes { print(change.author, change.change.cookie.name) } }
        // end snippet
        try cookies.insert(Cookie(name: "a", value: "1", domain: "shop.example", creation: .now))
        let url = try #require(URL(string: "https://shop.example/"))
        #expect(cookies.cookies(for: url).map(\.pair) == ["a=1"])
        withExtendedLifetime(interceptor) {}
    }

    @Test("an app logs in and out")
    func login() async throws {
        let (app, user) = (App(), "alice")
        // snippet: login
        let login = LoginSession(cookie: .named("token", domain: "shop.example")) { try await app.signIn() }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network, requiresLogin: .marked)]
            $0.login = login
        }
        // end snippet
        try await patiently { try await login.logIn() }
        #expect(login.isLoggedIn)
        // snippet: login-out
        await login.logOut()  // a barrier: nothing from before it is sent, delivered or stored after it
        // end snippet
        #expect(!login.isLoggedIn)
        withExtendedLifetime(interceptor) {}
        try await withReasons(app, user)
    }

    /// Tries again when the login took longer than its limit of three seconds on a busy machine.
    private func patiently(_ logIn: () async throws -> Void) async throws {
        while true {
            do {
                return try await logIn()
            } catch let error as URLError {
                guard (error.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .loginTimedOut else {
                    throw error
                }
            }
        }
    }

    private struct App {
        func signIn() async throws -> String { "t1" }
        func renew(_ token: String) async throws -> String { token + "+" }
    }

    private func withReasons(_ app: App, _ user: String) async throws {
        let interceptor: Interceptor
        // snippet: login-reasons
        let cookie = LoginCookie.named("token", domain: "shop.example", path: "/app")
        let login = LoginSession(account: user, cookie: cookie) { reason in
            switch reason {
            case .signIn: try await LoginToken(app.signIn())
            case .renewal(let refused): try await LoginToken(app.renew(refused.value), expires: .now + 3600)
            }
        }
        // end snippet
        interceptor = try Interceptor { $0.login = login }
        try await patiently { try await login.logIn() }
        // snippet: login-ahead
        try await login.logIn()  // ahead of time, if that suits the app
        // end snippet
        #expect(login.isLoggedIn)
        withExtendedLifetime(interceptor) {}
    }

    @Test("the first example serves a page from a file, with Cache-Status")
    func first() async throws {
        let (siteFolder, cacheFolder) = (folder.site, folder.cache)
        let url = try #require(URL(string: "https://shop.example/app/index.html"))
        // snippet: first
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("https://shop.example/app/**", via: .files(in: siteFolder, at: "https://shop.example/app/")),
                .allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7)))),
                .block("https://ads.example/**"),
            ]  // requests that no rule matches are left alone
            $0.cache = try ResponseCache(directory: cacheFolder)
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let (page, response) = try await session.data(from: url)  // plain Foundation from here on
        // end snippet
        #expect(String(decoding: page, as: UTF8.self) == Folder.page)
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        #expect(status == "Waystation; hit; detail=files")
        try Documents.article("Operating").expectToShow("Cache-Status: \(try #require(status))")
    }

    @Test("a body in a request's header becomes the body")
    func headerBodies() async throws {
        // snippet: header-body
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network)]
            $0.headerBody = HeaderBody()  // x-weimai-h5body: %7B%22sku%22%3A7%7D
        }
        // end snippet
        let body = Data("{\"sku\":7}".utf8)
        #expect(HeaderBody().fields(for: body) == ["x-weimai-h5body": "%7B%22sku%22%3A7%7D"])
        var request = URLRequest(url: try #require(URL(string: "https://shop.example/cart")))
        request.httpMethod = "POST"
        // snippet: header-body-fields
        for (name, value) in HeaderBody().fields(for: body, encoding: .base64) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        // end snippet
        #expect(request.value(forHTTPHeaderField: "x-weimai-h5body") == "eyJza3UiOjd9")
        #expect(interceptor.decision(for: request) == .allowed(rule: 0, pattern: "https://shop.example/**"))
    }

    @Test("body streams are spooled in the directory that the app sets")
    func bodySpool() throws {
        let scratch = folder.cache
        // snippet: body-spool
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network)]
            $0.bodySpool = BodySpool(memory: .mebibytes(4), directory: scratch)
        }
        // end snippet
        #expect(interceptor.isEnabled)
    }

    @Test("links to other apps go to the app's handler")
    func externalLinks() async throws {
        final class App: Sendable {
            let opened = Mutex<[URL?]>([])
            func open(_ request: URLRequest) { opened.withLock { $0.append(request.url) } }
        }
        let app = App()
        // snippet: external-links
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network)]
            $0.externalLinks = ExternalLinks(
                schemes: ["tel", "mailto", "weixin"],
                hosts: ["pay.example", "*.maps.example"]
            ) { request in
                app.open(request)
            }
        }
        // end snippet
        let all = try Interceptor {
            // snippet: external-links-all
            $0.externalLinks = ExternalLinks(schemes: .allExceptHTTP) { app.open($0) }
            // end snippet
        }
        #expect(all.decision(for: try #require(URL(string: "maps:1"))) == .openedElsewhere)
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let url = try #require(URL(string: "weixin://dl/business"))
        await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(app.opened.withLock { $0 } == [url])
    }

    @Test("rules block and allow requests")
    func rules() throws {
        // snippet: rules
        let rules: [Rule] = [
            .block("https://ads.example/**"),
            .allow("https://*.news.example/**", methods: ["GET"], via: .cache(.networkFirst(timeout: .seconds(3)))),
            .allow("https://shop.example/app/**", queryItems: [.present("v")], via: .cache(.cacheFirst(for: .days(7)))),
            .allow(
                "https://**.shop.example/**",
                where: { $0.field?("Accept")?.contains("text/html") ?? false },
                via: .cache(.staleWhileRevalidate(upTo: .hours(1)))
            ),
        ]
        // end snippet
        let interceptor = try Interceptor {
            $0.rules = rules
            $0.cache = try ResponseCache(directory: folder.cache)
        }
        let url = try #require(URL(string: "https://ads.example/banner.png"))
        #expect(interceptor.decision(for: url) == .blocked(rule: 0, pattern: "https://ads.example/**"))
    }

    @Test("the warning for a probably mistaken rule has the text in the article")
    func warnings() throws {
        let interceptor = try Interceptor {
            $0.rules = [
                .block("https://ads.example/**"),
                .allow("https://shop.example/**", via: .network),
                .allow("https://api.example.com", via: .network, fileID: "Shop/Rules.swift", line: 14),
            ]
        }
        // snippet: warnings
        for warning in interceptor.warnings { print(warning) }
        // end snippet
        #expect(interceptor.warnings.count == 1)
        try Documents.article("Rules").expectToShow(#require(interceptor.warnings.first).description)
    }

    @Test("a server's whitelist becomes rules, and its invalid entries are returned as errors")
    func whitelist() throws {
        let sentByServer = ["https://shop.example/app/", "https:/shop.example/"]
        // snippet: whitelist
        let (rules, rejected) = Rule.whitelist(sentByServer, via: .cache(.networkFirst()))
        for error in rejected { print(error) }
        // end snippet
        #expect(rules.count == 1)
        #expect(rejected.count == 1)
    }

    @Test("packs are updated and served")
    func packs() async throws {
        let packsFolder = folder.root.appending(path: "packs")
        let catalogueURL = try #require(URL(string: "http://127.0.0.1:9/catalogue.json"))
        let releaseKey = try PublishedPack.key
        let appVersion = try #require(PackVersion("1.2"))
        // snippet: packs
        let packs = try PackLibrary(directory: packsFolder)
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/app/**", via: .pack(orElse: .network))]
            $0.packs = packs
        }
        let updater = PackUpdater(
            library: packs,
            source: .catalogue(at: catalogueURL, trusting: [releaseKey]),
            app: AppIdentity(code: "shop", version: appVersion)
        )
        let updates = Task { try await updater.run(every: .seconds(300)) }  // every five minutes, until it is cancelled
        // end snippet
        updates.cancel()
        try await updates.value
        let shop = try #require(ModuleID("shop"))
        let bundledPack = folder.root.appending(path: "shop.zip")
        let description = PackDescription(
            module: shop,
            version: appVersion,
            baseURLs: ["https://shop.example/app/"]
        )
        try PublishedPack.build(folder.site, description, to: bundledPack)
        // snippet: packs-bundled
        if packs.module(shop) == nil {
            try await packs.install(zip: bundledPack)  // at the first start
        }
        // end snippet
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let url = try #require(URL(string: "https://shop.example/app/"))
        let (page, _) = try await session.data(from: url)
        #expect(String(decoding: page, as: UTF8.self) == Folder.page)
        let loaded = Mutex<[URL]>([])
        func load(_ file: URL, readAccess root: URL) { loaded.withLock { $0 = [file, root] } }
        var next = description
        next.version = try #require(PackVersion("1.3"))
        try await packs.install(folder: folder.site, as: next)
        if let local = packs.fileURL(for: url) { load(local.file, readAccess: local.root) }
        #expect(loaded.withLock { $0.count } == 2)
        // snippet: packs-control
        try await packs.confirm(shop)  // this version works
        try await packs.rollBack(shop, reason: "white page")  // the previous version answers again
        try await packs.setEnabled(false, shop)  // the next source answers its URLs
        if let local = packs.fileURL(for: url) { load(local.file, readAccess: local.root) }
        // end snippet
        #expect(packs.module(shop)?.active?.version == appVersion)
        #expect(packs.module(shop)?.isServing == false)
    }

    @Test("the names and keys of packs are made from text")
    func packNames() {
        var isMade = false
        defer { #expect(isMade) }
        // snippet: packs-names
        guard let shop = ModuleID("shop"), let appVersion = PackVersion("2.1"),
            let releaseKey = TrustedKey("ed25519:9IizznPiLR9LgSmMAZBL+hQVw6TUYZfI3SZfHPPxqYo=")
        else { return }
        // end snippet
        isMade = shop.description == "shop" && appVersion.description == "2.1" && !releaseKey.description.isEmpty
    }

    @Test("an updater has a health window")
    func packTrials() throws {
        let packs = try PackLibrary(directory: folder.root.appending(path: "packs"))
        let url = try #require(URL(string: "http://127.0.0.1:9/catalogue.json"))
        let source = CatalogueSource.catalogue(at: url, trusting: [try PublishedPack.key])
        let app = AppIdentity(code: "shop", version: try #require(PackVersion("1.2")))
        // snippet: packs-trials
        var configuration = PackUpdater.Configuration()
        configuration.healthWindow = .seconds(600)  // ten minutes of a run; none by default
        let updater = PackUpdater(library: packs, source: source, app: app, configuration: configuration)
        // end snippet
        #expect(updater.library === packs)
    }

    @Test("the error for an invalid pattern has the text in the article")
    func refusedPattern() throws {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor {
                $0.rules = [
                    .allow("https:/shop.example/app/**", via: .network, fileID: "Shop/Rules.swift", line: 12),
                    .allow("https://shop.example/app**/", via: .network, fileID: "Shop/Rules.swift", line: 13),
                ]
            }
        }
        try Documents.article("Rules").expectToShow("\(try #require(error))")
    }

    @Test("the reasons of a decision have the text in the article")
    func explain() throws {
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/app/**", via: .network, fileID: "Shop/Rules.swift", line: 12)]
        }
        let url = try #require(URL(string: "http://shop.example/account"))
        // snippet: explain
        switch interceptor.decision(for: url) {
        case .allowed(let rule, let pattern): print("rule \(rule), \(pattern), answers it")
        case .blocked(let rule, let pattern): print("rule \(rule), \(pattern), blocks it")
        case .openedElsewhere: print("another app opens it")
        case .untouched(let reasons): print(reasons.joined(separator: "\n"))
        }
        // end snippet
        guard case .untouched(let reasons) = interceptor.decision(for: url) else {
            Issue.record("a rule matches \(url)")
            return
        }
        try Documents.article("Rules").expectToShow(reasons.joined(separator: "\n"))
    }

    @Test("a route serves files first, and loads missing ones from the cache or not at all")
    func files() throws {
        let siteFolder = folder.site
        // snippet: files
        let rules: [Rule] = [
            .allow(
                "https://shop.example/app/**",
                via: .files(in: siteFolder, at: "https://shop.example/app/", orElse: .cache(.networkFirst()))
            ),
            .allow(
                "https://help.example/**",
                via: .files(in: siteFolder, at: "https://help.example/", orElse: .nowhere)
            ),
        ]
        // end snippet
        #expect(throws: WaystationError.self, "the first rule needs a cache") { try Interceptor { $0.rules = rules } }
    }

    @Test("the description of an event has the text in the article")
    func events() async throws {
        let siteFolder = folder.site
        let url = try #require(URL(string: "https://shop.example/app/index.html"))
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("https://shop.example/app/**", via: .files(in: siteFolder, at: "https://shop.example/app/"))
            ]
        }
        // snippet: events
        let events = interceptor.events  // first the current problems, then every new event
        Task { for await event in events { print(event) } }
        // end snippet
        var iterator = interceptor.events.makeAsyncIterator()
        _ = try await URLSession(configuration: .default.intercepted(by: interceptor)).data(from: url)
        let event = try #require(await iterator.next())
        try Documents.article("Operating").expectToShow("\(event)")
    }

    @Test("a cache is purged, and returns its statistics")
    func purge() async throws {
        let cacheFolder = folder.cache
        let url = try #require(URL(string: "https://shop.example/app/index.html"))
        // snippet: purge
        let cache = try ResponseCache(
            directory: cacheFolder,
            maximumSize: .megabytes(200),
            maximumAge: .days(30),
            maximumEntrySize: .megabytes(20)
        )
        try await cache.remove(url)
        try await cache.remove(prefix: "https://shop.example/app/")
        try await cache.remove(host: "img.example")
        try await cache.remove(olderThan: .days(2))
        let statistics = await cache.statistics
        print("\(statistics.entries) responses, \(statistics.bytes) bytes")
        // end snippet
        #expect(statistics.isAvailable)
        #expect(statistics.entries == 0)
    }

    @Test("responses are purged by tag and by group")
    func tags() async throws {
        let shop = try #require(URL(string: "https://shop.example/"))
        let cache = try ResponseCache(directory: folder.cache)
        // snippet: tags
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .cache(.standard, tags: ["shop"]))]
            $0.cache = cache
        }
        try await cache.purge(tag: "shop")  // they are never served again
        try await cache.purge(group: "prices", of: shop, as: .soft)  // they are stale at once
        // end snippet
        #expect(interceptor.rules.count == 1)
    }

    @Test("an app's code is tested with stubs")
    func stubs() async throws {
        // snippet: stubs
        let stubs = try Stubs {
            Stub(.get("https://api.example/weather"), .status(503), .json(["celsius": 21]))
            Stub(.post("https://api.example/orders").json("item", "tea"), .status(201)).once()
        }
        let session = try stubs.makeSession()

        var order = URLRequest(url: try #require(URL(string: "https://api.example/orders")))
        order.httpMethod = "POST"
        let (_, response) = try await session.upload(for: order, from: Data(#"{"item": "tea"}"#.utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(try stubs.calls(to: .post("https://api.example/orders")).map(\.text) == [#"{"item": "tea"}"#])
        try stubs.verify()
        // end snippet
    }

    @Test("an app's code is tested against a scripted origin")
    func testing() async throws {
        let cacheFolder = folder.cache
        // snippet: testing
        let origin = try ScriptedOrigin { request in
            request.path == "/price" ? .ok("42") : .status(404)
        }
        let cache = try ResponseCache(directory: cacheFolder)
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheFirst(for: .hours(1))))]
            $0.cache = cache
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))

        let (price, _) = try await session.data(from: origin.url("/price"))
        origin.stop()  // there is no network from here on
        let (again, _) = try await session.data(from: origin.url("/price"))
        #expect(again == price)
        #expect(origin.requests.map(\.target) == ["/price"])
        // end snippet
    }

    @Test("a test sets the time")
    func clock() async throws {
        let cacheFolder = folder.cache
        let origin = try ScriptedOrigin { .ok("answer \($0.order)") }
        // snippet: clock
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let cache = try ResponseCache(directory: cacheFolder, now: { time.withLock { $0 } })
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheFirst(for: .hours(1))))]
            $0.cache = cache
            $0.now = { time.withLock { $0 } }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (first, _) = try await session.data(from: origin.url())
        time.withLock { $0 += 3600 }  // an hour later the stored response is too old
        let (second, _) = try await session.data(from: origin.url())
        // end snippet
        #expect(String(decoding: first, as: UTF8.self) == "answer 0")
        #expect(String(decoding: second, as: UTF8.self) == "answer 1")
    }

    @Test("an app's own transport replaces the network")
    func ownTransport() async throws {
        let cacheFolder = folder.cache
        let url = try #require(URL(string: "https://img.example/logo.png"))
        // snippet: no-network-use
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://img.example/**", via: .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: cacheFolder)
            $0.makeTransport = { _ in NoNetwork() }
        }
        // end snippet
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .notConnectedToInternet)
    }

    @Test("a recorded session loads offline from another cache")
    func recording() async throws {
        let (cacheFolder, offlineFolder) = (folder.cache, folder.root.appending(path: "offline"))
        let harFile = folder.root.appending(path: "session.har")
        let origin = try ScriptedOrigin { _ in .ok("a page") }
        let url = origin.url("/page")
        // snippet: recording
        let recorder = HARRecorder()
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: cacheFolder)
            $0.recorder = recorder
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (page, _) = try await session.data(from: url)
        try recorder.write(to: harFile)
        // end snippet
        origin.stop()
        #expect(try await imported(harFile, into: offlineFolder, loading: url) == page)
    }

    private func imported(_ harFile: URL, into offlineFolder: URL, loading url: URL) async throws -> Data {
        // snippet: recording-import
        let cache = try ResponseCache(directory: offlineFolder)
        let report = try await cache.importRecording(at: harFile)
        for skipped in report.skipped { print(skipped.url, skipped.detail) }
        // end snippet
        #expect(report.imported.map(\.url) == [url.absoluteString])
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly))]
            $0.cache = cache
        }
        return try await URLSession(configuration: .ephemeral.intercepted(by: interceptor)).data(from: url).0
    }

    /// Compiled and not run, because it would affect every other test of this process.
    private func shared(_ interceptor: Interceptor) throws {
        // snippet: shared
        try Interceptor.registerForSharedSession(interceptor)  // before anything makes a URLSession
        // end snippet
    }

    /// Compiled and not run.
    private func switching(_ interceptor: Interceptor) {
        // snippet: switching
        interceptor.isEnabled = false  // tasks that begin from now on run on Foundation's own loader
        // end snippet
    }
}

// snippet: no-network
struct NoNetwork: Transport {
    struct Ended: TransportExchange {
        func cancel() {}
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        receiver.transportDidEnd(URLError(.notConnectedToInternet))
        return Ended()
    }
}
// end snippet

/// The folders that the examples use, deleted with the last reference to this object.
private final class Folder: Sendable {
    static let page = "<!doctype html><title>shop</title>"

    let root = FileManager.default.temporaryDirectory.appending(path: "waystation-readme-\(UUID().uuidString)")
    let site: URL
    let cache: URL

    init() throws {
        site = root.appending(path: "site")
        cache = root.appending(path: "http")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Data(Self.page.utf8).write(to: site.appending(path: "index.html"))
    }

    deinit {
        try? FileManager.default.removeItem(at: root)
    }
}

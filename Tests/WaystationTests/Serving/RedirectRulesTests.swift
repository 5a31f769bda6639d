import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationPacks
import WaystationTestSupport
import WaystationTesting

@Suite("The target of a redirect meets the rules", .timeLimit(.minutes(10)))
struct RedirectRulesTests {
    /// The way in which the redirect comes to the app.
    enum Arrival: CaseIterable {
        case network
        /// It is stored from an earlier load.
        case cache
    }

    private let app: RedirectedApp

    init() async throws { app = try await RedirectedApp() }

    @Test("a blocked target fails the load, and the origin is not asked for it", arguments: Arrival.allCases)
    func blocked(_ arrival: Arrival) async throws {
        let target = app.origin.url("/blocked/page").absoluteString
        let got = try await app.load(to: target, arriving: arrival)
        #expect(got.calls == [.redirect(to: "/blocked/page"), .completed(.resourceUnavailable)])
        #expect(got.asked == (arrival == .network ? ["/kept/a"] : []))
        #expect(got.outcome == "blocked by rule \(RedirectedApp.Rules.blocked.rawValue)")
    }

    @Test("files answer, and the response says so", arguments: Arrival.allCases)
    func files(_ arrival: Arrival) async throws {
        let got = try await app.load(to: "https://files.test/page.html", arriving: arrival)
        #expect(got.calls == [.redirect(to: "/page.html"), .response(200), .data(9), .completed(nil)])
        #expect(got.body == "from file")
        #expect(got.head?.url?.absoluteString == "https://files.test/page.html")
        #expect(got.head?.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=files")
        #expect(got.outcome == "files by rule \(RedirectedApp.Rules.files.rawValue)")
        #expect(got.asked == (arrival == .network ? ["/kept/a"] : []))
    }

    @Test("an installed pack answers", arguments: Arrival.allCases)
    func pack(_ arrival: Arrival) async throws {
        let got = try await app.load(to: "https://shop.test/app/", arriving: arrival)
        #expect(got.calls == [.redirect(to: "/app"), .response(200), .data(9), .completed(nil)])
        #expect(got.body == "from pack")
        #expect(got.head?.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=pack")
        #expect(got.outcome == "pack by rule \(RedirectedApp.Rules.pack.rawValue)")
        #expect(got.asked == (arrival == .network ? ["/kept/a"] : []))
    }

    @Test("the strategy of the target's rule decides, not the one before")
    func otherStrategy() async throws {
        let network = app.origin.url("/network/b").absoluteString
        // The archive keeps the redirect, and does not keep what the network alone answers.
        for count in 1...2 {
            let got = try await app.load(to: network)
            #expect(got.body == "/network/b")
            #expect(got.asked == (count == 1 ? ["/kept/a", "/network/b"] : ["/network/b"]))
            #expect(got.head?.value(forHTTPHeaderField: "Cache-Status") == "Waystation; fwd=bypass; fwd-status=200")
        }
        // From the network alone into the archive, which keeps what it is led to.
        for count in 1...2 {
            let got = try await app.load("/network/to-archive")
            #expect(got.body == "/kept/b")
            #expect(got.asked == (count == 1 ? ["/network/to-archive", "/kept/b"] : ["/network/to-archive"]))
        }
    }

    @Test("where no rule takes the target, the rule before goes on: an archive keeps what it is led to")
    func untaken() async throws {
        let other = try ScriptedOrigin { _ in .ok("elsewhere") }
        let target = "http://localhost:\(try #require(other.url("/").port))/page"
        #expect(app.interceptor.decision(for: try #require(URL(string: target))).isUntouched)
        for _ in 1...2 {
            let got = try await app.load(to: target)
            #expect(got.body == "elsewhere")
            #expect(got.outcome.hasSuffix("by rule \(RedirectedApp.Rules.kept.rawValue)"))
        }
        #expect(other.requestCount == 1)
        #expect(app.origin.requestCount == 1)
    }

    @Test("a circle between a pack and the network ends with Foundation's error")
    func circle() async throws {
        let got = try await app.load("/network/to-pack")
        #expect(got.calls.last == .completed(.httpTooManyRedirects))
        #expect(got.asked.count == 21)
        #expect(Set(got.asked) == ["/network/to-pack", "/overlaid/gone"])
    }

    @Test("after a 307 with a body the target's rule decides, and the network gets the whole body")
    func body() async throws {
        let blocked = try await app.load("/network/307/blocked/page", method: "POST", body: "order")
        #expect(blocked.calls == [.redirect(to: "/blocked/page"), .completed(.resourceUnavailable)])
        #expect(blocked.asked == ["/network/307/blocked/page"])
        // Files answer GET and HEAD alone: the rule's next source gets the request.
        let posted = try await app.load("/network/307/mixed/page.html", method: "POST", body: "order")
        #expect(posted.body == "POST order")
        // 303 makes a GET of it, which files answer.
        let got = try await app.load("/network/303/mixed/page.html", method: "POST", body: "order")
        #expect(got.body == "from file")
        #expect(got.asked == ["/network/303/mixed/page.html"])
    }

    @Test(
        "after a 307 the whole body reaches the origin, whatever rule takes the target",
        arguments: [
            ("/overlaid/page", RedirectedApp.Rules.overlaid), ("/kept/page", .kept), ("/network/b", .network),
            // No rule takes it, so that of the request before still applies.
            ("/other/page", .network),
        ]
    )
    fileprivate func bodies(_ target: String, _ rule: RedirectedApp.Rules) async throws {
        let got = try await app.load("/network/307\(target)", method: "POST", body: "order")
        #expect(got.body == "POST order")
        #expect(got.asked == ["/network/307\(target)", target])
        #expect(got.outcome.hasSuffix("by rule \(rule.rawValue)"))
    }

    @Test("a delegate that chooses another target chooses its rule, too")
    func chosen() async throws {
        let files = URLRequest(url: try #require(URL(string: "https://files.test/page.html")))
        let got = try await app.load(to: app.origin.url("/blocked/page").absoluteString, follow: { _ in files })
        #expect(got.body == "from file")
    }

    @Test("a target that a rule keeps from the network is not loaded, where the other rules lead to the network alone")
    func nowhere() async throws {
        let other = try ScriptedOrigin { _ in .ok("must not be loaded") }
        let target = other.url("/kept").absoluteString
        let origin = try ScriptedOrigin { _ in .redirect(302, to: target) }
        let interceptor = try Interceptor {
            $0.rules = [
                .allow(target, via: .nowhere), .allow("http://127.0.0.1:*/**", via: .network),
            ]
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        await #expect(throws: URLError.self) { try await session.data(from: origin.url("/a")) }
        #expect(other.requestCount == 0)
    }

    @Test("where no rule leads elsewhere than to the network, Foundation's own loader keeps the load")
    func networkAlone() async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        let events = interceptor.events
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        _ = try await session.data(from: app.origin.url("/network/b"))
        var iterator = events.makeAsyncIterator()
        guard case .handedBack? = await iterator.next()?.kind else {
            Issue.record("the load was not handed back")
            return
        }
    }
}

/// An app with a rule for each way to answer, and an origin that redirects.
private struct RedirectedApp {
    /// The rules, in their order.
    enum Rules: Int { case blocked, files, pack, overlaid, mixed, network, kept }

    struct Got {
        var calls: [RecordingDelegate.Call]
        var body: String
        var head: HTTPURLResponse?
        /// The paths that the origin was asked for.
        var asked: [String]
        /// The last event of the load in words.
        var outcome: String
    }

    let origin: ScriptedOrigin
    let interceptor: Interceptor
    private let cache: ResponseCache
    private let folders: TemporaryDirectory

    init() async throws {
        let folders = try TemporaryDirectory()
        try folders.write("from file", to: "site/page.html")
        try folders.write("from pack", to: "shop/index.html")
        let origin = try ScriptedOrigin { request in Self.answer(request) }
        let base = String(origin.url("/").absoluteString.dropLast())
        let packs = try PackLibrary(directory: folders.url.appending(path: "packs"))
        try await packs.install(
            folder: folders.url.appending(path: "shop"),
            as: PackDescription(
                module: try #require(ModuleID("shop")),
                version: try #require(PackVersion("1")),
                baseURLs: ["https://shop.test/app/", base + "/overlaid/"]
            )
        )
        let cache = try ResponseCache(directory: folders.url.appending(path: "cache"), environment: .patient)
        (self.folders, self.origin, self.cache) = (folders, origin, cache)
        interceptor = try Interceptor {
            $0.rules = [
                .block("http://127.0.0.1:*/blocked/**"),
                .allow(
                    "https://files.test/**",
                    via: .files(in: folders.url.appending(path: "site"), at: "https://files.test/", orElse: .nowhere)
                ),
                .allow("https://shop.test/**", via: .pack(orElse: .nowhere)),
                .allow("http://127.0.0.1:*/overlaid/**", via: .pack),
                .allow(
                    "http://127.0.0.1:*/mixed/**",
                    via: .files(in: folders.url.appending(path: "site"), at: base + "/mixed/")
                ),
                .allow("http://127.0.0.1:*/network/**", via: .network),
                .allow("http://127.0.0.1:*/kept/**", via: .cache(.cacheFirst(for: .days(1)))),
            ]
            $0.cache = cache
            $0.packs = packs
        }
    }

    /// Redirects as the target says, and else repeats it.
    private static func answer(_ request: ScriptedOrigin.Request) -> ScriptedOrigin.Response {
        switch request.path {
        case "/kept/a":
            let location = request.target.dropFirst("/kept/a?".count).removingPercentEncoding
            // A permanent one: an archive answers with a temporary redirect only when there is no network.
            return .redirect(301, to: location ?? "")
        case "/network/to-archive": return .redirect(302, to: "/kept/b")
        case "/network/to-pack": return .redirect(302, to: "/overlaid/gone")
        case "/overlaid/gone": return .redirect(302, to: "/network/to-pack")
        case let path where path.hasPrefix("/network/30"):
            let status = path.dropFirst("/network/".count).prefix(3)
            return .redirect(Int(status) ?? 0, to: String(path.dropFirst("/network/307".count)))
        default:
            let isPost = request.method == "POST"
            return .ok(isPost ? "POST " + String(decoding: request.body, as: UTF8.self) : request.path)
        }
    }

    /// RFC 3986, section 2.3: their canonical form is not encoded.
    private static let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))

    /// Loads something that the archive keeps and that redirects to `target`.
    func load(
        to target: String,
        arriving arrival: RedirectRulesTests.Arrival = .network,
        follow: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }
    ) async throws -> Got {
        let path = "/kept/a?" + (target.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "")
        if arrival == .cache { _ = try await load(path) }
        return try await load(path, follow: follow)
    }

    func load(
        _ path: String,
        method: String = "GET",
        body: String? = nil,
        follow: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }
    ) async throws -> Got {
        var request = URLRequest(url: origin.url(path))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        request.timeoutInterval = 600
        let delegate = RecordingDelegate(follow: follow)
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        let events = interceptor.events
        let earlier = origin.requestCount
        let task = session.dataTask(with: request)
        task.resume()
        await delegate.completion()
        await cache.flush()
        var outcome = ""
        for await event in events {
            switch event.kind {
            case .served(let source, _, _): outcome = "\(source)"
            case .blocked: outcome = "blocked"
            case .failed: outcome = "failed"
            default: continue
            }
            outcome += event.rule.map { " by rule \($0)" } ?? ""
            break
        }
        session.finishTasksAndInvalidate()
        return Got(
            calls: delegate.calls,
            body: String(decoding: delegate.body, as: UTF8.self),
            head: task.response as? HTTPURLResponse,
            asked: origin.requests.dropFirst(earlier).map(\.path),
            outcome: outcome
        )
    }
}

extension Interceptor.Decision {
    fileprivate var isUntouched: Bool { if case .untouched = self { true } else { false } }
}

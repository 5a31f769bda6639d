import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("Links to other apps")
struct ExternalLinksTests {
    /// The requests that the app's handler got.
    final class Opened: Sendable {
        private let log = Mutex<[URLRequest]>([])
        var requests: [URLRequest] { log.withLock { $0 } }
        var urls: [String] { requests.map { $0.url?.absoluteString ?? "-" } }
        func open(_ request: URLRequest) { log.withLock { $0.append(request) } }
    }

    private let opened = Opened()

    private func interceptor(
        rules: [Rule] = [],
        cache: ResponseCache? = nil,
        schemes: ExternalLinks.Schemes = ["tel", "mailto", "WeiXin", "ftp"]
    ) throws -> Interceptor {
        let opened = opened
        return try Interceptor {
            $0.rules = rules
            $0.cache = cache
            $0.externalLinks = ExternalLinks(
                schemes: schemes,
                hosts: ["pay.example", "*.maps.example", "127.0.0.2"],
                handler: { opened.open($0) }
            )
        }
    }

    private func session(_ interceptor: Interceptor, delegate: RecordingDelegate? = nil) -> URLSession {
        URLSession(configuration: .ephemeral.intercepted(by: interceptor), delegate: delegate, delegateQueue: nil)
    }

    private func expectOpened(_ error: URLError?) {
        #expect(error?.code == .unsupportedURL)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .openedElsewhere)
        #expect(error?.localizedDescription.contains("handed to the app") ?? false)
    }

    @Test(
        "a link with a scheme or host that the app names goes to its handler once, and the load's error says so",
        arguments: [
            "tel:+491234", "mailto:a@b.example?subject=x", "weixin://dl/business?t=1", "WEIXIN://dl",
            "ftp://files.example/a",
            "https://pay.example/order/1?x=2", "http://PAY.example:8080/", "https://a.maps.example/",
            "https://b.a.maps.example/",
        ]
    )
    func named(link: String) async throws {
        let url = try #require(URL(string: link))
        let interceptor = try interceptor()
        var events = interceptor.events.makeAsyncIterator()
        var request = URLRequest(url: url)
        request.setValue("1", forHTTPHeaderField: "X-App")
        let error = await #expect(throws: URLError.self) { try await session(interceptor).data(for: request) }
        expectOpened(error)
        #expect(error?.failingURL == url)
        #expect(opened.requests.map(\.url) == [url])
        #expect(opened.requests.first?.value(forHTTPHeaderField: "X-App") == "1")
        guard case .openedElsewhere(url)? = await events.next()?.kind else {
            Issue.record("no event reports the link as opened elsewhere")
            return
        }
        #expect(interceptor.decision(for: url) == .openedElsewhere)
    }

    @Test(
        "a URL that the app does not name is left to Foundation and fails with its error",
        arguments: ["unknown:1", "tele:1", "zzz://pay.other/", "maps://x"]
    )
    func unnamed(link: String) async throws {
        let url = try #require(URL(string: link))
        let plain = await #expect(throws: URLError.self) {
            try await URLSession(configuration: .ephemeral).data(from: url)
        }
        let ours = await #expect(throws: URLError.self) { try await session(try interceptor()).data(from: url) }
        #expect(ours?.code == plain?.code)
        #expect(ours?.userInfo[NSUnderlyingErrorKey] as? WaystationError == nil)
        #expect(opened.urls.isEmpty)
    }

    @Test(
        "with .allExceptHTTP every scheme but http and https goes to the handler",
        arguments: [
            "tel:1", "unknown:1", "ZZZ://pay.other/", "maps://x", "ftp://files.example/a", "file:///a", "intent:#x",
            "http+x://a", "https://pay.example/",
        ]
    )
    func allExceptHTTP(link: String) async throws {
        let url = try #require(URL(string: link))
        let interceptor = try interceptor(schemes: .allExceptHTTP)
        expectOpened(await #expect(throws: URLError.self) { try await session(interceptor).data(from: url) })
        #expect(opened.urls == [link])
        #expect(interceptor.decision(for: url) == .openedElsewhere)
    }

    @Test("with .allExceptHTTP a redirect to another scheme goes to the handler")
    func redirectToAnyScheme() async throws {
        let origin = try ScriptedOrigin { _ in .redirect(302, to: "other://x") }
        let interceptor = try interceptor(
            rules: [.allow("http://127.0.0.1:*/**", via: .network)],
            schemes: .allExceptHTTP
        )
        expectOpened(
            await #expect(throws: URLError.self) { try await session(interceptor).data(from: origin.url("/a")) }
        )
        #expect(opened.urls == ["other://x"])
    }

    @Test("with .allExceptHTTP web pages, web sockets, data URLs and schemes of rules are not links")
    func webIsNoLink() throws {
        let interceptor = try interceptor(
            rules: [.allow("app://main/**", via: .nowhere), .block("https://h.example/**")],
            schemes: .allExceptHTTP
        )
        func decision(_ link: String) throws -> Interceptor.Decision {
            interceptor.decision(for: try #require(URL(string: link)))
        }
        #expect(try decision("app://main/x") == .allowed(rule: 0, pattern: "app://main/**"))
        #expect(try decision("HTTPS://h.example/x") == .blocked(rule: 1, pattern: "https://h.example/**"))
        for link in [
            "http://a.example/", "HTTPS://a.example/", "ws://a.example/", "wss://a.example/", "data:,x", "app://x/",
        ] {
            guard case .untouched = try decision(link) else {
                Issue.record("\(link) is not left to Foundation")
                continue
            }
        }
        // A scheme that the app names explicitly is a link even if a rule has it too.
        let named = try self.interceptor(rules: [.allow("tel://x/**", via: .nowhere)])
        #expect(named.decision(for: try #require(URL(string: "tel://x/1"))) == .openedElsewhere)
    }

    @Test(
        "host patterns match whole names, and a star matches only subdomains",
        arguments: [
            "https://xpay.example/", "https://maps.example/", "https://a.pay.example/", "https://xmaps.example/",
        ]
    )
    func otherHosts(link: String) throws {
        let url = try #require(URL(string: link))
        #expect(try interceptor().decision(for: url) != .openedElsewhere)
    }

    @Test("links take precedence over all rules")
    func beforeRules() async throws {
        let interceptor = try interceptor(rules: [.block("https://pay.example/**")])
        let url = try #require(URL(string: "https://pay.example/a"))
        expectOpened(await #expect(throws: URLError.self) { try await session(interceptor).data(from: url) })
    }

    @Test(
        "a redirect to a link goes to the handler, with the request that would follow the redirect",
        arguments: ["weixin://dl/pay?x=1", "mailto:a@b.example", "http://127.0.0.2:9/there", "tel:1"],
        [false, true]
    )
    func redirect(target: String, isStored: Bool) async throws {
        let origin = try ScriptedOrigin { _ in
            .status(302, fields: ["Location": target, "Cache-Control": "max-age=60"])
        }
        let folder = try TemporaryDirectory()
        let interceptor = try interceptor(
            rules: [.allow("http://127.0.0.1:*/**", via: isStored ? .cache(.standard) : .network)],
            cache: isStored ? try ResponseCache(directory: folder.url, environment: .patient) : nil
        )
        var request = URLRequest(url: origin.url("/a"))
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        let events = interceptor.events
        for round in 1...2 {
            expectOpened(
                await #expect(throws: URLError.self) { try await session(interceptor).data(for: request) }
            )
            #expect(opened.urls == Array(repeating: target, count: round))
        }
        #expect(opened.requests.allSatisfy { $0.value(forHTTPHeaderField: "Authorization") == nil })
        for await event in events {
            guard case .openedElsewhere(let url) = event.kind else { continue }
            #expect(url.absoluteString == target)
            break
        }
    }

    @Test("a 307 hands the link's request over with its method and body, and sends it to no origin")
    func redirectedBody() async throws {
        let origin = try ScriptedOrigin { _ in .redirect(307, to: "https://pay.example/order") }
        let interceptor = try interceptor(rules: [.allow("http://127.0.0.1:*/**", via: .network)])
        var request = URLRequest(url: origin.url("/a"))
        request.httpMethod = "POST"
        request.httpBody = Data("books".utf8)
        expectOpened(await #expect(throws: URLError.self) { try await session(interceptor).data(for: request) })
        #expect(opened.requests.map(\.httpMethod) == ["POST"])
        #expect(opened.requests.map(\.httpBody) == [Data("books".utf8)])
        #expect(origin.requestCount == 1)
    }

    @Test("the delegate is not asked about a redirect to a link, and a link that it chooses goes to the handler")
    func delegates() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/a" ? .redirect(302, to: "weixin://dl") : .redirect(302, to: "/b")
        }
        let interceptor = try interceptor(rules: [.allow("http://127.0.0.1:*/**", via: .network)])
        let asked = RecordingDelegate()
        session(interceptor, delegate: asked).dataTask(with: origin.url("/a")).resume()
        await asked.completion()
        #expect(asked.calls == [.completed(.unsupportedURL)])
        let choosing = RecordingDelegate(follow: { _ in URL(string: "tel:2").map { URLRequest(url: $0) } })
        session(interceptor, delegate: choosing).dataTask(with: origin.url("/c")).resume()
        await choosing.completion()
        #expect(choosing.calls == [.redirect(to: "/b"), .completed(.unsupportedURL)])
        #expect(opened.urls == ["weixin://dl", "tel:2"])
    }

    @Test("a redirect to a scheme that the app does not name fails with Foundation's error")
    func unnamedRedirect() async throws {
        let origin = try ScriptedOrigin { _ in .redirect(302, to: "other://x") }
        let interceptor = try interceptor(rules: [.allow("http://127.0.0.1:*/**", via: .network)])
        let error = await #expect(throws: URLError.self) {
            try await session(interceptor).data(from: origin.url("/a"))
        }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.userInfo[NSUnderlyingErrorKey] as? WaystationError == nil)
        #expect(opened.urls.isEmpty)
    }

    @Test("uploads to links fail with an error that asks for a data task, and downloads of links are opened")
    func otherTasks() async throws {
        let interceptor = try interceptor()
        let url = try #require(URL(string: "https://pay.example/a"))
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        let upload = await #expect(throws: URLError.self) {
            try await session(interceptor).upload(for: post, from: Data("x".utf8))
        }
        #expect((upload?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .linkNeedsDataTask)
        #expect(opened.urls.isEmpty)
        let download = await #expect(throws: URLError.self) { try await session(interceptor).download(from: url) }
        #expect((download?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .openedElsewhere)
        #expect(opened.urls == [url.absoluteString])
    }

    @Test("the handler runs before the delegate gets the load's end")
    func order() async throws {
        let delegate = RecordingDelegate()
        let seen = Mutex<[RecordingDelegate.Call]?>(nil)
        let interceptor = try Interceptor {
            $0.externalLinks = ExternalLinks(schemes: ["tel"]) { _ in seen.withLock { $0 = delegate.calls } }
        }
        let url = try #require(URL(string: "tel:1"))
        session(interceptor, delegate: delegate).dataTask(with: url).resume()
        await delegate.completion()
        #expect(seen.withLock { $0 } == [])
        #expect(delegate.calls == [.completed(.unsupportedURL)])
    }

    @Test("a handler may load through the same session")
    func handlerLoads() async throws {
        let origin = try ScriptedOrigin { _ in .ok("from the handler") }
        let box = Mutex<URLSession?>(nil)
        let (bodies, continuation) = AsyncStream<Data>.makeStream()
        let interceptor = try Interceptor {
            $0.externalLinks = ExternalLinks(schemes: ["tel"]) { _ in
                box.withLock { $0 }?.dataTask(with: origin.url("/a")) { data, _, _ in
                    continuation.yield(data ?? Data())
                }.resume()
            }
        }
        let session = session(interceptor)
        box.withLock { $0 = session }
        let url = try #require(URL(string: "tel:1"))
        _ = try? await session.data(from: url)
        for await body in bodies {
            #expect(body == Data("from the handler".utf8))
            break
        }
    }

    @Test("the link of a task that is suspended and resumed at once is handed over once")
    func suspended() async throws {
        let interceptor = try interceptor()
        let url = try #require(URL(string: "tel:1"))
        for count in 1...20 {
            let delegate = RecordingDelegate()
            let task = session(interceptor, delegate: delegate).dataTask(with: url)
            task.resume()
            task.suspend()
            task.resume()
            await delegate.completion()
            #expect(delegate.calls == [.completed(.unsupportedURL)])
            #expect(opened.urls.count == count)
        }
    }

    @Test("a recorder gets a link that was handed over as a failed load")
    func recorded() async throws {
        let (exchanges, continuation) = AsyncStream<RecordedExchange>.makeStream()
        let interceptor = try Interceptor {
            $0.externalLinks = ExternalLinks(schemes: ["tel"]) { _ in }
            $0.recorder = Recorder(continuation: continuation)
        }
        let url = try #require(URL(string: "tel:1"))
        _ = try? await session(interceptor).data(from: url)
        for await exchange in exchanges {
            #expect(exchange.error?.code == .unsupportedURL)
            #expect(exchange.request.url == url)
            break
        }
    }

    @Test("a link of a redirect is given to the handler without cookies, and recorded as the load that led to it")
    func recordedRedirect() async throws {
        let (exchanges, continuation) = AsyncStream<RecordedExchange>.makeStream()
        let origin = try ScriptedOrigin { _ in .redirect(302, to: "http://localhost:9/pay") }
        let opened = Mutex<[URLRequest]>([])
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.externalLinks = ExternalLinks(hosts: ["localhost"]) { link in opened.withLock { $0.append(link) } }
            $0.recorder = Recorder(continuation: continuation)
        }
        let configuration = URLSessionConfiguration.ephemeral
        let cookie = HTTPCookie(properties: [.name: "a", .value: "1", .domain: "localhost", .path: "/"])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        let session = URLSession(configuration: configuration.intercepted(by: interceptor))
        _ = try? await session.data(from: origin.url("/a"))
        #expect(opened.withLock { $0.map(\.url?.absoluteString) } == ["http://localhost:9/pay"])
        #expect(opened.withLock { $0.allSatisfy { $0.value(forHTTPHeaderField: "Cookie") == nil } })
        for await exchange in exchanges {
            #expect(exchange.request.url == origin.url("/a"))
            break
        }
    }

    @Test("an interceptor that is switched off leaves links to Foundation")
    func switchedOff() async throws {
        let interceptor = try interceptor()
        interceptor.isEnabled = false
        let url = try #require(URL(string: "weixin://dl"))
        _ = try? await session(interceptor).data(from: url)
        #expect(opened.urls.isEmpty)
    }

    @Test(
        "invalid schemes and hosts are refused when the interceptor is made",
        arguments: [
            (["tel:"], []), (["weixin://"], []), ([""], []), (["http"], []), (["HTTPS"], []), (["1a"], []), (["ä"], []),
            ([], [""]), ([], ["https://pay.example"]), ([], ["pay.example/"]), ([], ["*"]), ([], ["a.*.example"]),
            ([], ["pay.example:443"]), ([], ["pay.example:80"]), ([], ["u@pay.example"]), ([], ["*.*.example"]),
        ] as [(Set<String>, Set<String>)]
    )
    func invalid(schemes: Set<String>, hosts: Set<String>) {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.externalLinks = ExternalLinks(schemes: .named(schemes), hosts: hosts) { _ in } }
        }
        #expect(error?.code == .invalidLinks)
    }
}

private struct Recorder: ExchangeRecorder {
    let bodyLimit = 0
    let continuation: AsyncStream<RecordedExchange>.Continuation

    func exchangeDidEnd(_ exchange: RecordedExchange) { continuation.yield(exchange) }
}

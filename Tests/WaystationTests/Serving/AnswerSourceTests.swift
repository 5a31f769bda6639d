import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("A source of the app's own", .timeLimit(.minutes(10)))
struct AnswerSourceTests {
    /// A source that a test writes as a closure.
    private struct Source: AnswerSource {
        var name = "pages"
        let answer: @Sendable (SourceRequest) -> SourceAnswer

        func answer(to request: SourceRequest) -> SourceAnswer { answer(request) }
    }

    private let network = ScriptedTransport { .ok("network \($0.httpMethod ?? "") \($0.url?.path ?? "")") }

    private func interceptor(_ route: Route, _ cache: ResponseCache? = nil) throws -> Interceptor {
        try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: route)]
            $0.cache = cache
            $0.makeTransport = { [network] _ in network }
        }
    }

    private func session(_ route: Route) throws -> URLSession {
        URLSession(configuration: .ephemeral.intercepted(by: try interceptor(route)))
    }

    private func request(_ path: String, _ method: String = "GET", body: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://shop.example\(path)")))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    private func load(_ route: Route, _ request: URLRequest) async throws -> (text: String, head: HTTPURLResponse) {
        let (data, response) = try await session(route).data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    @Test("answers with its status, its fields and its body, and is named in Cache-Status", arguments: [false, true])
    func answer(isLater: Bool) async throws {
        let source = Source { request in
            let answer = SourceAnswer.response(
                status: 203,
                headerFields: ["X-Path": request.url.path, "content-length": "7", "Content-Type": "text/plain"],
                body: Data("\(request.method) body".utf8)
            )
            return isLater ? .later { answer } : answer
        }
        let (text, head) = try await load(.source(source), try request("/a/./b/../c?d=1"))
        #expect(text == "GET body")
        #expect(head.statusCode == 203)
        #expect(head.url?.absoluteString == "https://shop.example/a/./b/../c?d=1")
        #expect(head.value(forHTTPHeaderField: "X-Path") == "/a/c")
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "8")
        #expect(head.value(forHTTPHeaderField: "Cache-Status") == "Waystation; hit; detail=pages")
        #expect(network.requests.isEmpty)
    }

    @Test("that declines passes the request to the next source", arguments: [false, true])
    func declined(isLater: Bool) async throws {
        let asked = Mutex<[String]>([])
        func source(_ name: String, _ answer: SourceAnswer) -> Source {
            Source(name: name) { _ in
                asked.withLock { $0.append(name) }
                return isLater ? .later { answer } : answer
            }
        }
        let second = Route.source(source("second", .response(body: Data("second".utf8))))
        #expect(try await load(.source(source("first", .declined), orElse: second), request("/")).text == "second")
        let none = Route.source(source("third", .declined), orElse: .source(source("fourth", .declined)))
        #expect(try await load(none, try request("/a", "POST", body: "x")).text == "network POST /a")
        #expect(asked.withLock { $0 } == ["first", "second", "third", "fourth"])
        let error = await #expect(throws: URLError.self) {
            try await load(.source(source("fifth", .declined), orElse: .nowhere), request("/"))
        }
        #expect(error?.code == .resourceUnavailable)
        #expect(error?.localizedDescription.contains("no source of its rule has https://shop.example/") == true)
    }

    @Test(
        "that fails, or answers with what HTTP does not allow, breaks no load: the next source answers, and an event says why"
    )
    func failure() async throws {
        struct Broken: Error, CustomStringConvertible { let description = "the database is locked" }
        let answers: [(SourceAnswer, String)] = [
            (.later { throw Broken() }, "the database is locked"),
            (.response(status: 199), "the status 199 is not from 200 to 599"),
            (.response(status: 600), "the status 600 is not from 200 to 599"),
            (.later { .response(headerFields: ["X": "a\r\nSet-Cookie: b=1"]) }, #"its field "X" (RFC 9110 §5)"#),
            (.response(headerFields: ["X Y": "a"]), #"its field "X Y" (RFC 9110 §5)"#),
        ]
        for (answer, reason) in answers {
            let interceptor = try interceptor(.source(Source { _ in answer }))
            var events = interceptor.events.makeAsyncIterator()
            let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
            let (data, _) = try await session.data(for: try request("/a"))
            #expect(String(decoding: data, as: UTF8.self) == "network GET /a")
            guard case .degraded(let message)? = await events.next()?.kind else {
                Issue.record("no event says \(reason)")
                continue
            }
            #expect(message.hasPrefix("the source pages has failed: "))
            #expect(message.hasSuffix(reason))
        }
    }

    @Test("has no body in answers to HEAD, and none in 204 and 304")
    func noBody() async throws {
        let source = Source { request in
            .response(status: Int(request.url.lastPathComponent) ?? 200, body: Data("12345".utf8))
        }
        let (text, head) = try await load(.source(source), try request("/", "HEAD"))
        #expect(text == "")
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "5")
        for status in [204, 304] {
            let (text, head) = try await load(.source(source), try request("/\(status)"))
            #expect(head.statusCode == status)
            #expect(text == "")
            #expect(head.value(forHTTPHeaderField: "Content-Length") == nil)
        }
    }

    @Test("sees the body, the fields of the session and the URL's query")
    func seen() async throws {
        let source = Source { seen in
            let fields = seen.request.allHTTPHeaderFields ?? [:]
            let body = String(decoding: seen.request.httpBody ?? Data(), as: UTF8.self)
            return .response(body: Data("\(seen.url.query ?? "") \(fields["X-App"] ?? "") \(body)".utf8))
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-App": "shop"]
        let session = URLSession(configuration: configuration.intercepted(by: try interceptor(.source(source))))
        let (data, _) = try await session.data(for: try request("/a?b=1", "PUT", body: "text"))
        #expect(String(decoding: data, as: UTF8.self) == "b=1 shop text")
    }

    @Test("may redirect: the first rule that matches the target decides about it")
    func redirect() async throws {
        let source = Source { _ in .response(status: 302, headerFields: ["Location": "https://other.example/new"]) }
        let target = Source(name: "target") { _ in .response(body: Data("the target's own".utf8)) }
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("https://shop.example/**", via: .source(source)),
                .allow("https://other.example/**", via: .source(target)),
            ]
            $0.makeTransport = { [network] _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (data, response) = try await session.data(for: try request("/old"))
        #expect(String(decoding: data, as: UTF8.self) == "the target's own")
        #expect(response.url?.absoluteString == "https://other.example/new")
        #expect(network.requests.isEmpty)
    }

    @Test("is asked after the login, and a token that it refuses with 401 is renewed")
    func login() async throws {
        let source = Source { request in
            let cookies = request.request.value(forHTTPHeaderField: "Cookie") ?? "none"
            return .response(status: cookies == "token=t1" ? 401 : 200, body: Data(cookies.utf8))
        }
        let fixture = try LoginFixture(via: .source(source)) { _ in .ok("origin") }
        #expect(try await fixture.load("/?needAuth=true").body == "token=t2")
        #expect(fixture.origin.requestCount == 0)
    }

    @Test("sets no cookies")
    func cookies() async throws {
        let source = Source { request in
            let cookies = request.request.value(forHTTPHeaderField: "Cookie") ?? "none"
            return .response(headerFields: ["Set-Cookie": "a=1"], body: Data(cookies.utf8))
        }
        let store = CookieStore()
        for cookies in [nil, store] {
            let interceptor = try Interceptor {
                $0.rules = [.allow("https://shop.example/**", via: .source(source))]
                $0.cookies = cookies
            }
            let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
            for _ in 0..<2 {
                let (data, _) = try await session.data(for: try request("/"))
                #expect(String(decoding: data, as: UTF8.self) == "none")
            }
        }
        #expect(store.cookies.isEmpty)
    }

    @Test("is asked for downloads, which the next source answers if it declines, and not for uploads")
    func otherTasks() async throws {
        let asked = Mutex<[String]>([])
        let source = Source { request in
            asked.withLock { $0.append(request.url.path) }
            return request.url.path == "/own" ? .response(body: Data("own".utf8)) : .declined
        }
        let origin = try ScriptedOrigin { $0.path == "/lost" ? .raw(Data()) : .ok($0.method) }
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .source(source))] }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (file, _) = try await session.download(from: origin.url("/a"))
        #expect(try String(contentsOf: file, encoding: .utf8) == "GET")
        var put = URLRequest(url: origin.url("/a"))
        put.httpMethod = "PUT"
        #expect(try await session.upload(for: put, from: Data("x".utf8)).0 == Data("PUT".utf8))
        await #expect(throws: URLError.self) { try await session.download(from: origin.url("/lost")) }
        let (own, _) = try await session.download(from: origin.url("/own"))
        #expect(try String(contentsOf: own, encoding: .utf8) == "own")
        #expect(asked.withLock { $0 } == ["/a", "/lost", "/own"])
    }

    @Test("has a name that is a token, and no name of the library's own sources", arguments: ["", "my pages", "cache"])
    func refusedName(name: String) {
        let error = #expect(throws: WaystationError.self) {
            try interceptor(.source(Source(name: name) { _ in .declined }))
        }
        #expect(error?.code == .invalidRules)
        #expect(error?.message.hasPrefix("rule 0 has a source named \"\(name)\": name it by letters") == true)
    }

    @Test("is cancelled with the task that asks for an explanation")
    func cancelledExplanation() async throws {
        let (began, never) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let source = Source { _ in
            .later {
                began.continuation.yield()
                for await _ in never.stream {}
                return .declined
            }
        }
        let (interceptor, request) = (try interceptor(.source(source)), try request("/"))
        let explaining = Task { await interceptor.explain(request) }
        for await _ in began.stream { break }
        explaining.cancel()
        #expect(await explaining.value.decision == "allowed")
        withExtendedLifetime(never.continuation) {}
    }

    @Test("that is cancelled with its load ends, and reports nothing")
    func cancel() async throws {
        let (began, never) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let ended = AsyncStream<Bool>.makeStream()
        let source = Source { _ in
            .later {
                began.continuation.yield()
                // The stream gets no element. The wait for one ends with a cancel of the task.
                for await _ in never.stream {}
                ended.continuation.yield(Task.isCancelled)
                throw CancellationError()
            }
        }
        let interceptor = try interceptor(.source(source))
        let events = interceptor.events
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let load = Task { [request = try request("/")] in try await session.data(for: request) }
        for await _ in began.stream { break }
        load.cancel()
        let error = await #expect(throws: URLError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        for await isCancelled in ended.stream {
            #expect(isCancelled)
            break
        }
        for await event in events {
            guard case .cancelled = event.kind else {
                Issue.record("\(event)")
                continue
            }
            break
        }
        withExtendedLifetime(never.continuation) {}
    }

    @Test("that takes long delays no other load")
    func slow() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let source = Source { request in
            guard request.url.path == "/slow" else { return .response(body: Data("quick".utf8)) }
            return .later {
                for await _ in gate.stream { break }
                return .response(body: Data("slow".utf8))
            }
        }
        let session = try session(.source(source))
        let slow = Task { [request = try request("/slow")] in try await session.data(for: request).0 }
        for _ in 0..<50 {
            let (data, _) = try await session.data(for: try request("/quick"))
            #expect(String(decoding: data, as: UTF8.self) == "quick")
        }
        gate.continuation.yield()
        #expect(String(decoding: try await slow.value, as: UTF8.self) == "slow")
    }

    @Test("stands before the cache: its answers are not stored, and what it declines is")
    func beforeCache() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ResponseCache(directory: folder.url, environment: .patient)
        let source = Source { $0.url.path == "/own" ? .response(body: Data("own".utf8)) : .declined }
        let interceptor = try interceptor(.source(source, orElse: .cache(.cacheFirst(for: .days(1)))), cache)
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        for _ in 0..<2 {
            _ = try await session.data(for: try request("/own"))
            _ = try await session.data(for: try request("/other"))
            await cache.flush()
        }
        #expect(network.requests.map { $0.url?.path } == ["/other"])
        #expect(await cache.statistics.entries == 1)
    }

    @Test("is named by the events, the rule in words and the explanation")
    func named() async throws {
        let source = Source { $0.url.path == "/own" ? .later { .response(status: 410) } : .declined }
        let interceptor = try interceptor(.source(source, orElse: .nowhere))
        let events = interceptor.events
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        _ = try await session.data(for: try request("/own"))
        for await event in events {
            guard case .served(let from, 410, 0) = event.kind else {
                Issue.record("\(event)")
                break
            }
            #expect(from.description == "pages")
            break
        }
        let explanation = await interceptor.explain(try request("/own"))
        #expect(explanation.source == "pages")
        #expect(explanation.ruleText == "allow https://shop.example/** via source(pages, orElse: nowhere)")
        #expect(explanation.answer == "The source pages answers the request with the status 410.")
    }
}

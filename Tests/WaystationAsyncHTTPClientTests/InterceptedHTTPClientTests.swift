#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
import Testing
import Waystation
import WaystationAsyncHTTPClient
import WaystationTestSupport
import WaystationTesting

@Suite("AsyncHTTPClient's calls by the rules of an interceptor", .timeLimit(.minutes(10)))
struct InterceptedHTTPClientTests {
    /// A client that stays open as long as a test.
    final class OpenClient: Sendable {
        let http: HTTPClient

        init(_ change: (inout HTTPClient.Configuration) -> Void = { _ in }) {
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.retryConnectionEstablishment = false
            change(&configuration)
            http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }

        deinit { http.shutdown { _ in } }
    }

    private let open = OpenClient()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A client whose rules answer for the paths under `/ruled/` on loopback.
    private func client(
        over open: OpenClient? = nil,
        _ change: (inout Interceptor.Configuration) throws -> Void = { _ in }
    ) throws -> InterceptedHTTPClient {
        let http = (open ?? self.open).http
        return try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/ruled/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: folder.url)
            $0.transport = .asyncHTTPClient(http)
            try change(&$0)
        }
        .httpClient(over: http)
    }

    private func get(_ client: InterceptedHTTPClient, _ url: URL) async throws -> (HTTPClientResponse, String) {
        let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .minutes(5))
        return (response, String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    // MARK: - Rules

    @Test("answers from the cache what a rule has stored, and passes on what no rule takes")
    func rules() async throws {
        let origin = try ScriptedOrigin { .ok($0.path, fields: ["Cache-Control": "max-age=60"]) }
        let client = try client()
        for path in ["/ruled/a", "/other/a"] {
            for _ in 1...3 { #expect(try await get(client, origin.url(path)).1 == path) }
        }
        #expect(origin.requests.map(\.path) == ["/ruled/a", "/other/a", "/other/a", "/other/a"])
        let (response, _) = try await get(client, origin.url("/ruled/a"))
        #expect(response.status == .ok)
        #expect(response.headers.first(name: "Cache-Status")?.contains("hit") == true)
        #expect(response.url == origin.url("/ruled/a"))
        #expect(try await get(client, origin.url("/other/a")).0.headers.contains(name: "Cache-Status") == false)
    }

    @Test("passes a request with a TLS configuration of its own to the client")
    func ownConfiguration() async throws {
        let origin = try ScriptedOrigin { .ok($0.path, fields: ["Cache-Control": "max-age=60"]) }
        let client = try client()
        var request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
        request.localAddress = "127.0.0.1"
        for _ in 1...2 { _ = try await client.execute(request, timeout: .minutes(5)).body.collect(upTo: 99) }
        #expect(origin.requestCount == 2)
    }

    @Test(
        "passes an invalid URL to the HTTPClient, which refuses it",
        arguments: ["", "nothing", "file:///a", "http://"]
    )
    func unusable(url: String) async throws {
        let client = try client()
        await #expect(throws: HTTPClientError.self) {
            try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(5))
        }
    }

    @Test("answers by stubs, and opens no socket")
    func stubs() async throws {
        let stubs = try Stubs {
            Stub(.post("https://api.example/orders").json("item", "tea"), .status(201, fields: ["X-Order": "7"])).once()
        }
        let client = try stubs.makeInterceptor().httpClient(over: open.http)
        var request = HTTPClientRequest(url: "https://api.example/orders")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: #"{"item": "tea"}"#))
        let response = try await client.execute(request, timeout: .minutes(5))
        #expect(response.status == .created)
        #expect(response.headers["X-Order"] == ["7"])
        try stubs.verify()
    }

    // MARK: - Redirects

    enum Redirects: CaseIterable, Sendable {
        case followed, disallowed

        var client: OpenClient {
            OpenClient {
                $0.redirectConfiguration = self == .followed ? .follow(max: 5, allowCycles: false) : .disallow
            }
        }
    }

    @Test(
        "hands each redirect to the rules, whether the client follows redirects or not",
        arguments: Redirects.allCases
    )
    func redirects(redirects: Redirects) async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/ruled/a": .redirect(302, to: "/ruled/b")
            case "/ruled/b": .redirect(307, to: "/greeting")
            default: .ok("from the network")
            }
        }
        let open = redirects.client
        let client = try client(over: open) {
            $0.rules.append(.allow("http://127.0.0.1:*/greeting", via: .source(Greeting())))
        }
        let (response, body) = try await get(client, origin.url("/ruled/a"))
        #expect(body == "hello")
        #expect(response.url == origin.url("/greeting"))
        #expect(origin.requests.map(\.path) == ["/ruled/a", "/ruled/b"])
    }

    @Test("sends the body again after a redirect that keeps the method", arguments: Redirects.allCases)
    func redirectedUpload(redirects: Redirects) async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/ruled/a" ? .redirect(308, to: "/ruled/b") : .ok(request.body)
        }
        let open = redirects.client
        let client = try client(over: open)
        var request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
        request.method = .PUT
        request.body = .bytes(ByteBuffer(string: "letter"))
        let response = try await client.execute(request, timeout: .minutes(5))
        #expect(String(buffer: try await response.body.collect(upTo: 99)) == "letter")
        #expect(origin.requests.map(\.method) == ["PUT", "PUT"])
    }

    @Test("delivers a redirect that shall not be followed", arguments: Redirects.allCases)
    func keptRedirect(redirects: Redirects) async throws {
        let origin = try ScriptedOrigin { _ in
            .status(301, fields: ["Location": "/ruled/b"], body: Data("moved".utf8))
        }
        let open = redirects.client
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/ruled/**", via: .network)]
            $0.transport = .asyncHTTPClient(open.http)
        }
        let client = interceptor.httpClient(over: open.http, followsRedirects: false)
        let (response, body) = try await get(client, origin.url("/ruled/a"))
        #expect(response.status == .movedPermanently)
        #expect(response.headers["Location"] == ["/ruled/b"])
        // A client that follows redirects is stopped before the body.
        #expect(body == (redirects == .disallowed ? "moved" : ""))
        #expect(origin.requestCount == 1)
    }

    // MARK: - Bodies

    @Test("removes a content coding once, whether the client removes it or not", arguments: [false, true])
    func codings(decompresses: Bool) async throws {
        let origin = try ScriptedOrigin { request in
            let coding = request.path.hasSuffix("gzip") ? "gzip" : "deflate"
            let body = coding == "gzip" ? EncodedBodies.textGzip : EncodedBodies.textDeflate
            return .ok(body, fields: ["Content-Encoding": coding, "Cache-Control": "max-age=60"])
        }
        let open = OpenClient {
            if decompresses { $0.decompression = HTTPClient.Configuration.singletonConfiguration.decompression }
        }
        let client = try client(over: open) {
            $0.rules.append(.allow("http://127.0.0.1:*/forwarded/**", via: .network))
        }
        for path in ["/forwarded/gzip", "/forwarded/deflate", "/ruled/gzip", "/ruled/deflate"] {
            let (response, body) = try await get(client, origin.url(path))
            #expect(Data(body.utf8) == EncodedBodies.text)
            #expect(!response.headers.contains(name: "Content-Encoding"))
            // The length of the coded bytes would be wrong.
            #expect(["1110", nil].contains(response.headers.first(name: "Content-Length")))
        }
        #expect(origin.requests.first?.value(of: "Accept-Encoding")?.contains("gzip") == true)
    }

    @Test("sends the bytes of a sequence, with and without a length")
    func upload() async throws {
        let origin = try ScriptedOrigin { .ok($0.body) }
        let client = try client()
        let parts = (0..<40).map { ByteBuffer(repeating: UInt8($0), count: 10_000) }
        for length in [HTTPClientRequest.Body.Length.unknown, .known(Int64(400_000))] {
            var request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
            request.method = .POST
            request.body = .stream(
                AsyncStream { next in
                    for part in parts { next.yield(part) }
                    next.finish()
                },
                length: length
            )
            let response = try await client.execute(request, timeout: .minutes(5))
            let body = try await response.body.collect(upTo: 1 << 20)
            #expect(body.readableBytes == 400_000)
        }
    }

    @Test("delivers the answer of a server that refuses an upload before it is complete", arguments: ["", "too large"])
    func refusedUpload(answer: String) async throws {
        let origin = try ScriptedOrigin(early: { _ in .status(413, body: Data(answer.utf8)) }) { _ in .ok() }
        let folder = try TemporaryDirectory()
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.transport = .asyncHTTPClient(open.http)
            $0.bodySpool = BodySpool(memory: .bytes(0), directory: folder.url)
        }
        var request = HTTPClientRequest(url: origin.url("/").absoluteString)
        request.method = .POST
        // More than the sockets take: the rest waits for the server.
        request.body = .bytes(ByteBuffer(repeating: 1, count: 32 << 20))
        let response = try await interceptor.httpClient(over: open.http).execute(request, timeout: .minutes(5))
        #expect(response.status == .payloadTooLarge)
        #expect(String(buffer: try await response.body.collect(upTo: 99)) == answer)
    }

    @Test("delivers the parts of a body as they arrive")
    func parts() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("a".utf8)), .wait(gate), .bytes(Data("b".utf8))]) }
        let request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
        let response = try await client().execute(request, timeout: .minutes(5))
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next().map { String(buffer: $0) } == "a")
        gate.open()
        #expect(try await parts.next().map { String(buffer: $0) } == "b")
        #expect(try await parts.next() == nil)
    }

    @Test("lets a server wait whose reader does not read")
    func backpressure() async throws {
        let size = 64 << 20
        let part = Data(count: 1 << 20)
        let origin = try ScriptedOrigin { _ in
            .stream(Array(repeating: .bytes(part), count: size >> 20), framing: .declaredLength(size))
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.transport = .asyncHTTPClient(open.http)
        }
        let client = interceptor.httpClient(over: open.http)
        func response(_ path: String) async throws -> HTTPClientResponse {
            try await client.execute(HTTPClientRequest(url: origin.url(path).absoluteString), timeout: .minutes(5))
        }
        do {
            var unread = try await response("/unread").body.makeAsyncIterator()
            _ = try await unread.next()
            // Meanwhile another body of the same length is read to its end.
            var count = 0
            for try await part in try await response("/read").body { count += part.readableBytes }
            #expect(count == size)
        }
        // The server was still sending the first one when it was dropped.
        #expect(await origin.waitForAbandonedRequests(1).map(\.path) == ["/unread"])
    }

    @Test("reports a body that is cut off")
    func cut() async throws {
        let origin = try ScriptedOrigin { _ in .truncated(Data(count: 1_000), after: 10) }
        let request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
        let response = try await client().execute(request, timeout: .minutes(5))
        await #expect(throws: URLError.self) { try await response.body.collect(upTo: 1 << 20) }
    }

    // MARK: - Ends

    @Test("ends a request whose head does not arrive before its deadline")
    func deadline() async throws {
        let origin = try ScriptedOrigin { _ in .unanswered }
        let client = try client()
        let request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
        await #expect(throws: HTTPClientError.deadlineExceeded) {
            try await client.execute(request, deadline: .now())
        }
    }

    @Test("does not end a body whose deadline passes while it is read")
    func deadlineOfHead() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("a".utf8)), .wait(gate), .bytes(Data("b".utf8))]) }
        let client = try client()
        let request = HTTPClientRequest(url: origin.url("/ruled/a").absoluteString)
        // A slow machine needs more time for the head.
        for seconds in [1, 8, 60] as [Int64] {
            let deadline = NIODeadline.now() + .seconds(seconds)
            guard let response = try? await client.execute(request, deadline: deadline) else { continue }
            // A loop runs its timers in order: when this one fires, that of the deadline would have fired.
            for loop in open.http.eventLoopGroup.makeIterator() {
                try await loop.scheduleTask(deadline: deadline) {}.futureResult.get()
            }
            gate.open()
            #expect(String(buffer: try await response.body.collect(upTo: 99)) == "ab")
            return
        }
        Issue.record("no head arrived within a minute")
    }

    @Test("ends the connection of a load whose task is cancelled, or whose body is dropped")
    func cancel() async throws {
        let gate = try ScriptedOrigin.Gate()
        defer { gate.open() }
        let origin = try ScriptedOrigin { request in
            request.path == "/ruled/head"
                ? .unanswered : .stream([.bytes(Data("a".utf8)), .wait(gate), .bytes(Data("b".utf8))])
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.transport = .asyncHTTPClient(open.http)
        }
        let client = interceptor.httpClient(over: open.http)
        let url = origin.url("/ruled/head").absoluteString
        let task = Task { _ = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(5)) }
        await origin.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await origin.waitForAbandonedRequests(1)
        do {
            let request = HTTPClientRequest(url: origin.url("/dropped").absoluteString)
            var parts = try await client.execute(request, timeout: .minutes(5)).body.makeAsyncIterator()
            #expect(try await parts.next().map { String(buffer: $0) } == "a")
        }
        #expect(await origin.waitForAbandonedRequests(2).map(\.path) == ["/ruled/head", "/dropped"])
    }

    @Test("says which server is not there, and that a client was shut down")
    func noServer() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let url = origin.url("/ruled/a")
        origin.stop()
        let client = try client()
        await #expect {
            try await get(client, url)
        } throws: {
            ($0 as? URLError)?.code == .cannotConnectToHost && "\($0)".contains("127.0.0.1")
        }
        let open = OpenClient()
        let late = try self.client(over: open)
        try await open.http.shutdown()
        await #expect {
            try await get(late, url)
        } throws: {
            "\($0)".contains("was shut down")
        }
    }

    @Test("sends a request again whose connection was closed before its answer")
    func closed() async throws {
        let origin = try ScriptedOrigin { request in request.order == 0 ? .closed : .ok("again") }
        #expect(try await get(try client(), origin.url("/ruled/a")).1 == "again")
        #expect(origin.requestCount == 2)
    }

    @Test("loads many at a time, each its own response")
    func many() async throws {
        let origin = try ScriptedOrigin { .ok($0.path) }
        let client = try client()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask { try await get(client, origin.url("/ruled/\(number)")).1 == "/ruled/\(number)" }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("asks a predicate of a rule once for each request")
    func predicate() async throws {
        let count = Mutex(0)
        let interceptor = try Interceptor {
            $0.rules = [
                .allow(
                    "http://127.0.0.1:*/**",
                    where: { _ in
                        count.withLock { $0 += 1 }
                        return true
                    },
                    via: .source(Greeting())
                )
            ]
        }
        _ = try await get(interceptor.httpClient(over: open.http), try #require(URL(string: "http://127.0.0.1:1/a")))
        #expect(count.withLock { $0 } == 1)
    }

    /// A client that finds a server by a name that only it knows.
    private var naming: OpenClient { OpenClient { $0.dnsOverride = ["shop.test": "127.0.0.1"] } }

    @Test("is the network of a session and of a direct client, too")
    func session() async throws {
        let origin = try ScriptedOrigin { .ok($0.path, fields: ["X-Way": $0.value(of: "X-Mark") ?? ""]) }
        let naming = naming
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://shop.test:*/**", via: .network)]
            $0.transport = .asyncHTTPClient(naming.http)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Mark": "session"]
        let session = URLSession(configuration: configuration.intercepted(by: interceptor))
        let url = try #require(URL(string: "http://shop.test:\(origin.port)/a"))
        let (data, response) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "/a")
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Way") == "session")
        #expect(try await interceptor.client(configuration: configuration).data(for: url).0 == data)
    }

    @Test("executes by its HTTPClient what no rule takes, whatever the engine of the interceptor is")
    func base() async throws {
        let origin = try ScriptedOrigin { .ok($0.path) }
        let naming = naming
        let client = try Interceptor { $0.rules = [.block("http://127.0.0.1:*/**")] }.httpClient(over: naming.http)
        let url = try #require(URL(string: "http://shop.test:\(origin.port)/a"))
        #expect(try await get(client, url).1 == "/a")
        await #expect(throws: URLError.self) { try await get(client, origin.url("/a")) }
    }

    @Test("speaks each version of HTTP over TLS, with the roots of the HTTPClient", arguments: [false, true])
    func secured(speaksHTTP2: Bool) async throws {
        let origin = try await SecuredOrigin(versions: speaksHTTP2 ? .http2 : .http1) { request in
            .ok(request.body.isEmpty ? Data(request.path.utf8) : request.body)
        }
        defer { origin.stop() }
        let authority = try NIOSSLCertificate.fromPEMBytes(Array(origin.authority.utf8))
        let open = OpenClient {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(authority)
            $0.tlsConfiguration = tls
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://127.0.0.1:*/**", via: .network)]
            $0.transport = .asyncHTTPClient(open.http)
        }
        let client = interceptor.httpClient(over: open.http)
        #expect(try await get(client, origin.url("/a")).1 == "/a")
        var request = HTTPClientRequest(url: origin.url("/a").absoluteString)
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: "letter"))
        let response = try await client.execute(request, timeout: .minutes(5))
        #expect(String(buffer: try await response.body.collect(upTo: 99)) == "letter")
        #expect(Set(origin.connectionVersions) == [speaksHTTP2 ? "h2" : "http/1.1"])
    }
}

/// Answers every request at once.
private struct Greeting: AnswerSource {
    let name = "greeting"

    func answer(to request: SourceRequest) -> SourceAnswer { .response(body: Data("hello".utf8)) }
}
#endif

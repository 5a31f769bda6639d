import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("A body in a request's header")
struct HeaderBodyTests {
    private let origin: ScriptedOrigin

    init() throws {
        origin = try ScriptedOrigin { request in
            switch request.path {
            case "/moved": .redirect(307, to: "/there")
            case "/seen": .redirect(303, to: "/there")
            case "/secret" where request.value(of: "Authorization") == nil:
                .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""])
            default: .ok(request.body)
            }
        }
    }

    private func session(
        via route: Route = .network,
        _ form: HeaderBody = HeaderBody(),
        delegate: RecordingDelegate? = nil,
        configure: (inout Interceptor.Configuration) throws -> Void = { _ in }
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: route)]
            $0.headerBody = form
            try configure(&$0)
        }
        return URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    private func request(
        _ method: String = "POST",
        _ path: String = "/a",
        _ fields: [String: String] = ["x-weimai-h5body": "a%20b"]
    ) -> URLRequest {
        var request = URLRequest(url: origin.url(path))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func sent() throws -> ScriptedOrigin.Request {
        #expect(origin.requests.allSatisfy { $0.fields.allSatisfy { !$0.name.lowercased().contains("h5body") } })
        return try #require(origin.requests.last)
    }

    @Test("becomes the body, and its field is not sent", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func becomesBody(method: String) async throws {
        #expect(try await session().data(for: request(method)).0 == Data("a b".utf8))
        #expect(try sent().method == method)
        #expect(try sent().body == Data("a b".utf8))
        #expect(try sent().values(of: "Content-Length") == ["3"])
    }

    @Test("is sent as the body under every route", arguments: [0, 1, 2])
    func everyRoute(number: Int) async throws {
        let folder = try TemporaryDirectory()
        let routes: [Route] = [.network, .cache(.standard), .files(in: folder.url, at: "http://127.0.0.1/")]
        let session = try session(via: routes[number]) {
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
        }
        #expect(try await session.data(for: request()).0 == Data("a b".utf8))
        _ = try sent()
    }

    @Test("keeps the content type and its charset; the request's own length is replaced")
    func contentType() async throws {
        let fields = [
            "x-weimai-h5body": "%E4", "Content-Type": "text/plain; charset=iso-8859-1", "Content-Length": "99",
            "Transfer-Encoding": "chunked",
        ]
        _ = try await session().data(for: request("POST", "/a", fields))
        #expect(try sent().body == Data([0xE4]))
        #expect(try sent().values(of: "Content-Type") == ["text/plain; charset=iso-8859-1"])
        #expect(try sent().values(of: "Content-Length") == ["1"])
        #expect(try sent().values(of: "Transfer-Encoding") == [])
    }

    @Test("without a content type is sent with the one that Foundation adds to any body")
    func noContentType() async throws {
        _ = try await session().data(for: request())
        var plain = URLRequest(url: origin.url("/a"))
        plain.httpMethod = "POST"
        plain.httpBody = Data("a b".utf8)
        _ = try await URLSession(configuration: .ephemeral).data(for: plain)
        let types = origin.requests.map { $0.values(of: "Content-Type") }
        #expect(types.count == 2 && types[0] == types[1])
    }

    @Test("may be split over several fields")
    func parts() async throws {
        let body = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0) })
        for encoding in [HeaderBody.Encoding.percent, .base64] {
            let fields = HeaderBody().fields(for: body, encoding: encoding)
            #expect(fields.count > 5)
            #expect(try await session().data(for: request("POST", "/a", fields)).0 == body)
            _ = try sent()
        }
    }

    @Test("gives way to a real body of the request, and the field is not sent")
    func realBodyWins() async throws {
        var request = request()
        request.httpBody = Data("real".utf8)
        #expect(try await session().data(for: request).0 == Data("real".utf8))
        _ = try sent()
        request.httpBodyStream = InputStream(data: Data("stream".utf8))
        #expect(try await session().data(for: request).0 == Data("stream".utf8))
        _ = try sent()
        request.httpBodyStream = InputStream(data: Data("once".utf8))
        #expect(try await session { $0.bodySpool = nil }.data(for: request).0 == Data("once".utf8))
        _ = try sent()
        request.httpBody = Data()
        #expect(try await session().data(for: request).0 == Data("a b".utf8))
        _ = try sent()
    }

    @Test("gives way to a real body even when the field is damaged")
    func realBodyWinsOverDamage() async throws {
        var request = request("POST", "/a", ["x-weimai-h5body": "%zz"])
        request.httpBody = Data("real".utf8)
        #expect(try await session().data(for: request).0 == Data("real".utf8))
        _ = try sent()
    }

    @Test("may be empty: the body is empty, and the field is not sent", arguments: ["POST", "GET", "HEAD"])
    func empty(method: String) async throws {
        _ = try await session().data(for: request(method, "/a", ["x-weimai-h5body": ""]))
        #expect(try sent().body.isEmpty)
        #expect(try sent().method == method)
    }

    @Test(
        "that is damaged, too large or for a method without a body is an error, and nothing is sent",
        arguments: [
            ("POST", ["x-weimai-h5body": "a%2"], URLError.cannotDecodeContentData, "offset 1"),
            ("POST", ["x-weimai-h5body-2": "a"], .cannotDecodeContentData, "x-weimai-h5body-1"),
            ("POST", ["x-weimai-h5body": "0123456789"], .dataLengthExceedsMaximum, "9 bytes"),
            ("GET", ["x-weimai-h5body": "a"], .cannotDecodeContentData, "GET"),
            ("HEAD", ["x-weimai-h5body": "a"], .cannotDecodeContentData, "HEAD"),
        ] as [(String, [String: String], URLError.Code, String)]
    )
    func errors(method: String, fields: [String: String], code: URLError.Code, place: String) async throws {
        let error = await #expect(throws: URLError.self) {
            try await session(HeaderBody(limit: .bytes(9))).data(for: request(method, "/a", fields))
        }
        #expect(error?.code == code)
        #expect(error?.localizedDescription.contains("x-weimai-h5body") ?? false)
        #expect(error?.localizedDescription.contains(place) ?? false)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is WaystationError)
        #expect(origin.connectionCount == 0)
    }

    private func session(_ form: HeaderBody) throws -> URLSession { try session(via: .network, form) }

    @Test("is sent again after a redirect and to a server that asks for credentials, without its field")
    func again() async throws {
        #expect(try await session().data(for: request("POST", "/moved")).0 == Data("a b".utf8))
        #expect(origin.requests.map(\.body) == [Data("a b".utf8), Data("a b".utf8)])
        _ = try sent()
        let delegate = RecordingDelegate(credential: { _ in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        })
        try session(delegate: delegate).dataTask(with: request("POST", "/secret")).resume()
        await delegate.completion()
        #expect(delegate.body == Data("a b".utf8))
        #expect(origin.requestCount == 4)
        _ = try sent()
        _ = try await session().data(for: request("POST", "/seen"))
        #expect(try sent().method == "GET")
        #expect(try sent().body.isEmpty)
    }

    @Test("a delegate that is asked about a redirect does not see the field")
    func redirectIsClean() async throws {
        let seen = Mutex<[String: String]?>(nil)
        let delegate = RecordingDelegate(follow: { next in
            seen.withLock { $0 = next.allHTTPHeaderFields ?? [:] }
            return next
        })
        try session(delegate: delegate).dataTask(with: request("POST", "/moved")).resume()
        await delegate.completion()
        #expect(try #require(seen.withLock { $0 }).keys.allSatisfy { !$0.lowercased().contains("h5body") })
    }

    @Test("is in recordings as the body, not as the field, also for a refused request", arguments: ["a%20b", "%zz"])
    func recording(value: String) async throws {
        let recorder = LastExchange()
        let session = try session { $0.recorder = recorder }
        _ = try? await session.data(for: request("POST", "/a", ["x-weimai-h5body": value]))
        let exchange = await recorder.next()
        #expect(exchange.request.value(forHTTPHeaderField: "x-weimai-h5body") == nil)
        #expect(exchange.request.httpBody == (value == "%zz" ? nil : Data("a b".utf8)))
    }

    @Test("is not part of the cache key: a stored response is found with and without the field")
    func cacheKey() async throws {
        let folder = try TemporaryDirectory()
        let origin = try ScriptedOrigin { _ in
            .ok("page", fields: ["Cache-Control": "max-age=60", "Vary": "x-weimai-h5body"])
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
            $0.headerBody = HeaderBody()
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        var request = URLRequest(url: origin.url("/a"))
        _ = try await session.data(for: request)
        request.setValue("", forHTTPHeaderField: "x-weimai-h5body")
        _ = try await session.data(for: request)
        #expect(origin.requestCount == 1)
    }

    @Test("does not apply to uploads: Foundation sends them with their own body and all their fields")
    func uploads() async throws {
        let folder = try TemporaryDirectory()
        let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = try folder.write(body, to: "body")
        let request = request()
        #expect(try await session().upload(for: request, from: body).0 == body)
        #expect(try await session().upload(for: request, fromFile: file).0 == body)
        #expect(origin.requests.map { $0.value(of: "x-weimai-h5body") } == ["a%20b", "a%20b"])
    }

    @Test("an upload that Foundation redirects loses its body there, and an event says so")
    func redirectedUpload() async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        let events = interceptor.events
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        _ = try await session.upload(for: request("POST", "/moved", [:]), from: Data("x".utf8))
        // If this fails, Foundation now keeps the body: remove the case from Docs/Bodies.md and ReturnedLoad.
        #expect(origin.requests.map(\.body) == [Data("x".utf8), Data()])
        for await event in events {
            guard case .degraded(let message) = event.kind else { continue }
            #expect(message.contains("without its body"))
            break
        }
    }

    @Test("may have another field name")
    func otherName() async throws {
        let session = try session(HeaderBody(name: "x-page-body"))
        #expect(try await session.data(for: request("POST", "/a", ["X-Page-Body": "%41"])).0 == Data("A".utf8))
        #expect(try sent().value(of: "x-page-body") == nil)
    }

    @Test("with an invalid field name is refused when the interceptor is made", arguments: ["", "a b", "a:b", "ä"])
    func wrongName(name: String) {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.headerBody = HeaderBody(name: name) }
        }
        #expect(error?.code == .invalidHeaderBody)
    }

    @Test("is sent as an ordinary field without a header body setting, and without a matching rule")
    func notAsked() async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        _ = try await URLSession(configuration: .ephemeral.intercepted(by: interceptor)).data(for: request())
        let other = try Interceptor { $0.headerBody = HeaderBody() }
        _ = try await URLSession(configuration: .ephemeral.intercepted(by: other)).data(for: request())
        #expect(origin.requests.map { $0.value(of: "x-weimai-h5body") } == ["a%20b", "a%20b"])
    }
}

/// A recorder whose next exchange a test can await.
private final class LastExchange: ExchangeRecorder {
    let bodyLimit = 1 << 20
    private let exchanges: AsyncStream<RecordedExchange>
    private let continuation: AsyncStream<RecordedExchange>.Continuation

    init() { (exchanges, continuation) = AsyncStream.makeStream() }

    func exchangeDidEnd(_ exchange: RecordedExchange) { continuation.yield(exchange) }

    func next() async -> RecordedExchange {
        for await exchange in exchanges { return exchange }
        return RecordedExchange(request: URLRequest(url: URL(fileURLWithPath: "/")), begun: Date())
    }
}

#if NIO
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationNIO
import WaystationTesting

@Suite("Protocol classes of the app's own, beside an engine", .timeLimit(.minutes(5)))
final class OwnClassTests {
    enum Engine: CaseIterable { case foundation, nio }

    private let origin: ScriptedOrigin
    private let folder = FileManager.default.temporaryDirectory.appending(path: "classes-\(UUID().uuidString)")
    private let configuration = URLSessionConfiguration.ephemeral

    init() throws {
        origin = try ScriptedOrigin { request in
            switch request.path {
            case "/go": .redirect(302, to: "/limited/a")
            default: .ok("from the server", fields: ["Cache-Control": "max-age=60"])
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func session(
        _ engine: Engine,
        _ route: Route = .cache(.standard),
        _ configure: (inout Interceptor.Configuration) -> Void = { _ in }
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            if engine == .nio { $0.transport = .nio }
            $0.rules = [.block("http://127.0.0.1:*/limited/blocked"), .allow("http://127.0.0.1:*/**", via: route)]
            $0.cache = try ResponseCache(directory: folder)
            configure(&$0)
        }
        return URLSession(configuration: configuration.intercepted(by: interceptor))
    }

    private func load(_ path: String, in session: URLSession) async throws -> (status: Int, text: String) {
        let (data, response) = try await session.data(from: origin.url(path))
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    @Test("answer the requests that they take, and the engine carries the others", arguments: Engine.allCases)
    func claimed(engine: Engine) async throws {
        configuration.protocolClasses = [LimitingProtocol.self] + (configuration.protocolClasses ?? [])
        for route in [Route.network, .cache(.networkOnly), .network(faults: Faults())] {
            let session = try session(engine, route)
            #expect(try await load("/limited/a", in: session) == (429, "limited"))
            #expect(try await load("/go", in: session) == (429, "limited"))
            #expect(try await load("/free", in: session) == (200, "from the server"))
        }
        #expect(Set(origin.requests.map(\.path)) == ["/go", "/free"])
    }

    @Test("answer below the rules: their answers are stored, and what is blocked does not reach them")
    func rules() async throws {
        configuration.protocolClasses = [LimitingProtocol.self] + (configuration.protocolClasses ?? [])
        let session = try session(.nio)
        let before = LimitingProtocol.loaded(at: origin.port)
        for _ in 0..<2 { #expect(try await load("/limited/stored", in: session) == (200, "stored")) }
        #expect(LimitingProtocol.loaded(at: origin.port) - before == 1)
        await #expect(throws: URLError.self) { try await load("/limited/blocked", in: session) }
        #expect(LimitingProtocol.loaded(at: origin.port) - before == 1)
        #expect(configuration.httpCookieStorage?.cookies?.map(\.name) == ["limited"])
        #expect(origin.requestCount == 0)
    }

    @Test("are asked about the same requests, whichever engine there is")
    func asked() async throws {
        configuration.protocolClasses = [LimitingProtocol.self] + (configuration.protocolClasses ?? [])
        configuration.httpAdditionalHeaders = ["X-Added": "1"]
        var seen: [[String]] = []
        for engine in Engine.allCases {
            let session = try session(engine, .cache(.networkOnly))
            for path in ["/free/../free2?x#part", "/limited/%7Eb"] {
                var request = URLRequest(url: try #require(URL(string: origin.url("").absoluteString + path)))
                request.httpMethod = "PUT"
                request.httpBody = Data("body".utf8)
                request.setValue("bytes=0-1", forHTTPHeaderField: "Range")
                request.mainDocumentURL = URL(string: "https://page.example/")
                _ = try await session.data(for: request)
            }
            seen.append(LimitingProtocol.takeAsked(at: origin.port))
        }
        #expect(Set(seen[0]) == Set(seen[1]))
        #expect(Set(seen[1]).count == 2)
        // Once where the engine carries the request; Foundation asks once more about one that it carries.
        #expect(seen[1].count { $0.contains("/free2") } == 1)
    }

    @Test("behind Foundation's own get no request, as in a session without an engine", arguments: Engine.allCases)
    func order(engine: Engine) async throws {
        configuration.protocolClasses = (configuration.protocolClasses ?? []) + [LimitingProtocol.self]
        let session = try session(engine)
        #expect(try await load("/limited/a", in: session) == (200, "from the server"))
    }

    @Test(
        "answer the loads of an interceptor that is under test, if they are those of the test's stubs",
        .stubbed { Stub(.get("https://api.example/own"), .ok("stub")) }
    )
    func stubs() async throws {
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("https://api.example/**", via: .network)]
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let (data, _) = try await session.data(from: try #require(URL(string: "https://api.example/own")))
        #expect(String(decoding: data, as: UTF8.self) == "stub")
    }

    @Test("do not come before a transport of the app's own")
    func ownTransport() async throws {
        configuration.protocolClasses = [LimitingProtocol.self] + (configuration.protocolClasses ?? [])
        let session = try session(.nio) { $0.makeTransport = { _ in ScriptedTransport { _ in .ok("scripted") } } }
        #expect(try await load("/limited/a", in: session) == (200, "scripted"))
    }
}

/// Takes what is below `/limited`, and answers it with 429, or with a fresh response.
private final class LimitingProtocol: URLProtocol {
    private static let asked = Mutex<[Int?: [String]]>([:])
    private static let loads = Mutex<[Int?: Int]>([:])

    static func takeAsked(at port: some BinaryInteger) -> [String] {
        asked.withLock { $0.removeValue(forKey: Int(port)) ?? [] }
    }

    static func loaded(at port: some BinaryInteger) -> Int { loads.withLock { $0[Int(port), default: 0] } }

    override class func canInit(with request: URLRequest) -> Bool {
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let parts: [Any?] = [
            request.httpMethod, request.url?.absoluteString, fields, request.httpBody, request.mainDocumentURL,
        ]
        let text = parts.map { "\($0 as Any)" }.joined(separator: " ")
        asked.withLock { $0[request.url?.port, default: []].append(text) }
        return request.url?.path.hasPrefix("/limited") ?? false
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url else { return }
        Self.loads.withLock { $0[url.port, default: 0] += 1 }
        let isStored = url.path == "/limited/stored"
        let response = HTTPURLResponse(
            url: url,
            statusCode: isStored ? 200 : 429,
            httpVersion: "HTTP/1.1",
            headerFields: isStored ? ["Cache-Control": "max-age=60", "Set-Cookie": "limited=1; Path=/"] : [:]
        )
        guard let response else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data((isStored ? "stored" : "limited").utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
#endif

#if Gateway
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationTesting

@Suite("The cache of a gateway whose browsers keep their own cookies", .timeLimit(.minutes(10)))
struct SeveralUsersTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// An origin whose page has the name of its reader, and which answers with some fields.
    private func origin(_ fields: KeyValuePairs<String, String>) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            .ok("the page of \(request.value(of: "Cookie") ?? "nobody")", fields: fields)
        }
    }

    private func gateway(
        _ origin: ScriptedOrigin,
        _ strategy: CacheStrategy = .standard,
        cookies: CookieStore? = nil
    ) async throws -> GatewayFixture {
        try await GatewayFixture(cookies: cookies) {
            _ in
        } interceptor: {
            $0.rules = [.allow("\(origin.url())**", via: .cache(strategy))]
            $0.cache = try ResponseCache(directory: folder.url.appending(path: "cache"))
        }
    }

    /// Asks for the page as a reader, nil for one without cookies, and returns the text.
    private func read(
        _ fixture: GatewayFixture,
        _ origin: ScriptedOrigin,
        as reader: String?
    ) async throws -> RawResponse {
        try await fixture.get("/page", host: fixture.name(of: origin), reader.map { ["Cookie: \($0)"] } ?? [])
    }

    static let strategies: [CacheStrategy] = [
        .standard, .revalidate, .cacheFirst(for: .days(1)), .staleWhileRevalidate(upTo: .days(1)),
        .networkFirst(timeout: .seconds(600)),
    ]

    @Test(
        "gives no browser the page that is meant for another one",
        arguments: strategies,
        [
            ["Cache-Control": "private, max-age=600"], ["Cache-Control": "max-age=600, Private=\"x-user\""],
            ["Cache-Control": "max-age=600", "Set-Cookie": "seen=1"], ["ETag": "\"1\"", "Set-Cookie": "seen=1"],
        ] as [KeyValuePairs<String, String>]
    )
    func personal(strategy: CacheStrategy, fields: KeyValuePairs<String, String>) async throws {
        let origin = try origin(fields)
        let fixture = try await gateway(origin, strategy)
        for reader in ["alice", "bob", nil, "alice"] {
            #expect(try await read(fixture, origin, as: reader).text == "the page of \(reader ?? "nobody")")
        }
        #expect(origin.requestCount == 4)
        #expect(origin.requests.allSatisfy { $0.value(of: "If-None-Match") == nil })
        // Without the origin, no page of another reader stands in.
        origin.stop()
        let refusal = try await read(fixture, origin, as: "carol")
        #expect(refusal.status == 504, "\(refusal.status) \(refusal.text)")
    }

    @Test(
        "gives all browsers what the origin lets all of them have",
        arguments: strategies.filter { $0 != .revalidate && $0 != .networkFirst(timeout: .seconds(600)) },
        [
            ["Cache-Control": "max-age=600"], ["Cache-Control": "public, max-age=600", "Set-Cookie": "seen=1"],
            ["Cache-Control": "public, s-maxage=600", "Last-Modified": "Thu, 01 Jan 2015 00:00:00 GMT"],
        ] as [KeyValuePairs<String, String>]
    )
    func shared(strategy: CacheStrategy, fields: KeyValuePairs<String, String>) async throws {
        let origin = try origin(fields)
        let fixture = try await gateway(origin, strategy)
        let cookie = fields.first { $0.key == "Set-Cookie" }?.value
        #expect(try await read(fixture, origin, as: "alice")["Set-Cookie"] == cookie)
        // With one strategy, hits are followed by renewals in the background, with the page of their reader.
        let isRenewed = strategy == .staleWhileRevalidate(upTo: .days(1))
        var pages = ["the page of alice"]
        for reader in ["bob", nil, "alice"] {
            let response = try await read(fixture, origin, as: reader)
            #expect(pages.contains(response.text), "\(response.text)")
            #expect(response["Set-Cookie"] == nil)
            if isRenewed { pages.append("the page of \(reader ?? "nobody")") }
        }
        #expect(isRenewed || origin.requestCount == 1)
    }

    @Test("does not give a browser what the app's own session has stored for its user")
    func storedByApp() async throws {
        let origin = try origin(["Cache-Control": "private, max-age=600", "ETag": "\"1\""])
        let fixture = try await gateway(origin)
        let session = URLSession(configuration: .ephemeral.intercepted(by: fixture.interceptor))
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: origin.url("/page"))
        request.setValue("app", forHTTPHeaderField: "Cookie")
        for _ in 0..<2 {
            let (page, _) = try await session.data(for: request)
            #expect(String(decoding: page, as: UTF8.self) == "the page of app")
        }
        #expect(origin.requestCount == 1)
        #expect(try await read(fixture, origin, as: "bob").text == "the page of bob")
        #expect(origin.requests.last?.value(of: "If-None-Match") == nil)
        // The app still has its own.
        #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self) == "the page of app")
        #expect(origin.requestCount == 2)
    }

    @Test("keeps what is meant for the app's user if the app has the cookies")
    func oneUser() async throws {
        let origin = try origin(["Cache-Control": "private, max-age=600"])
        let store = CookieStore()
        try store.insert(Cookie(name: "user", value: "app", domain: "127.0.0.1", isHostOnly: true, creation: Date()))
        let fixture = try await gateway(origin, cookies: store)
        for reader in ["alice", "bob"] {
            #expect(try await read(fixture, origin, as: reader).text == "the page of user=app")
        }
        #expect(origin.requestCount == 1)
    }

    @Test("has a part for each credential in the field Authorization")
    func authorization() async throws {
        let origin = try ScriptedOrigin { request in
            .ok("for \(request.value(of: "Authorization") ?? "nobody")", fields: ["Cache-Control": "max-age=600"])
        }
        let fixture = try await gateway(origin)
        for _ in 0..<2 {
            for credential in ["Basic YQ==", "Basic Yg==", nil] {
                let fields = credential.map { ["Authorization: \($0)"] } ?? []
                let response = try await fixture.get("/", host: fixture.name(of: origin), fields)
                #expect(response.text == "for \(credential ?? "nobody")")
            }
        }
        #expect(origin.requestCount == 3)
    }
}
#endif

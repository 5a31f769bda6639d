import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

/// A login whose page shows the cookies of its request, answered by a server and by everything that stands in for one.
@Suite(.timeLimit(.minutes(5)))
struct AnswerCookieTests {
    private let folder = RecordingFolder()
    private let configuration = URLSessionConfiguration.ephemeral

    enum Way: CaseIterable {
        /// A plain session, and a server on loopback: the model of all others.
        case server
        case stubs, madeStubs, scripted, ownTransport, faults, networkWithFaults
        case recorded, recordedStubs, replayed, passedThrough
    }

    /// A response of the site, with each `Set-Cookie` by itself.
    private struct Page: Sendable {
        var status = 200
        var location: String?
        var cookies: [String] = []
        var text = ""

        init(_ method: String, _ path: String, cookie: String?) {
            switch (method, path) {
            case ("POST", "/login"): cookies = ["a=1; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=2; Path=/"]
            case (_, "/go"): (status, location, cookies) = (302, "/page", ["c=3; Path=/"])
            case (_, "/asks"): (status, cookies) = (401, ["d=4; Path=/"])
            case (_, "/early"): (status, cookies) = (103, ["early=1; Path=/"])
            default: text = (cookie ?? "").split(separator: "; ").sorted().joined(separator: "; ")
            }
        }

        /// The fields as Foundation has them.
        var fields: [String: String] {
            var fields: [String: String] = [:]
            if let location { fields["Location"] = location }
            if !cookies.isEmpty { fields["Set-Cookie"] = cookies.joined(separator: ", ") }
            return fields
        }
    }

    private static func server() throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            let page = Page(request.method, request.path, cookie: request.value(of: "Cookie"))
            let body = Data(page.text.utf8)
            if let location = page.location {
                return .status(page.status, fields: ["Location": location, "Set-Cookie": page.cookies[0]], body: body)
            }
            return switch page.cookies.count {
            case 0: .status(page.status, body: body)
            case 1: .status(page.status, fields: ["Set-Cookie": page.cookies[0]], body: body)
            default:
                .status(
                    page.status,
                    fields: ["Set-Cookie": page.cookies[0], "Set-Cookie": page.cookies[1]],
                    body: body
                )
            }
        }
    }

    private static let scripted = ScriptedTransport { request in
        let page = Page(
            request.httpMethod ?? "GET",
            request.url?.path ?? "",
            cookie: request.value(forHTTPHeaderField: "Cookie")
        )
        return .status(page.status, fields: page.fields, body: Data(page.text.utf8))
    }

    /// Stubs whose responses without an echo are made by no code, so that they are in memory.
    private static func stubs() throws -> Stubs {
        func fixed(_ method: String, _ path: String) -> StubAnswer {
            let page = Page(method, path, cookie: nil)
            return .status(page.status, fields: page.fields)
        }
        return try Stubs {
            Stub(.post("http://127.0.0.1:*/login"), fixed("POST", "/login"))
            Stub(.get("http://127.0.0.1:*/go"), fixed("GET", "/go"))
            Stub(.get("http://127.0.0.1:*/asks"), fixed("GET", "/asks"))
            Stub(.get("http://127.0.0.1:*/early"), fixed("GET", "/early"))
            Stub(.any("http://127.0.0.1:*/**")) { .ok(Page("GET", "/page", cookie: $0.field("Cookie")).text) }
        }
    }

    private static func madeStubs() throws -> Stubs {
        try Stubs {
            Stub(.any("http://127.0.0.1:*/**")) { request in
                let page = Page(request.method, request.url.path, cookie: request.field("Cookie"))
                return .status(page.status, fields: page.fields, body: Data(page.text.utf8))
            }
        }
    }

    private func recording(_ mode: RecordingMode, _ network: any Transport, again: String? = nil) throws -> Recording {
        // The page shows cookies, so with the standard redaction it would be refused.
        try Recording(folder.file, mode, redaction: .none, network: network, override: again) { Date() }
    }

    private func interceptor(_ configure: (inout Interceptor.Configuration) throws -> Void) throws -> URLSession {
        URLSession(configuration: configuration.intercepted(by: try Interceptor(configure)))
    }

    private func session(_ way: Way) throws -> URLSession {
        let all = "http://127.0.0.1:*/**"
        return switch way {
        case .server: URLSession(configuration: configuration)
        case .stubs: try Self.stubs().makeSession(configuration)
        case .madeStubs: try Self.madeStubs().makeSession(configuration)
        case .scripted: try interceptor { $0.rules = [.allow(all, via: .carried(by: Self.scripted, as: "scripted"))] }
        case .ownTransport:
            try interceptor {
                $0.rules = [.allow(all, via: .network)]
                $0.makeTransport = { _ in Self.scripted }
            }
        case .faults: try Self.stubs().makeSession(configuration, faults: .slow3G)
        case .networkWithFaults:
            try interceptor { $0.rules = [.allow(all, via: .network(faults: Faults(), time: .virtual))] }
        case .recorded:
            try recording(.record, URLSessionTransport(configuration: .ephemeral)).makeSession(configuration)
        case .recordedStubs: try recording(.record, Self.stubs()).makeSession(configuration)
        case .replayed: try recording(.replay, .unreachable).makeSession(configuration)
        case .passedThrough:
            try recording(.passthrough, URLSessionTransport(configuration: .ephemeral)).makeSession(configuration)
        }
    }

    private var stored: Set<String> {
        Set((configuration.httpCookieStorage?.cookies ?? []).map { "\($0.name)=\($0.value)" })
    }

    private func logIn(in session: URLSession, at origin: ScriptedOrigin) async throws {
        var login = URLRequest(url: origin.url("/login"))
        login.httpMethod = "POST"
        login.httpBody = Data("user=ada".utf8)
        _ = try await session.data(for: login)
    }

    @Test(arguments: Way.allCases)
    func `cookies of a login and of a redirect are stored, and sent with the next requests`(way: Way) async throws {
        let origin = try Self.server()
        if way == .replayed {
            // With a storage of its own.
            let first = try recording(.record, Self.stubs())
            let recorded = try first.makeSession()
            try await logIn(in: recorded, at: origin)
            for path in ["/go", "/page"] { _ = try await recorded.load(origin.url(path).absoluteString) }
            try first.save()
        }
        let session = try session(way)
        try await logIn(in: session, at: origin)
        #expect(stored == ["a=1", "b=2"])
        #expect(try await session.load(origin.url("/go").absoluteString).text == "a=1; b=2; c=3")
        #expect(stored == ["a=1", "b=2", "c=3"])
        #expect(try await session.load(origin.url("/page").absoluteString).text == "a=1; b=2; c=3")
    }

    @Test(arguments: Way.allCases.filter { ![.server, .replayed].contains($0) })
    func `cookies of a refusal are stored, and those of an interim response are not`(way: Way) async throws {
        let origin = try Self.server()
        let session = try session(way)
        #expect(try await session.load(origin.url("/asks").absoluteString).response.statusCode == 401)
        #expect(stored == ["d=4"])
        // A server's interim response is followed by a final one, which this server never sends.
        guard [.stubs, .madeStubs, .scripted, .ownTransport].contains(way) else { return }
        _ = try? await session.load(origin.url("/early").absoluteString)
        #expect(stored == ["d=4"])
    }

    @Test(arguments: [Way.stubs, .madeStubs, .scripted])
    func `uploads and downloads store the cookies of their answers`(way: Way) async throws {
        let origin = try Self.server()
        let session = try session(way)
        var login = URLRequest(url: origin.url("/login"))
        login.httpMethod = "POST"
        _ = try await session.upload(for: login, from: Data("user=ada".utf8))
        #expect(stored == ["a=1", "b=2"])
        let (file, _) = try await session.download(from: origin.url("/go"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "a=1; b=2; c=3")
    }

    @Test(arguments: [Way.stubs, .madeStubs, .scripted, .ownTransport, .faults, .recorded])
    func `a configuration that refuses cookies gets none of an answer, and sends none`(way: Way) async throws {
        let origin = try Self.server()
        configuration.httpCookieAcceptPolicy = .never
        let refusing = try session(way)
        try await logIn(in: refusing, at: origin)
        #expect(stored.isEmpty)
        configuration.httpCookieAcceptPolicy = .always
        configuration.httpShouldSetCookies = false
        let silent = try session(way)
        try await logIn(in: silent, at: origin)
        #expect(stored == ["a=1", "b=2"])
        #expect(try await silent.load(origin.url("/go").absoluteString).text == "")
        configuration.httpShouldSetCookies = true
        configuration.httpCookieStorage = nil
        let without = try session(way)
        try await logIn(in: without, at: origin)
        #expect(try await without.load(origin.url("/go").absoluteString).text == "")
    }

    @Test func `a recording sends the session's own cookies, also where one entry is recorded again`() async throws {
        let origin = try Self.server()
        let storage = try #require(configuration.httpCookieStorage)
        let preset = HTTPCookie(properties: [.name: "preset", .value: "1", .domain: "127.0.0.1", .path: "/"])
        storage.setCookie(try #require(preset))
        let network = URLSessionTransport(configuration: .ephemeral)
        let first = try recording(.record, network)
        let session = try first.makeSession(configuration)
        try await logIn(in: session, at: origin)
        #expect(try await session.load(origin.url("/page").absoluteString).text == "a=1; b=2; preset=1")
        try first.verify()

        storage.deleteCookie(try #require(storage.cookies?.first { $0.name == "preset" }))
        let again = "GET \(origin.url("/page").absoluteString)"
        let second = try recording(.once, network, again: again).makeSession(configuration)
        try await logIn(in: second, at: origin)
        #expect(try await second.load(origin.url("/page").absoluteString).text == "a=1; b=2")
        #expect(origin.requests.map(\.path) == ["/login", "/page", "/page"])
    }

    @Test func `a recording's own configuration adds no cookies`() async throws {
        let origin = try Self.server()
        let other = URLSessionConfiguration.ephemeral
        let cookie = HTTPCookie(properties: [.name: "other", .value: "1", .domain: "127.0.0.1", .path: "/"])
        other.httpCookieStorage?.setCookie(try #require(cookie))
        let session = try recording(.record, URLSessionTransport(configuration: other)).makeSession(configuration)
        #expect(try await session.load(origin.url("/page").absoluteString).text == "")
        try await logIn(in: session, at: origin)
        #expect(other.httpCookieStorage?.cookies?.map(\.name) == ["other"])
        #expect(stored == ["a=1", "b=2"])
    }
}

import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationHTTP
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

/// An app, its origin and another one, and the door through which it loads.
private final class Stage: Sendable {
    let door: LoadingDoor
    let origin: ScriptedOrigin
    let other: ScriptedOrigin
    let cache: ResponseCache
    let login: LoginSession
    private let doors: Doors
    private let session: URLSession
    private let directory: TemporaryDirectory

    init(_ conversation: Conversation, through door: LoadingDoor) throws {
        self.door = door
        let directory = try TemporaryDirectory()
        self.directory = directory
        let other = try ScriptedOrigin { _ in .ok("other") }
        self.other = other
        let origin = try ScriptedOrigin { conversation.script($0, other) }
        self.origin = origin
        let cache = try ResponseCache(directory: directory.url, environment: .patient)
        self.cache = cache
        let tokens = Counter()
        let login = LoginSession(cookie: .named("token", domain: "127.0.0.1", isHostOnly: true)) { _ in
            LoginToken("t\(tokens.next())")
        }
        self.login = login
        let interceptor = try Interceptor {
            let rules = try conversation.rules()
            $0.rules = rules.isEmpty ? [.allow("http://127.0.0.1:*/**", via: .network)] : rules
            $0.cache = cache
            $0.cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: true))
            $0.login = login
            $0.transport = door.carrier
        }
        session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        doors = Doors(of: interceptor, session)
    }

    deinit { session.invalidateAndCancel() }

    func request(
        _ target: String,
        _ method: String = "GET",
        _ fields: [String: String] = [:],
        body: Data? = nil
    ) -> URLRequest {
        var request = URLRequest(url: origin.url(target))
        request.httpMethod = method
        request.httpBody = body
        // Longer than a load takes on a busy machine.
        request.timeoutInterval = 600
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Loads, and tells in a line what the app got.
    func load(_ request: URLRequest) async -> String {
        do {
            let loaded = try await doors.load(request, by: door)
            await cache.flush()
            let names = ["content-type", "content-range", "etag", "location", "x-a"]
            let fields = names.compactMap { name in loaded.fields[name].map { "\(name): \($0)" } }
            let cached = loaded.fields["cache-status"]?.contains("; hit") == true ? ["hit"] : []
            let path = loaded.url.map { ($0.port == other.port.intValue ? "other" : "") + $0.path } ?? "no URL"
            let isShort = loaded.body.count < 100
            let body = isShort ? String(decoding: loaded.body, as: UTF8.self) : "\(loaded.body.count) bytes"
            return (["\(loaded.status)", path] + fields + cached + ["[\(body)]"]).joined(separator: " ")
        } catch {
            let reason = ((error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code
            let code = (error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "\(error)"
            return (["failed:", code] + (reason.map { ["\($0)"] } ?? [])).joined(separator: " ")
        }
    }

    func load(
        _ target: String = "/",
        _ method: String = "GET",
        _ fields: [String: String] = [:],
        body: Data? = nil
    ) async -> String { await load(request(target, method, fields, body: body)) }

    func read(_ target: String, pausing pause: @escaping @Sendable () async -> Bool) async throws -> Data {
        try await doors.read(request(target), by: door, pausing: pause)
    }

    /// The requests that the servers have seen, a line each.
    var seen: [String] {
        [("", origin), ("other ", other)].flatMap { name, origin in
            origin.requests.map { request in
                let names = [
                    "Authorization", "Content-Length", "Content-Type", "Cookie", "If-Modified-Since", "If-None-Match",
                    "If-Range", "Range", "Transfer-Encoding", "X-A",
                ]
                // A length of zero says the same as none.
                let fields = names.compactMap { name in request.value(of: name).map { "\(name): \($0)" } }
                    .filter { $0 != "Content-Length: 0" }
                return ([name + request.method, request.target] + fields + ["\(Hash(request.body))"])
                    .joined(separator: " ")
            }
        }
    }
}

extension UInt16 {
    fileprivate var intValue: Int { Int(self) }
}

/// The length of bytes, and a hash of them.
private struct Hash: CustomStringConvertible {
    let description: String

    init(_ bytes: Data) {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        description = bytes.isEmpty ? "-" : "\(bytes.count):\(String(hash, radix: 16))"
    }
}

/// A gate that is never opened.
private let shutGate = try? ScriptedOrigin.Gate()

/// The loads of an app, and the answers of its servers.
private struct Conversation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let comparesRequests: Bool
    let rules: @Sendable () throws -> [Rule]
    let script: @Sendable (ScriptedOrigin.Request, _ other: ScriptedOrigin) -> ScriptedOrigin.Response
    let run: @Sendable (Stage) async throws -> [String]
    /// The lines that the app gets through AsyncHTTPClient's calls in place of those of a session.
    let argued: [String: String]
    /// The same for all doors over the engine on SwiftNIO.
    let arguedByEngine: [String: String]

    init(
        _ name: String,
        comparesRequests: Bool = true,
        rules: @autoclosure @escaping @Sendable () throws -> [Rule] = [],
        argued: [String: String] = [:],
        arguedByEngine: [String: String] = [:],
        _ script: @escaping @Sendable (ScriptedOrigin.Request, ScriptedOrigin) -> ScriptedOrigin.Response,
        run: @escaping @Sendable (Stage) async throws -> [String]
    ) {
        testDescription = name
        self.comparesRequests = comparesRequests
        self.rules = rules
        self.argued = argued
        self.arguedByEngine = arguedByEngine
        self.script = script
        self.run = run
    }

    /// Everything that the app got and the servers have seen.
    func facts(through door: LoadingDoor) async throws -> [String] {
        let stage = try Stage(self, through: door)
        let got = try await run(stage)
        return comparesRequests ? got + stage.seen : got
    }

    /// Rules that keep a session's loads from Foundation's own loader.
    static let cached: [Rule] = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
    static let bytes = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    static let all = redirects + logins + ends + bodies + answers

    // MARK: - Redirects

    static let redirects =
        [301, 302, 303, 307, 308].map { status in
            Conversation("redirect \(status)") { request, _ in
                request.path == "/a" ? .redirect(status, to: "/b?c=d") : .ok(request.body)
            } run: { stage in
                [
                    await stage.load("/a"), await stage.load("/a", "HEAD"),
                    await stage.load("/a", "POST", ["Content-Type": "text/plain"], body: Data("body".utf8)),
                    await stage.load("/a", "PUT", body: Data("body".utf8)),
                    await stage.load("/a", "DELETE"),
                ]
            }
        }
        + [
            Conversation("redirect to another origin") { _, other in
                .redirect(302, to: other.url("/x").absoluteString)
            } run: { stage in
                let fields = ["Authorization": "Bearer 1", "Cookie": "a=1", "X-A": "1"]
                return [await stage.load("/a", "GET", fields)]
            },
            Conversation("redirect without an end") { _, _ in
                .redirect(302, to: "/a")
            } run: {
                [await $0.load("/a")]
            },
            Conversation("redirect to another scheme") { _, _ in
                .redirect(302, to: "ftp://127.0.0.1/")
            } run: {
                [await $0.load("/a")]
            },
            Conversation(
                "redirect without a location",
                // It is an answer with a body (RFC 9110 §15.4), which Foundation's engine drops.
                arguedByEngine: ["302 /a []": "302 /a [body]"]
            ) { _, _ in
                .status(302, body: Data("body".utf8))
            } run: {
                [await $0.load("/a")]
            },
            Conversation("stored redirect", rules: cached) { request, _ in
                request.path == "/a"
                    ? .status(301, fields: ["Location": "b", "Cache-Control": "max-age=60"])
                    : .ok("b", fields: ["Cache-Control": "max-age=60"])
            } run: {
                [await $0.load("/a"), await $0.load("/a"), await $0.load("/b")]
            },
        ]

    // MARK: - Logins and cookies

    static let logins = [
        Conversation(
            "login, refusal, log-out",
            rules: [.allow("http://127.0.0.1:*/**", via: .cache(.standard), requiresLogin: .always)]
        ) { request, _ in
            guard request.value(of: "Cookie") != "token=t1" || request.path != "/refused" else { return .status(401) }
            return .ok(request.value(of: "Cookie") ?? "none", fields: ["Cache-Control": "max-age=60"])
        } run: { stage in
            var got = [await stage.load("/a"), await stage.load("/a"), await stage.load("/refused")]
            await stage.login.logOut()
            got += [await stage.load("/a"), await stage.load("/a")]
            return got
        },
        Conversation("cookies of a store") { request, _ in
            .ok(request.value(of: "Cookie") ?? "none", fields: ["Set-Cookie": "a=\(request.path.dropFirst()); Path=/"])
        } run: {
            [await $0.load("/1"), await $0.load("/2"), await $0.load("/3")]
        },
        Conversation("refusal without a login") { _, _ in
            .status(401, fields: ["WWW-Authenticate": "Basic realm=\"a\""], body: Data("refused".utf8))
        } run: {
            [await $0.load("/a")]
        },
    ]

    // MARK: - Ends

    static let ends = [
        Conversation(
            "cancel before the head",
            // A task that is cancelled throws this error in AsyncHTTPClient's calls.
            argued: ["failed: URLError -999": "failed: CancellationError()"]
        ) { _, _ in
            .unanswered
        } run: { stage in
            let task = Task { await stage.load("/a") }
            await stage.origin.waitForRequests(1)
            task.cancel()
            let got = await task.value
            return [got] + (await stage.origin.waitForAbandonedRequests(1).map(\.path))
        },
        Conversation("cancel within the body", rules: cached) { _, _ in
            // The rest would reach a client that reads ahead before it has left.
            .stream([.bytes(bytes)] + (shutGate.map { [.wait($0)] } ?? []), framing: .declaredLength(16 << 20))
        } run: { stage in
            let first = try await stage.read("/a") { false }
            return [first.isEmpty ? "nothing" : "something"]
                + (await stage.origin.waitForAbandonedRequests(1).map(\.path))
        },
        Conversation(
            "silent server",
            // On a slow machine, the time is over before the request has arrived.
            comparesRequests: false,
            // A call has a deadline there, and a server may be silent until then.
            argued: ["failed: URLError -1001": "failed: HTTPClientError.deadlineExceeded"]
        ) { _, _ in
            .unanswered
        } run: { stage in
            var request = stage.request("/a")
            request.timeoutInterval = 0.2
            return [await stage.load(request)]
        },
        Conversation("cut bodies", rules: cached) { request, _ in
            .truncated(bytes, after: request.path == "/a" ? 10 : 1_000_000, fields: ["Cache-Control": "max-age=60"])
        } run: {
            [await $0.load("/a"), await $0.load("/b")]
        },
        Conversation("blocked", rules: [.block("http://127.0.0.1:*/**")]) { _, _ in
            .ok()
        } run: {
            [await $0.load("/a")]
        },
        Conversation("absent in the cache", rules: [.allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly))]) { _, _ in
            .ok()
        } run: {
            [await $0.load("/a")]
        },
        Conversation("absent server", rules: cached) { _, _ in
            .ok("a", fields: ["Cache-Control": "max-age=0, stale-if-error=60"])
        } run: { stage in
            let stored = await stage.load("/a")
            stage.origin.stop()
            return [stored, await stage.load("/a"), await stage.load("/b")]
        },
    ]

    // MARK: - Bodies

    static let bodies = [
        Conversation("suspended reader", rules: cached) { _, _ in
            .stream(
                Array(repeating: .bytes(bytes), count: 16),
                fields: ["Cache-Control": "no-store"],
                framing: .declaredLength(16 << 20)
            )
        } run: { stage in
            let slow = try await stage.read("/slow") {
                // Meanwhile another body of the same length is read to its end.
                _ = await stage.load("/fast")
                return true
            }
            return [
                "\(slow.count) bytes", slow == Data([Data](repeating: bytes, count: 16).joined()) ? "right" : "wrong",
            ]
        },
        Conversation("ranges from the network") { request, _ in
            guard let range = request.value(of: "Range") else { return .ok("0123456789") }
            guard range == "bytes=2-5" else { return .status(416, fields: ["Content-Range": "bytes */10"]) }
            return .status(206, fields: ["Content-Range": "bytes 2-5/10", "ETag": "\"1\""], body: Data("2345".utf8))
        } run: { stage in
            [
                await stage.load("/a", "GET", ["Range": "bytes=2-5"]),
                await stage.load("/a", "GET", ["Range": "bytes=2-5", "If-Range": "\"1\""]),
                await stage.load("/a", "GET", ["Range": "bytes=20-"]),
            ]
        },
        Conversation("ranges of a stored response", rules: cached) { _, _ in
            .ok("0123456789", fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        } run: { stage in
            [
                await stage.load("/a"), await stage.load("/a", "GET", ["Range": "bytes=2-5"]),
                await stage.load("/a", "GET", ["Range": "bytes=-3"]),
                await stage.load("/a", "GET", ["Range": "bytes=2-5", "If-Range": "\"2\""]),
                await stage.load("/a", "GET", ["Range": "bytes=20-"]),
            ]
        },
        Conversation("uploads") { request, _ in
            .ok("\(request.method) \(Hash(request.body))")
        } run: { stage in
            let type = ["Content-Type": "application/octet-stream"]
            return [
                await stage.load("/a", "POST", type, body: bytes), await stage.load("/a", "PUT", type, body: bytes),
                await stage.load("/a", "PATCH", type, body: Data("a".utf8)),
                await stage.load("/a", "POST", type, body: Data()),
            ]
        },
        Conversation("codings", rules: cached) { request, _ in
            .ok(
                Data(base64Encoded: "H4sIAAAAAAACA0tMSgYAwkEkNQMAAAA=") ?? Data(),
                fields: ["Content-Encoding": "gzip", "Content-Type": "text/plain", "Cache-Control": "max-age=60"]
            )
        } run: {
            [await $0.load("/a"), await $0.load("/a")]
        },
    ]

    // MARK: - Answers

    static let answers = [
        Conversation("statuses") { request, _ in
            .status(Int(request.path.dropFirst()) ?? 500, body: Data("a".utf8))
        } run: { stage in
            var got: [String] = []
            for status in [200, 201, 203, 204, 205, 304, 404, 410, 500, 503] {
                got.append(await stage.load("/\(status)"))
            }
            return got
        },
        Conversation("methods") { request, _ in
            .ok(request.method)
        } run: { stage in
            var got: [String] = []
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"] {
                got.append(await stage.load("/a", method))
            }
            return got
        },
        Conversation("revalidation", rules: cached) { request, _ in
            request.value(of: "If-None-Match") == nil
                ? .ok("a", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
                : .status(304, fields: ["ETag": "\"1\"", "X-A": "1"])
        } run: { stage in
            [
                await stage.load("/a"), await stage.load("/a"),
                await stage.load("/a", "GET", ["If-None-Match": "\"1\""]),
            ]
        },
        Conversation(
            "keys of a rule",
            rules: [
                .allow(
                    "http://127.0.0.1:*/**",
                    via: .cache(.standard, key: .ignoring("a").own { $0.value(forHTTPHeaderField: "X-A") })
                )
            ]
        ) { request, _ in
            .ok("\(request.target) \(request.value(of: "X-A") ?? "-")", fields: ["Cache-Control": "max-age=60"])
        } run: { stage in
            [
                await stage.load("/x?a=1&b=1"), await stage.load("/x?b=1&a=2"), await stage.load("/x?b=2"),
                await stage.load("/x?b=1", "GET", ["X-A": "1"]), await stage.load("/x?b=1&a=3", "GET", ["X-A": "1"]),
                await stage.load("/x?a=4", "DELETE"), await stage.load("/x?b=1"),
            ]
        },
        Conversation("queries by a body", rules: cached) { request, _ in
            .ok(request.body, fields: ["Cache-Control": "max-age=60", "No-Vary-Search": "params=(\"a\")"])
        } run: { stage in
            let type = ["Content-Type": "text/plain"]
            var got: [String] = []
            for (target, body) in [("/x?a=1", "1"), ("/x?a=2", "1"), ("/x?a=1", "2"), ("/x?b=1", "1")] {
                got.append(await stage.load(target, "QUERY", type, body: Data(body.utf8)))
            }
            return got
        },
        Conversation(
            "stubs",
            rules: [
                .allow(
                    "http://127.0.0.1:*/**",
                    via: .stubs(
                        try Stubs {
                            Stub(.post("http://127.0.0.1:*/a"), .status(201, fields: ["X-A": "1"]))
                            Stub(.get("http://127.0.0.1:*/b"), .ok("stub"))
                        }
                    )
                )
            ]
        ) { _, _ in
            .ok("network")
        } run: { stage in
            [await stage.load("/a", "POST", body: Data("a".utf8)), await stage.load("/b"), await stage.load("/c")]
        },
    ]
}

@Suite("The same conversation through each door", .timeLimit(.minutes(10)))
struct DoorTests {
    @Test("gives the app and the servers the same", arguments: Conversation.all)
    fileprivate func same(_ conversation: Conversation) async throws {
        let expected = try await conversation.facts(through: .session)
        #expect(!expected.isEmpty)
        for door in LoadingDoor.allCases where door != .session {
            var argued = door.isOfSwiftNIO ? conversation.arguedByEngine : [:]
            if door.isOfAsyncHTTPClient { argued.merge(conversation.argued) { $1 } }
            let facts = try await conversation.facts(through: door)
            #expect(facts.difference(from: expected.map { argued[$0] ?? $0 }).isEmpty, "\(door)")
        }
    }
}

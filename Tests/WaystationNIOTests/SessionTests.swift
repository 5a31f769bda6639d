#if NIO
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationNIO
import WaystationTesting

@Suite("A session with the engine on SwiftNIO", .timeLimit(.minutes(10)))
struct SessionTests {
    private func session(
        _ origin: ScriptedOrigin,
        _ configuration: URLSessionConfiguration = .ephemeral,
        cache: ResponseCache? = nil,
        delegate: (any URLSessionDelegate)? = nil
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("http://127.0.0.1:*/**", via: cache == nil ? .network : .cache(.standard))]
            $0.cache = cache
        }
        return URLSession(
            configuration: configuration.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    @Test("loads, follows redirects, and sends the whole body of a POST")
    func loads() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/moved": .redirect(302, to: "/there?a=1")
            case "/post": .redirect(307, to: "/echo")
            case "/echo": .ok("\(request.method) \(request.body.count)")
            default: .ok("at \(request.target)")
            }
        }
        let session = try session(origin)
        let (moved, response) = try await session.data(from: origin.url("/moved"))
        #expect(String(decoding: moved, as: UTF8.self) == "at /there?a=1")
        #expect((response as? HTTPURLResponse)?.url?.path == "/there")
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        #expect(status == "Waystation; fwd=bypass; fwd-status=200")
        var post = URLRequest(url: origin.url("/post"))
        post.httpMethod = "POST"
        post.httpBody = Data(repeating: 1, count: 300_000)
        let (echo, _) = try await session.data(for: post)
        #expect(String(decoding: echo, as: UTF8.self) == "POST 300000")
    }

    @Test("sends a stream that was spooled to a file, again after a redirect too", arguments: ["/echo", "/post"])
    func spooled(path: String) async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/post" ? .redirect(307, to: "/echo") : .ok(request.body)
        }
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.bodySpool = BodySpool(memory: .bytes(0))
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
        var post = URLRequest(url: origin.url(path))
        post.httpMethod = "POST"
        post.httpBodyStream = InputStream(data: body)
        let (echo, _) = try await session.data(for: post)
        #expect(echo == body)
        #expect(origin.requests.allSatisfy { $0.body == body })
    }

    @Test("stores a response, answers from it, and revalidates it")
    func caching() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nio-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try ScriptedOrigin { request in
            request.value(of: "If-None-Match") == "\"1\""
                ? .status(304, fields: ["ETag": "\"1\""])
                : .ok(
                    "body",
                    fields: ["ETag": "\"1\"", "Cache-Control": request.path == "/fresh" ? "max-age=60" : "no-cache"]
                )
        }
        let session = try session(origin, cache: ResponseCache(directory: folder))
        for path in ["/fresh", "/asked"] {
            for _ in 1...2 {
                let (body, _) = try await session.data(from: origin.url(path))
                #expect(String(decoding: body, as: UTF8.self) == "body")
            }
        }
        #expect(origin.requests.map(\.path) == ["/fresh", "/asked", "/asked"])
        #expect(origin.requests.last?.value(of: "If-None-Match") == "\"1\"")
    }

    @Test("keeps the cookies of the session's storage, also over redirects")
    func cookies() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/set"
                ? .status(302, fields: ["Location": "/get", "Set-Cookie": "a=1; Path=/"])
                : .ok(request.value(of: "Cookie") ?? "none")
        }
        let configuration = URLSessionConfiguration.ephemeral
        let session = try session(origin, configuration)
        let (redirected, _) = try await session.data(from: origin.url("/set"))
        #expect(String(decoding: redirected, as: UTF8.self) == "a=1")
        let (later, _) = try await session.data(from: origin.url("/get"))
        #expect(String(decoding: later, as: UTF8.self) == "a=1")
    }

    @Test("sends the cookies that the storage has when the request is sent, also if a redirect has changed one")
    func changedCookies() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/login"
                ? .status(302, fields: ["Location": "/home", "Set-Cookie": "sid=new; Path=/"])
                : .ok(request.value(of: "Cookie") ?? "none", fields: ["Set-Cookie": "sid=old; Path=/"])
        }
        let session = try session(origin)
        _ = try await session.data(from: origin.url("/"))
        let (home, _) = try await session.data(from: origin.url("/login"))
        #expect(String(decoding: home, as: UTF8.self) == "sid=new")
        #expect(origin.requests.map { $0.value(of: "Cookie") } == [nil, "sid=old", "sid=new"])
    }

    @Test("stores a page that a redirect leads to under the cookie that the redirect has set")
    func cookiesInTheCache() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nio-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try ScriptedOrigin { request in
            request.path == "/callback"
                ? .status(302, fields: ["Location": "/home", "Set-Cookie": "sid=new; Path=/"])
                : .ok(
                    request.value(of: "Cookie") ?? "none",
                    fields: ["Set-Cookie": "sid=old; Path=/", "Cache-Control": "max-age=60", "Vary": "Cookie"]
                )
        }
        let session = try session(origin, cache: ResponseCache(directory: folder))
        for (path, expected) in [("/", "none"), ("/home", "sid=old"), ("/callback", "sid=new")] {
            let (body, _) = try await session.data(from: origin.url(path))
            #expect(String(decoding: body, as: UTF8.self) == expected)
        }
    }

    @Test("keeps credentials of the configuration from other origins, also beside fields that are no text")
    func additionalCredentials() async throws {
        let other = try ScriptedOrigin { _ in .ok("other") }
        let target = other.url("/there").absoluteString
        let origin = try ScriptedOrigin { _ in .redirect(302, to: target) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer secret", "X-Build": 42]
        _ = try await session(origin, configuration).data(from: origin.url("/"))
        #expect(origin.requests.map { $0.value(of: "Authorization") } == ["Bearer secret"])
        #expect(other.requests.map { $0.value(of: "Authorization") } == [nil])
        #expect(other.requests.map { $0.value(of: "X-Build") } == ["42"])
    }

    @Test("keeps no cookie of more than 4,096 bytes, which would make each later request as large")
    func largeCookies() async throws {
        let origin = try ScriptedOrigin { request in
            let large = String(repeating: "c", count: 4096)
            return request.path == "/set"
                ? .ok(fields: ["Set-Cookie": "a=\(large); Path=/", "Set-Cookie": "b=\(large.dropFirst()); Path=/"])
                : .ok(request.value(of: "Cookie") ?? "none")
        }
        let session = try session(origin)
        _ = try await session.data(from: origin.url("/set"))
        let (cookies, _) = try await session.data(from: origin.url("/get"))
        #expect(cookies.count == 4097)
        #expect(cookies.first == UInt8(ascii: "b"))
    }

    @Test("delivers a large body whole to a delegate that was suspended meanwhile")
    func suspended() async throws {
        let part = Data(repeating: 7, count: 64 << 10)
        let count = 512
        let origin = try ScriptedOrigin { _ in
            .stream(Array(repeating: .bytes(part), count: count), framing: .contentLength)
        }
        let delegate = CountingDelegate()
        let session = try session(origin, delegate: delegate)
        let task = session.dataTask(with: origin.url("/large"))
        task.resume()
        await delegate.begin()
        task.suspend()
        for _ in 1...10_000 { await Task.yield() }
        task.resume()
        await delegate.end()
        #expect(delegate.received == part.count * count)
        #expect(delegate.error == nil)
    }

    @Test("uploads and downloads stay with Foundation")
    func otherTasks() async throws {
        let origin = try ScriptedOrigin { request in .ok("\(request.method) \(request.body.count)") }
        let session = try session(origin)
        var post = URLRequest(url: origin.url("/up"))
        post.httpMethod = "POST"
        let (body, _) = try await session.upload(for: post, from: Data("abc".utf8))
        #expect(String(decoding: body, as: UTF8.self) == "POST 3")
    }

    @Test("a server that is not there gives Foundation's error")
    func errors() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let session = try session(origin)
        origin.stop()
        let error = await #expect(throws: URLError.self) { try await session.data(from: origin.url("/")) }
        #expect(error?.code == .cannotConnectToHost)
    }
}

/// A delegate that counts the bytes that it gets.
///
/// `@unchecked Sendable`: the superclass is not; the properties added here do not change.
private final class CountingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct State {
        var received = 0
        var error: (any Error)?
    }

    private let state = Mutex(State())
    private let (begins, hasBegun) = AsyncStream.makeStream(of: Void.self)
    private let (ends, hasEnded) = AsyncStream.makeStream(of: Void.self)

    var received: Int { state.withLock(\.received) }
    var error: (any Error)? { state.withLock(\.error) }

    /// Waits for the first part.
    func begin() async { for await _ in begins { break } }

    func end() async { for await _ in ends { break } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.received += data.count }
        hasBegun.yield()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { $0.error = error }
        hasEnded.yield()
    }
}
#endif

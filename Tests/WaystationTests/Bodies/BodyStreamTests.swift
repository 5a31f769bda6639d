import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A body stream")
struct BodyStreamTests {
    private let origin: ScriptedOrigin
    private let folder: TemporaryDirectory
    private let spool: BodySpool

    init() throws {
        let dropped = Counter()
        origin = try ScriptedOrigin { request in
            switch request.path {
            case "/307": .redirect(307, to: "/there")
            case "/308": .redirect(308, to: "/307")
            case "/303": .redirect(303, to: "/there")
            case "/dropped" where dropped.next() == 1: .closed
            case "/secret" where request.value(of: "Authorization") == nil:
                .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""])
            default: .ok(request.body)
            }
        }
        folder = try TemporaryDirectory()
        spool = BodySpool(memory: .bytes(100), directory: folder.url)
    }

    private func session(
        via route: Route = .network,
        delegate: (any URLSessionDelegate)? = nil,
        configure: (inout Interceptor.Configuration) throws -> Void = { _ in }
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: route)]
            $0.bodySpool = spool
            try configure(&$0)
        }
        return URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    private func request(_ stream: InputStream, _ path: String = "/a", method: String = "POST") -> URLRequest {
        var request = URLRequest(url: origin.url(path))
        request.httpMethod = method
        request.httpBodyStream = stream
        return request
    }

    private func body(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }

    @Test("is sent completely, from memory or from a file", arguments: [0, 1, 99, 100, 101, 65_536, 200_000])
    func whole(count: Int) async throws {
        let stream = ScriptedStream([.bytes(body(count))])
        #expect(try await session().data(for: request(count == 0 ? ScriptedStream([]) : stream)).0 == body(count))
        // A body in memory is sent with its length; Foundation sends a stream from a file chunked.
        let isChunked = origin.requests[0].value(of: "Transfer-Encoding") == "chunked"
        #expect(isChunked == (count > 100))
        #expect(count == 0 || stream.bytesRead == count)
    }

    @Test("is sent again on 307 and 308", arguments: [50, 200_000], ["POST", "PUT", "PATCH"])
    func redirects(count: Int, method: String) async throws {
        let request = request(InputStream(data: body(count)), "/308", method: method)
        #expect(try await session().data(for: request).0 == body(count))
        #expect(origin.requests.map(\.body) == Array(repeating: body(count), count: 3))
        #expect(origin.requests.map(\.method) == Array(repeating: method, count: 3))
    }

    @Test("is not sent after a 303 redirect, which changes the method to GET")
    func seeOther() async throws {
        _ = try await session().data(for: request(InputStream(data: body(200)), "/303"))
        #expect(origin.requests.map(\.method) == ["POST", "GET"])
        #expect(origin.requests.last?.body == Data())
    }

    @Test("is sent again to a server that asks for credentials", arguments: [50, 200_000])
    func challenge(count: Int) async throws {
        let delegate = RecordingDelegate(credential: { _ in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        })
        try session(delegate: delegate).dataTask(with: request(InputStream(data: body(count)), "/secret")).resume()
        await delegate.completion()
        #expect(delegate.body == body(count))
        #expect(origin.requests.map(\.body) == [body(count), body(count)])
    }

    @Test("is sent again with an idempotent method whose connection was dropped", arguments: [50, 200_000])
    func dropped(count: Int) async throws {
        let request = request(InputStream(data: body(count)), "/dropped", method: "PUT")
        #expect(try await session().data(for: request).0 == body(count))
        #expect(origin.requests.map(\.body) == [body(count), body(count)])
    }

    @Test("is not sent again with another method, since the server may have acted on it")
    func notIdempotent() async throws {
        await #expect(throws: URLError.self) {
            try await session().data(for: request(InputStream(data: body(50)), "/dropped"))
        }
        #expect(origin.requestCount == 1)
    }

    @Test("is also sent under a cache rule and through a redirect", arguments: [50, 200_000])
    func cached(count: Int) async throws {
        let session = try session(via: .cache(.standard)) {
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
        }
        #expect(try await session.data(for: request(InputStream(data: body(count)), "/307")).0 == body(count))
    }

    @Test("is framed once, whatever Content-Length the app sets", arguments: [50, 200_000])
    func framing(count: Int) async throws {
        var request = request(InputStream(data: body(count)))
        request.setValue("7", forHTTPHeaderField: "Content-Length")
        #expect(try await session().data(for: request).0 == body(count))
        let sent = try #require(origin.requests.first)
        let framings = sent.values(of: "Content-Length") + sent.values(of: "Transfer-Encoding")
        #expect(framings == [count > 100 ? "chunked" : "50"])
    }

    @Test("fails the load with its own error, and nothing is sent", arguments: [0, 50, 200_000])
    func streamError(count: Int) async throws {
        let stream = ScriptedStream(count == 0 ? [.fail] : [.bytes(body(count)), .fail])
        let error = await #expect(throws: URLError.self) { try await session().data(for: request(stream)) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(error?.userInfo[NSUnderlyingErrorKey] is ScriptedStream.Failure)
        #expect(origin.connectionCount == 0)
    }

    @Test("fails the load when it was read and closed before, and nothing is sent")
    func usedStream() async throws {
        let stream = InputStream(data: body(10))
        stream.open()
        stream.close()
        let error = await #expect(throws: URLError.self) { try await session().data(for: request(stream)) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(origin.connectionCount == 0)
    }

    @Test("does not delay other loads while it waits for bytes")
    func waiting() async throws {
        let stream = ScriptedStream([.bytes(body(10)), .wait, .bytes(body(10))])
        let session = try session()
        let waiting = request(stream)
        async let late = session.data(for: waiting)
        await stream.untilBlocked()
        #expect(try await session.data(from: origin.url("/other")).0 == Data())
        #expect(try await URLSession(configuration: .ephemeral).data(from: origin.url("/plain")).0 == Data())
        stream.release()
        #expect(try await late.0 == body(10) + body(10))
        #expect(origin.requests.map(\.path) == ["/other", "/plain", "/a"])
    }

    @Test("is abandoned when its task is cancelled, and nothing is sent")
    func cancelled() async throws {
        let stream = ScriptedStream([.bytes(body(200)), .wait, .bytes(body(10))])
        let delegate = RecordingDelegate()
        let task = try session(delegate: delegate).dataTask(with: request(stream))
        task.resume()
        await stream.untilBlocked()
        task.cancel()
        await delegate.completion()
        #expect(delegate.calls == [.completed(.cancelled)])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        stream.release()
        #expect(origin.connectionCount == 0)
    }

    @Test("fails the load with a time-out when it stays silent for the request's time-out interval", arguments: [0, 1])
    func silent(parts: Int) async throws {
        let clock = ManualClock()
        let stream = ScriptedStream((parts == 0 ? [] : [.bytes(body(10))]) + [.wait])
        let session = try session { $0.schedule = clock.schedule }
        let waiting = request(stream)
        async let load = session.data(for: waiting)
        await stream.untilBlocked()
        // Bytes that came since the timer was set restart it.
        for _ in 0...parts { clock.fire() }
        do {
            _ = try await load
            Issue.record("the load succeeded although nothing was sent")
        } catch {
            #expect((error as? URLError)?.code == .timedOut)
        }
        stream.release()
        #expect(origin.connectionCount == 0)
    }

    @Test("is sent once and completely when its task is suspended while it is read", arguments: [50, 200_000])
    func suspended(count: Int) async throws {
        let stream = ScriptedStream([.bytes(body(count)), .wait])
        let delegate = RecordingDelegate()
        let task = try session(delegate: delegate).dataTask(with: request(stream, "/307"))
        task.resume()
        await stream.untilBlocked()
        task.suspend()
        stream.release()
        task.resume()
        await delegate.completion()
        #expect(delegate.calls == [.redirect(to: "/there"), .response(200), .data(count), .completed(nil)])
        #expect(delegate.body == body(count))
        #expect(origin.requestCount == 2)
    }

    @Test("is held in a file without a name while it is sent")
    func nameless() async throws {
        let path = folder.url.path
        let names = Names()
        let origin = try ScriptedOrigin { request in
            names.note((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? ["?"])
            return .ok(request.body)
        }
        var request = request(InputStream(data: body(200_000)))
        request.url = origin.url("/a")
        #expect(try await session().data(for: request).0.count == 200_000)
        #expect(names.all.isEmpty)
    }

    @Test("without a spool is sent once, by Foundation itself")
    func notSpooled() async throws {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.bodySpool = nil
        }
        var events = interceptor.events.makeAsyncIterator()
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        #expect(try await session.data(for: request(InputStream(data: body(50)))).0 == body(50))
        guard case .handedBack? = await events.next()?.kind else {
            Issue.record("the load was not handed back to Foundation")
            return
        }
    }

    @Test("without a spool fails the load at a redirect that needs the body again")
    func unrepeatable() async throws {
        let session = try session {
            $0.bodySpool = nil
            $0.headerBody = HeaderBody()
        }
        var request = request(InputStream(data: body(50)), "/307")
        request.setValue("ignored", forHTTPHeaderField: "x-weimai-h5body")
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(origin.requests.map(\.path) == ["/307"])
    }

    @Test("fails the load when the spool's directory cannot be written, and nothing is sent")
    func noDirectory() async throws {
        let session = try session { $0.bodySpool?.directory = folder.url.appending(path: "missing") }
        let error = await #expect(throws: URLError.self) {
            try await session.data(for: request(InputStream(data: body(200))))
        }
        #expect(error?.code == .cannotCreateFile)
        #expect(error?.localizedDescription.contains("missing") ?? false)
        #expect(origin.connectionCount == 0)
    }

    @Test("is not read when a file answers the request")
    func unread() async throws {
        try folder.write("page", to: "page.html")
        let stream = ScriptedStream([.wait])
        let session = try session(via: .files(in: folder.url, at: origin.url("/").absoluteString))
        let request = request(stream, "/page.html", method: "GET")
        #expect(try await session.data(for: request).0 == Data("page".utf8))
        #expect(stream.streamStatus == .notOpen)
    }
}

private final class Names: Sendable {
    private let log = Mutex<[String]>([])
    var all: [String] { log.withLock { $0 } }
    func note(_ names: [String]) { log.withLock { $0 += names } }
}

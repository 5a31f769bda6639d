import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// Foundation's own loader closes its connection when its task is suspended, and starts again when it is resumed.
@Suite("A task that is suspended and resumed")
struct SuspensionTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    enum Route: CaseIterable {
        case network, networkOnly, networkFirst

        var route: Waystation.Route {
            switch self {
            case .network: .network
            case .networkOnly: .cache(.networkOnly)
            case .networkFirst: .cache(.networkFirst())
            }
        }
    }

    private func session(_ route: Route, _ delegate: RecordingDelegate) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: route.route)]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
        }
        return URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    @Test("gets each byte once, in order, by one request", arguments: Route.allCases)
    func onceEach(route: Route) async throws {
        let gates = try (0..<3).map { _ in try ScriptedOrigin.Gate() }
        let parts = ["first ", "second ", "third ", "last"].map { Data($0.utf8) }
        let origin = try ScriptedOrigin { _ in
            .stream([
                .bytes(parts[0]), .wait(gates[0]), .bytes(parts[1]), .wait(gates[1]), .bytes(parts[2]), .wait(gates[2]),
                .bytes(parts[3]),
            ])
        }
        let heard = Atomic(0)
        let delegate = RecordingDelegate(received: { task in
            let number = heard.add(1, ordering: .relaxed).oldValue
            guard number < gates.count else { return }
            task.suspend()
            task.resume()
            gates[number].open()
        })
        try session(route, delegate).dataTask(with: origin.url("/a")).resume()
        await delegate.completion()
        #expect(delegate.body == parts.reduce(Data(), +))
        #expect(delegate.calls == [.response(200), .data(23), .completed(nil)])
        #expect(origin.requestCount == 1)
    }

    @Test("downloads each byte once, by one request")
    func download() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("first".utf8)), .wait(gate), .bytes(Data("rest".utf8))])
        }
        let delegate = RecordingDelegate()
        let task = try session(.network, delegate).downloadTask(with: origin.url("/a"))
        task.resume()
        await origin.waitForRequests(1)
        task.suspend()
        task.resume()
        gate.open()
        await delegate.completion()
        #expect(delegate.calls == [.downloaded(9), .completed(nil)])
        #expect(origin.requestCount == 1)
    }

    @Test("uploads its body once")
    func upload() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .ok("done").held(at: gate) }
        let delegate = RecordingDelegate()
        var request = URLRequest(url: origin.url("/a"))
        request.httpMethod = "POST"
        let task = try session(.network, delegate).uploadTask(with: request, from: Data(count: 100_000))
        task.resume()
        await origin.waitForRequests(1)
        task.suspend()
        task.resume()
        gate.open()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(4), .completed(nil)])
        #expect(origin.requests.map(\.body.count) == [100_000])
    }

    @Test("ends after it was resumed, though its loader ended before", arguments: [false, true])
    func heldEnd(isFailing: Bool) async throws {
        let (task, delegate, url) = try commandedTask()
        task.resume()
        #expect(await eventually { CommandedLoader.isStarted(url) })
        task.suspend()
        try #require(FoundationInternals.workQueue(of: task)).sync { CommandedLoader.end(url, isFailing) }
        // After this operation the delegate has got all calls that were queued.
        await passed(try #require(FoundationInternals.session(of: task)).delegateQueue)
        #expect(delegate.calls == [.response(200)])
        #expect(task.state == .suspended)
        task.resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .completed(isFailing ? .cannotParseResponse : nil)])
    }

    enum Reply: CaseIterable { case complete, cancel, retry }

    @Test("continues only after it was resumed, if its delegate answers a challenge before", arguments: Reply.allCases)
    func answeredWhileSuspended(reply: Reply) async throws {
        let origin = try ScriptedOrigin { request in
            request.value(of: "Authorization") == nil
                ? .status(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: Data("no".utf8)) : .ok("yes")
        }
        let asked = Mutex<URLSessionTask?>(nil)
        let delegate = RecordingDelegate(credential: { _ in
            asked.withLock { $0 }?.suspend()
            return switch reply {
            case .complete: (.performDefaultHandling, nil)
            case .cancel: (.cancelAuthenticationChallenge, nil)
            case .retry: (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            }
        })
        let session = try session(.network, delegate)
        let task = session.dataTask(with: origin.url("/a"))
        asked.withLock { $0 = task }
        task.resume()
        let refused: [RecordingDelegate.Call] = [.response(401), .data(2), .challenge(failures: 0)]
        #expect(await eventually { delegate.calls.count >= refused.count })
        // The answer comes from the delegate's queue, and the load takes it on the work queue.
        await passed(session.delegateQueue)
        try #require(FoundationInternals.workQueue(of: task)).sync {}
        await passed(session.delegateQueue)
        #expect(delegate.calls == refused)
        #expect(task.state == .suspended)
        #expect(origin.requestCount == 1)
        task.resume()
        await delegate.completion()
        let rest: [RecordingDelegate.Call] =
            switch reply {
            case .complete: [.completed(nil)]
            case .cancel: [.completed(.cancelled)]
            case .retry: [.response(200), .data(3), .completed(nil)]
            }
        #expect(delegate.calls == refused + rest)
    }

    /// Waits until a queue has run the operations that it has now.
    private func passed(_ queue: OperationQueue) async {
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
    }

    @Test("can be cancelled while it is suspended")
    func cancelled() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("first".utf8)), .wait(gate)]) }
        let delegate = RecordingDelegate(received: { task in
            task.suspend()
            task.cancel()
        })
        try session(.network, delegate).dataTask(with: origin.url("/a")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(5), .completed(.cancelled)])
    }

    @Test("can be cancelled while it is suspended after its loader has ended")
    func cancelledAfterEnd() async throws {
        let (task, delegate, url) = try commandedTask()
        task.resume()
        #expect(await eventually { CommandedLoader.isStarted(url) })
        task.suspend()
        try #require(FoundationInternals.workQueue(of: task)).sync { CommandedLoader.end(url, false) }
        task.cancel()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .completed(.cancelled)])
    }

    /// A task that the interceptor hands back to the test's own loader.
    private func commandedTask() throws -> (URLSessionTask, RecordingDelegate, URL) {
        let configuration = URLSessionConfiguration.ephemeral
        // The interceptor hands tasks back to the app's own classes.
        configuration.protocolClasses = [CommandedLoader.self]
        let interceptor = try Interceptor { $0.rules = [.allow("http://commanded.test/**", via: .network)] }
        let delegate = RecordingDelegate()
        let session = URLSession(
            configuration: configuration.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        let url = try #require(URL(string: "http://commanded.test/\(UUID().uuidString)"))
        return (session.dataTask(with: url), delegate, url)
    }
}

/// A loader that answers with a response, and ends when the test says so.
private final class CommandedLoader: URLProtocol {
    /// `@unchecked Sendable`: used on the work queue of the loader's task alone.
    private struct Started: @unchecked Sendable { let loader: CommandedLoader }

    private static let started = Mutex<[URL: Started]>([:])

    static func isStarted(_ url: URL) -> Bool { started.withLock { $0[url] != nil } }

    static func end(_ url: URL, _ isFailing: Bool) {
        guard let loader = started.withLock({ $0.removeValue(forKey: url)?.loader }) else { return }
        if isFailing {
            loader.client?.urlProtocol(loader, didFailWithError: URLError(.cannotParseResponse))
        } else {
            loader.client?.urlProtocolDidFinishLoading(loader)
        }
    }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "commanded.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        let this = Started(loader: self)
        Self.started.withLock { $0[url] = this }
    }
}

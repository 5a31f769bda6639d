import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// Foundation calls a protocol with a delay, and not always in the order of the app's calls.
@Suite("Late calls of a protocol")
struct LateCallTests {
    private let interceptor: Interceptor
    private let url: URL

    init() throws {
        interceptor = try Interceptor { $0.rules = [.block("http://late.test/**")] }
        url = try #require(URL(string: "http://late.test/"))
    }

    /// A protocol that was never started, for a task that has ended as cancelled.
    private func cancelledTask() async throws -> (URLProtocol, RecordingClient) {
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: url)
        task.cancel()
        await delegate.completion()
        let protocolClass = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
        let client = RecordingClient()
        return (protocolClass.init(task: task, cachedResponse: nil, client: client), client)
    }

    @Test("a start after a stop makes no call to the client")
    func startAfterCancel() async throws {
        let (loader, client) = try await cancelledTask()
        loader.stopLoading()
        loader.startLoading()
        loader.stopLoading()
        #expect(client.count == 0)
    }

    @Test("a start after the task's end makes no call to the client")
    func startAfterEnd() async throws {
        let (loader, client) = try await cancelledTask()
        loader.startLoading()
        #expect(client.count == 0)
    }

    /// A protocol that was never started, for a running task, whose own session starts nothing.
    ///
    /// The interceptor is bound as long as the configuration exists.
    private func runningTask(
        in intercepted: URLSessionConfiguration,
        _ request: URLRequest
    ) throws -> (URLProtocol, RecordingClient, URLSessionTask) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [SilentLoader.self]
        let task = URLSession(configuration: configuration).dataTask(with: request)
        task.resume()
        let protocolClass = try #require(intercepted.protocolClasses?.first as? URLProtocol.Type)
        let client = RecordingClient()
        return (protocolClass.init(task: task, cachedResponse: nil, client: client), client, task)
    }

    @Test("a load whose task is suspended before its protocol was started begins after the task was resumed")
    func startWhileSuspended() async throws {
        let site = try TemporaryDirectory()
        try site.write("held", to: "index.html")
        let network = ScriptedTransport { _ in .ok("sent") }
        let interceptor = try Interceptor {
            $0.rules = [
                .block("http://late.test/blocked"),
                .allow("http://late.test/site/**", via: .files(in: site.url, at: "http://late.test/site/")),
                .allow("http://late.test/**", via: .network),
            ]
            $0.makeTransport = { _ in network }
        }
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        for (path, method) in [("blocked", "GET"), ("site/index.html", "GET"), ("sent", "POST")] {
            var request = URLRequest(url: url.appending(path: path))
            request.httpMethod = method
            let (loader, client, task) = try runningTask(in: configuration, request)
            let queue = try #require(FoundationInternals.workQueue(of: task))
            task.suspend()
            queue.sync { loader.startLoading() }
            #expect(client.count == 0, "\(path)")
            #expect(loader.client === client, "\(path)")
            #expect(network.requests.isEmpty, "\(path)")
            task.resume()
            queue.sync { loader.startLoading() }
            // Its response, its body and its end, or its failure alone.
            #expect(await eventually { client.count == (path == "blocked" ? 1 : 3) }, "\(path)")
        }
        #expect(network.requests.count == 1)
        withExtendedLifetime(configuration) {}
    }

    @Test("a load releases its client at its end, so that a late cancel makes no call")
    func clientAfterEnd() async throws {
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        let (loader, client, task) = try runningTask(in: configuration, URLRequest(url: url))
        #expect(loader.client === client)
        // The rule blocks, so the load ends at once.
        try #require(FoundationInternals.workQueue(of: task)).sync { loader.startLoading() }
        #expect(client.count == 1)
        #expect(loader.client == nil)
    }
}

/// A loader that answers nothing.
private final class SilentLoader: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "late.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {}
    override func stopLoading() {}
}

private final class RecordingClient: NSObject, URLProtocolClient, Sendable {
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .relaxed) }

    private func note() { calls.add(1, ordering: .relaxed) }

    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) { note() }
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) { note() }
    func urlProtocol(_: URLProtocol, didReceive _: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) { note() }
    func urlProtocol(_: URLProtocol, didLoad _: Data) { note() }
    func urlProtocolDidFinishLoading(_: URLProtocol) { note() }
    func urlProtocol(_: URLProtocol, didFailWithError _: any Error) { note() }
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) { note() }
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) { note() }
}

import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTransport

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

    @Test("a load releases its client at its end, so that a late cancel makes no call")
    func clientAfterEnd() async throws {
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        let session = URLSession(configuration: configuration)
        // Never resumed, so that the session itself starts nothing.
        let task = session.dataTask(with: url)
        let protocolClass = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
        let client = RecordingClient()
        let loader = protocolClass.init(task: task, cachedResponse: nil, client: client)
        #expect(loader.client === client)
        // The rule blocks, so the load ends at once.
        try #require(FoundationInternals.workQueue(of: task)).sync { loader.startLoading() }
        #expect(client.count == 1)
        #expect(loader.client == nil)
    }
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

import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@_spi(Measuring) @testable import Waystation

/// These tests fail when a toolchain moves, renames or removes the flag.
///
/// Until `InlineCompletion` is adapted, async loads are as vulnerable to a cancel as those of a plain session.
@Suite("The flag that ends an async load on the loading queue")
struct InlineCompletionTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("is a Bool of a known name, on for async callers and off for completion handlers")
    func flag() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [FlagReader.self]
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: "http://flag.test/\(UUID().uuidString)"))
        _ = try await session.data(from: url.appending(path: "async"))
        await withCheckedContinuation { continuation in
            session.dataTask(with: url.appending(path: "handler")) { _, _, _ in continuation.resume() }.resume()
        }
        let seen = FlagReader.seen.withLock { $0 }
        #expect(seen[url.appending(path: "async")] == true)
        #expect(seen[url.appending(path: "handler")] == false)
    }

    @Test("is left alone where it is not found under its name and with its type")
    func notFound() {
        #expect(
            FoundationInternals.offset(of: "_callCompletionHandlerInline", as: Int.self, in: URLSessionTask.self) == nil
        )
        #expect(FoundationInternals.offset(of: "suspendCount", as: Bool.self, in: URLSessionTask.self) == nil)
        let task = URLSessionTask()
        let unknown = InlineCompletion(property: "_noSuchFlag")
        unknown.switchOff(for: task)
        #expect(unknown.isOn(for: task) == nil)
    }

    enum Kind: CaseIterable { case untouched, handedBack, transported, file, upload, download }

    private func session(_ kind: Kind, _ queue: OperationQueue) throws -> URLSession {
        try directory.write("bytes", to: "site/a")
        let rule: Rule =
            switch kind {
            case .untouched: .allow("http://other.test/**", via: .network)
            case .handedBack, .upload, .download: .allow("http://127.0.0.1:*/**", via: .network)
            case .transported: .allow("http://127.0.0.1:*/**", via: .cache(.networkFirst()))
            case .file:
                .allow(
                    "http://files.test/**",
                    via: .files(in: directory.url.appending(path: "site"), at: "http://files.test/")
                )
            }
        let interceptor = try Interceptor {
            $0.rules = [rule]
            $0.cache = try ResponseCache(directory: directory.url.appending(path: "cache"), environment: .patient)
        }
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        return URLSession(configuration: configuration, delegate: nil, delegateQueue: queue)
    }

    @Test(
        "is switched off in every intercepted session, so that loads end on the delegate queue",
        arguments: Kind.allCases
    )
    func effect(kind: Kind) async throws {
        let origin = try ScriptedOrigin { _ in .ok("bytes") }
        let queue = CountingQueue()
        let session = try session(kind, queue)
        switch kind {
        case .upload:
            var request = URLRequest(url: origin.url("/a"))
            request.httpMethod = "POST"
            _ = try await session.upload(for: request, from: Data("body".utf8))
        case .download: _ = try await session.download(from: origin.url("/a"))
        case .file: _ = try await session.data(from: try #require(URL(string: "http://files.test/a")))
        default: _ = try await session.data(from: origin.url("/a"))
        }
        #expect(queue.count == 1)
    }

    @Test("stays on in a plain session")
    func plain() async throws {
        let origin = try ScriptedOrigin { _ in .ok("bytes") }
        let queue = CountingQueue()
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
        _ = try await session.data(from: origin.url("/a"))
        #expect(queue.count == 0)
    }
}

/// Records the flag of each task that it loads, and answers with an empty body.
private final class FlagReader: URLProtocol {
    static let seen = Mutex<[URL: Bool]>([:])

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let task, let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        let isOn = InlineCompletion.current.isOn(for: task)
        Self.seen.withLock { $0[url] = isOn }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocolDidFinishLoading(self)
    }
}

/// Counts the calls that Foundation makes through it.
private final class CountingQueue: OperationQueue, @unchecked Sendable {
    // `@unchecked` because the superclass is; the only state added here is atomic.
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .relaxed) }

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @Sendable @escaping () -> Void) {
        calls.add(1, ordering: .relaxed)
        super.addOperation(block)
    }
}

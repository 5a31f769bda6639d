import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A body that arrives faster than its task takes it")
struct BacklogTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A large part of a body, in one piece of memory.
    private static let part = Data(count: 1 << 20)

    private func session(_ interceptor: Interceptor, _ delegate: any URLSessionDelegate) -> URLSession {
        URLSession(configuration: .ephemeral.intercepted(by: interceptor), delegate: delegate, delegateQueue: nil)
    }

    @Test("waits in memory up to a bound, and arrives whole", arguments: [false, true])
    func bounded(isSlow: Bool) async throws {
        let parts = 48
        let origin = try ScriptedOrigin { _ in
            .stream(Array(repeating: .bytes(Self.part), count: parts), framing: .contentLength)
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.makeTransport = {
                let transport = URLSessionTransport(configuration: $0)
                // A busy machine may not run the task for longer than the transfers usually rest.
                transport.pacer.rest(atMost: .seconds(600))
                return transport
            }
        }
        let observer = BacklogObserver(interceptor.environment.backlog, isSlow: isSlow)
        session(interceptor, observer).dataTask(with: origin.url("/large")).resume()
        let (count, most) = await observer.end()
        #expect(count == parts << 20)
        #expect(most < 16 << 20)
        #expect(await eventually { interceptor.environment.backlog.pressure == 0 })
    }

    @Test("counts for the backlog while it waits to be written to the cache")
    func storing() async throws {
        let gate = DispatchSemaphore(value: 0)
        let isHeld = Mutex(false)
        var environment = StoreEnvironment.patient
        environment.fileSystem = FaultyFileSystem { operation, _ in
            guard operation == .write, isHeld.withLock({ $0 }) else { return }
            gate.wait()
            gate.signal()
        }
        let cache = try ResponseCache(directory: directory.url, environment: environment)
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.networkFirst()))]
            $0.cache = cache
        }
        let origin = try ScriptedOrigin { _ in .ok(Self.part) }
        isHeld.withLock { $0 = true }
        let load = session(interceptor, SilentDelegate()).dataTask(with: origin.url("/large"))
        load.resume()
        #expect(await eventually { interceptor.environment.backlog.pressure > 900_000 })
        gate.signal()
        #expect(await eventually { interceptor.environment.backlog.pressure == 0 })
    }

    @Test(
        "counts while its response waits for an answer, but not after a cancel or during a suspension"
    )
    func counting() throws {
        func delivery() -> Delivery {
            var delivery = Delivery()
            delivery.start()
            _ = delivery.enqueue(.data(Data(count: 10)))
            return delivery
        }
        var (cancelled, suspended, aborted) = (delivery(), delivery(), delivery())
        #expect(cancelled.deliverableBytes == 10)
        _ = cancelled.cancel()
        #expect(cancelled.deliverableBytes == 0)
        suspended.suspend()
        #expect(suspended.deliverableBytes == 0)
        suspended.start()
        #expect(suspended.deliverableBytes == 10)
        _ = suspended.next()
        #expect(suspended.deliverableBytes == 0)
        _ = aborted.abort(URLError(.cancelled))
        #expect(aborted.deliverableBytes == 0)
        var unanswered = Delivery()
        unanswered.start()
        let response = try #require(
            HTTPURLResponse(url: directory.url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        )
        _ = unanswered.enqueue(.response(ResponseHead(response)))
        _ = unanswered.enqueue(.data(Data(count: 10)))
        _ = unanswered.next()
        #expect(unanswered.deliverableBytes == 10)
    }

    @Test("leaves the loading queue to other loads after 64 parts")
    func visits() async throws {
        let session = URLSession(configuration: .ephemeral)
        // Never resumed, so that the session itself starts nothing.
        let task = session.dataTask(with: try #require(URL(string: "http://visits.test/")))
        let queue = try #require(FoundationInternals.workQueue(of: task))
        let delivered = Atomic(0)
        let counts = AsyncStream<Int>.makeStream()
        try queue.sync {
            let owner = SilentLoader(task: task, cachedResponse: nil, client: SilentClient())
            let interceptor = try Interceptor { _ in }
            let network = interceptor.makeNetwork(.ephemeral)
            let context = LoadContext(
                interceptor.environment,
                interceptor.makeStations(network),
                network,
                try #require(task.originalRequest),
                rule: nil
            )
            let load = Journey(TaskClient(try #require(LoadClient(owner)), LocalFileSystem()), context)
            load.start()
            for _ in 0..<1_000 {
                load.deliver(.reached { delivered.add(1, ordering: .relaxed) })
            }
            // Runs after the load's first turn on the queue, and before the second.
            LoadingQueue(of: task, in: LoadingSession.current(for: task)).hop {
                counts.continuation.yield(delivered.load(ordering: .relaxed))
            }
            load.deliver(.reached { counts.continuation.yield(delivered.load(ordering: .relaxed)) })
        }
        var iterator = counts.stream.makeAsyncIterator()
        #expect(await iterator.next() == 64)
        #expect(await iterator.next() == 1_000)
    }
}

/// Counts the bytes that arrive, and the maximum of the bytes that waited meanwhile.
private final class BacklogObserver: NSObject, URLSessionDataDelegate {
    private let backlog: LoadBacklog
    private let isSlow: Bool
    private let state = Mutex((count: 0, most: 0))
    private let ended = AsyncStream<Void>.makeStream()

    init(_ backlog: LoadBacklog, isSlow: Bool) {
        self.backlog = backlog
        self.isSlow = isSlow
    }

    func end() async -> (count: Int, most: Int) {
        for await _ in ended.stream {}
        return state.withLock { $0 }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        // The work makes the delegate slower than the loopback connection.
        if isSlow { _ = data.prefix(4 << 10).reduce(0) { $0 &+ Int($1) } }
        state.withLock { state in
            state.count += data.count
            state.most = max(state.most, backlog.bytesForTasks)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.continuation.finish()
    }
}

private final class SilentDelegate: NSObject, URLSessionDataDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}

private final class SilentLoader: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { false }
}

private final class SilentClient: NSObject, URLProtocolClient, Sendable {
    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) {}
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) {}
    func urlProtocol(_: URLProtocol, didLoad _: Data) {}
    func urlProtocolDidFinishLoading(_: URLProtocol) {}
    func urlProtocol(_: URLProtocol, didFailWithError _: any Error) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) {}
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) {}
}

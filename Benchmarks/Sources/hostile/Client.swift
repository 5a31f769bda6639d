import Foundation
import FoundationNetworking
import Measuring
import Synchronization
import Waystation
import WaystationNIO

/// A session with the engine on SwiftNIO, whose loads keep no body.
final class Client: NSObject, URLSessionDataDelegate {
    /// The response and the end of one load, as a delegate gets them.
    struct Sighting: Sendable {
        var status: Int?
        var count = 0
        var body = Data()
        var error: URLError?
        /// A call that came in the wrong order.
        var wrong: String?
    }

    /// A body of more bytes than this is not worth waiting for: the load is cancelled.
    private static let enough = 24 << 20

    private struct State {
        var sightings: [Int: Sighting] = [:]
        var keepsBody: Set<Int> = []
        var waiting: [Int: CheckedContinuation<Sighting, Never>] = [:]
    }

    let version: Version
    private let state = Mutex(State())
    /// The session exists from the first load on, because it needs its delegate.
    private let session = Mutex<URLSession?>(nil)
    private let interceptor: Interceptor

    /// - Parameters:
    ///   - version: The version of HTTP.
    ///   - directory: The directory of stored responses; nil if the loads are only forwarded.
    /// - Throws: The error of opening the store.
    init(_ version: Version, storingIn directory: URL?) throws {
        self.version = version
        interceptor = try Self.interceptor(version, storingIn: directory)
    }

    /// An interceptor that carries loads from the loopback with the engine on SwiftNIO.
    static func interceptor(_ version: Version, storingIn directory: URL?) throws -> Interceptor {
        var options = NIOOptions()
        options.httpVersions = version == .http1 ? .http1 : .http2PriorKnowledge
        options.environment = [:]
        let cache = try directory.map { try ResponseCache(directory: $0, memorySize: .bytes(0)) }
        return try Interceptor {
            $0.transport = .nio(options)
            $0.rules = [.allow("http://127.0.0.1:*/**", via: cache == nil ? .network : .cache(.standard))]
            $0.cache = cache
        }
    }

    private func task(for request: URLRequest) -> URLSessionDataTask {
        session.withLock { session in
            let used =
                session
                ?? URLSession(
                    configuration: .ephemeral.intercepted(by: interceptor),
                    delegate: self,
                    delegateQueue: nil
                )
            session = used
            return used.dataTask(with: request)
        }
    }

    /// Loads a URL and waits for its end.
    func load(_ url: URL, timeout: TimeInterval, keepsBody: Bool = false) async -> Sighting {
        var request = URLRequest(url: url)
        request.timeoutInterval = timeout
        let task = task(for: request)
        return await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting[task.taskIdentifier] = continuation
                state.sightings[task.taskIdentifier] = Sighting()
                if keepsBody { state.keepsBody.insert(task.taskIdentifier) }
            }
            task.resume()
        }
    }

    private func change(_ task: URLSessionTask, _ body: (inout Sighting) -> Void) {
        state.withLock { state in
            guard state.sightings[task.taskIdentifier] != nil else { return }
            body(&state.sightings[task.taskIdentifier, default: Sighting()])
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        change(dataTask) { sighting in
            if sighting.status != nil { sighting.wrong = "a second head" }
            sighting.status = (response as? HTTPURLResponse)?.statusCode ?? 0
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let keepsBody = state.withLock { $0.keepsBody.contains(dataTask.taskIdentifier) }
        change(dataTask) { sighting in
            if sighting.status == nil { sighting.wrong = "a body before the head" }
            sighting.count += data.count
            if keepsBody { sighting.body += data }
            if sighting.count > Self.enough { dataTask.cancel() }
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (waiting, sighting) = state.withLock { state in
            var sighting = state.sightings.removeValue(forKey: task.taskIdentifier)
            sighting?.error = error.map { $0 as? URLError ?? URLError(.unknown) }
            state.keepsBody.remove(task.taskIdentifier)
            return (state.waiting.removeValue(forKey: task.taskIdentifier), sighting)
        }
        if let waiting, let sighting { waiting.resume(returning: sighting) }
    }
}

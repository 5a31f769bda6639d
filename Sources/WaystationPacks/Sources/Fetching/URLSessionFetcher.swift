import Foundation
import HTTPTypes
import Synchronization
import WaystationFileSystem

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Fetches through Foundation, with one long-lived session that is created with the first request.
///
/// The session uses only Foundation's loaders, so packs are never fetched through an interceptor. It keeps no cache, no
/// cookies and no credentials. Redirects are followed to http and https URLs, never from https to http, at most ten in
/// a row; a 307 or 308 sends the body again. A redirect to another origin gets only the fields about ranges, validators
/// and kinds of content, so that no key or password leaves its origin.
///
/// Foundation on Linux has no back pressure: bytes that arrive faster than the reader takes them are kept in memory.
public final class URLSessionFetcher: PackFetching {
    /// A shared fetcher with the default configuration, since sessions are expensive.
    public static let shared = URLSessionFetcher()

    private struct Settings: @unchecked Sendable {
        // `@unchecked`: a private copy of a configuration that is not changed any more.
        let configuration: URLSessionConfiguration
    }

    private let settings: Settings
    // The session is created only when it is needed: after the first session of a process, Foundation ignores
    // `URLProtocol.registerClass`.
    private let made = Mutex<URLSession?>(nil)
    private let delegate = FetchDelegate()

    /// Makes a fetcher whose session uses a copy of `configuration`: its time limits, its proxy, its additional fields.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        own.urlCache = nil
        own.urlCredentialStorage = nil
        own.httpCookieStorage = nil
        own.protocolClasses = URLSessionConfiguration.ephemeral.protocolClasses
        settings = Settings(configuration: own)
    }

    deinit {
        // Running loads keep their streams, and end normally.
        made.withLock { $0 }?.finishTasksAndInvalidate()
    }

    private var session: URLSession {
        made.withLock { made in
            if let made { return made }
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.name = "waystation.packs.fetcher"
            let session = URLSession(configuration: settings.configuration, delegate: delegate, delegateQueue: queue)
            made = session
            return session
        }
    }

    /// Sends the request as a data task of the fetcher's session.
    public func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        guard request.url.isHTTP else {
            throw PackError(.invalidArgument, "\(request.url.shown) cannot be fetched: use an http or https URL")
        }
        var (request, redirects) = (request, 0)
        while true {
            let task = session.dataTask(with: URLRequest(request))
            let fetch = Fetch(request, task, after: redirects) { [delegate] in delegate.remove(task) }
            delegate.add(fetch, for: task)
            let response = try await withTaskCancellationHandler {
                try await fetch.head()
            } onCancel: {
                fetch.cancel()
            }
            guard let next = fetch.next else { return response }
            (request, redirects) = next
        }
    }
}

extension URLRequest {
    fileprivate init(_ request: FetchRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        for field in request.fields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        if !request.body.isEmpty { httpBody = request.body }
        cachePolicy = .reloadIgnoringLocalCacheData
    }
}

/// Forwards the session's delegate calls to the fetch of each task.
private final class FetchDelegate: NSObject, URLSessionDataDelegate {
    private let fetches = FetchRegistry()

    func add(_ fetch: Fetch, for task: URLSessionTask) { fetches.add(fetch, for: task) }

    func remove(_ task: URLSessionTask) { _ = fetches.remove(task) }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @Sendable @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = response as? HTTPURLResponse { fetches.fetch(of: dataTask)?.receive(head) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        fetches.fetch(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLRequest?) -> Void
    ) {
        let fetch = fetches.fetch(of: task)
        completionHandler(fetch?.redirect(from: response.url, status: response.statusCode, to: request))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Foundation asks once the complete response with the refusal has arrived, and waits for ever without an
        // answer.
        fetches.remove(task)?.end(task.response as? HTTPURLResponse, nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // Foundation does not report a redirect that is not followed; its response is only in the task.
        fetches.remove(task)?.end(task.response as? HTTPURLResponse, error)
    }
}

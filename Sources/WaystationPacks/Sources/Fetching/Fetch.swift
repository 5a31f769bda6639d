import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The fetches in progress, by their tasks.
final class FetchRegistry: Sendable {
    private let fetches = Mutex<[Int: Fetch]>([:])

    func add(_ fetch: Fetch, for task: URLSessionTask) {
        fetches.withLock { $0[task.taskIdentifier] = fetch }
    }

    func fetch(of task: URLSessionTask) -> Fetch? {
        fetches.withLock { $0[task.taskIdentifier] }
    }

    func remove(_ task: URLSessionTask) -> Fetch? {
        fetches.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }
}

/// One request in progress: at most one head, then parts, then one end.
///
/// The lock is never held while a continuation is resumed or a task is touched.
final class Fetch: Sendable {
    private struct State {
        var head: CheckedContinuation<FetchedResponse, any Error>?
        var hasHead = false
        var hasEnded = false
        var received = 0
        var redirects: Int
        /// The request that must follow a redirect, because it has a body and Foundation would drop it.
        var next: FetchRequest?
    }

    private static let redirectLimit = 10

    private let request: FetchRequest
    private let task: URLSessionDataTask
    private let forget: @Sendable () -> Void
    private let parts: AsyncThrowingStream<Data, any Error>.Continuation
    /// The body until the head is returned.
    ///
    /// After that only the reader may hold it, since only then does dropping the response stop the fetch.
    private let body: Mutex<AsyncThrowingStream<Data, any Error>?>
    private let state: Mutex<State>

    /// Makes a fetch, which does nothing yet.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - task: The task that sends it.
    ///   - redirects: The number of redirects that have led to the request.
    ///   - forget: Called when the fetch needs no more calls of the session's delegate.
    init(
        _ request: FetchRequest,
        _ task: URLSessionDataTask,
        after redirects: Int = 0,
        forget: @escaping @Sendable () -> Void
    ) {
        state = Mutex(State(redirects: redirects))
        self.request = request
        self.task = task
        self.forget = forget
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        parts = continuation
        body = Mutex(stream)
        continuation.onTermination = { [weak self] termination in
            if case .cancelled = termination { self?.cancel() }
        }
    }

    /// Starts the task and waits for the head; must be called only once.
    func head() async throws -> FetchedResponse {
        try await withCheckedThrowingContinuation { continuation in
            let isTooLate = state.withLock { state in
                if !state.hasEnded { state.head = continuation }
                return state.hasEnded
            }
            guard !isTooLate else { return continuation.resume(throwing: PackError.cancelled(request.url)) }
            task.resume()
        }
    }

    func receive(_ response: HTTPURLResponse) {
        let waiting = state.withLock { state in
            guard !state.hasEnded, !state.hasHead else {
                return nil as CheckedContinuation<FetchedResponse, any Error>?
            }
            state.hasHead = true
            defer { state.head = nil }
            return state.head
        }
        guard let waiting, let stream = body.withLock({ $0.take() }) else { return }
        let response = FetchedResponse(
            status: response.statusCode,
            fields: HTTPFields(response),
            url: response.url ?? request.url,
            body: stream
        )
        waiting.resume(returning: response)
    }

    func receive(_ part: Data) {
        let isWithinLimit = state.withLock { state in
            guard !state.hasEnded else { return nil as Bool? }
            guard part.count <= request.maximumBodySize - state.received else {
                state.hasEnded = true
                return false
            }
            state.received += part.count
            return true
        }
        switch isWithinLimit {
        case true?: parts.yield(part)
        case false?:
            parts.finish(throwing: PackError.tooLarge(request.url, limit: request.maximumBodySize))
            stop()
        case nil: break
        }
    }

    /// The request for a redirect; nil when Foundation must not follow it.
    ///
    /// A redirect to another origin gets none of the fields that may hold a secret, such as the key of an API.
    func redirect(from current: URL?, status: Int, to next: URLRequest) -> URLRequest? {
        guard let current, let target = next.url, target.isHTTP else { return nil }
        let isDowngrade = current.scheme?.lowercased() == "https" && target.scheme?.lowercased() != "https"
        let isTooMany = state.withLock { state in
            state.redirects += 1
            return state.redirects > Self.redirectLimit
        }
        guard !isDowngrade, !isTooMany else { return nil }
        let isForeign = !current.hasSameOrigin(as: target)
        // The same request goes to the new URL (RFC 9110 §15.4.8 and §15.4.9); Foundation would send it without its body.
        if [307, 308].contains(status), !request.body.isEmpty {
            var again = request
            again.url = target
            if isForeign {
                again.fields = HTTPFields(again.fields.filter { Self.isKeptAcrossOrigins($0.name.canonicalName) })
            }
            state.withLock { $0.next = again }
            return nil
        }
        var next = next
        if isForeign {
            for name in (next.allHTTPHeaderFields ?? [:]).keys where !Self.isKeptAcrossOrigins(name.lowercased()) {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return next
    }

    /// The request that must follow the response, and the number of redirects that lead to it; nil if the response is
    /// the answer.
    var next: (request: FetchRequest, redirects: Int)? {
        state.withLock { state in state.next.map { ($0, state.redirects) } }
    }

    /// Whether a redirect to another origin keeps a field.
    ///
    /// Only fields about ranges, validators, kinds of content and the client are kept, because any other may hold a
    /// secret.
    private static func isKeptAcrossOrigins(_ name: String) -> Bool {
        ["range", "if-range", "if-none-match", "if-modified-since", "content-type", "content-length", "user-agent"]
            .contains(name) || name.hasPrefix("accept")
    }

    /// Ends the fetch; `response` is a head that may not have been delivered yet.
    func end(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        if error == nil, let response { receive(response) }
        guard let waiting = finish() else { return }
        let failure = error.map { PackError.network(request.url, $0) }
        waiting?.resume(throwing: failure ?? PackError.network(request.url, URLError(.badServerResponse)))
        parts.finish(throwing: failure)
    }

    func cancel() {
        guard let waiting = finish() else { return }
        waiting?.resume(throwing: PackError.cancelled(request.url))
        parts.finish(throwing: PackError.cancelled(request.url))
        stop()
    }

    /// Marks the fetch as ended.
    ///
    /// - Returns: The continuation that waits for the head, if there is one; nil when the fetch had ended before.
    private func finish() -> CheckedContinuation<FetchedResponse, any Error>?? {
        state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return .some(state.head.take())
        }
    }

    private func stop() {
        forget()
        // With this toolchain, `cancel` waits for the loading queue: called on that queue, it would deadlock.
        DispatchQueue.global().async { [task] in task.cancel() }
    }
}

extension HTTPFields {
    fileprivate init(_ response: HTTPURLResponse) {
        self.init()
        for (name, value) in response.allHeaderFields {
            guard let text = name as? String, let name = HTTPField.Name(text), let value = value as? String else {
                continue
            }
            append(HTTPField(name: name, value: value))
        }
    }
}

extension URL {
    /// Whether two URLs have the same origin (RFC 6454 §4): scheme, host and port.
    fileprivate func hasSameOrigin(as other: URL) -> Bool {
        func port(_ url: URL) -> Int? { url.port ?? ["http": 80, "https": 443][url.scheme?.lowercased() ?? ""] }
        return scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && port(self) == port(other)
    }
}

import Foundation
public import HTTPTypes
import Synchronization
import Waystation
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// One exchange of a fetcher: one head, then parts that one reader takes, then one end.
///
/// While too many bytes wait for the reader (`WaitingBytes`), the exchange is paused. No continuation is resumed and no
/// exchange is called while the lock is held.
final class Fetch: TransportReceiver {
    private struct State: Downstream {
        var reader = SingleReader()
        var received = 0
        var upstream = Upstream()
        var limits = WaitingBytes()

        /// Pauses the exchange while too many bytes wait for the reader.
        mutating func keepLimits() {
            if limits.update(reader.waitingBytes) { upstream.isPaused = limits.isOver }
        }
    }

    /// The bytes that wait for the readers of a fetcher.
    final class Backlog: Sendable {
        private let count = Atomic(0)

        var bytes: Int { count.load(ordering: .relaxed) }

        fileprivate func change(by difference: Int) {
            if difference != 0 { count.add(difference, ordering: .relaxed) }
        }
    }

    private let url: URL
    private let maximumBodySize: Int
    private let backlog: Backlog
    private let state = Mutex(State())

    /// Makes a fetch, which does nothing yet.
    ///
    /// - Parameters:
    ///   - url: The URL that errors name.
    ///   - maximumBodySize: The maximum size of the body, in bytes.
    ///   - backlog: Counts the bytes that wait for their readers.
    init(of url: URL, maximumBodySize: Int, backlog: Backlog) {
        self.url = url
        self.maximumBodySize = maximumBodySize
        self.backlog = backlog
    }

    // MARK: - The caller and the reader

    /// Sends a request and waits for the head; must be called only once.
    func head(of request: URLRequest, through transport: any Transport) async throws -> ResponseHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let due = state.withLock { $0.reader.read(continuation) }
                if let due { return due.resume() }
                if transport.startsOnAnyQueue { return start(request, transport) }
                DispatchQueue.global().async { self.start(request, transport) }
            }
        } onCancel: {
            cancel()
        }
    }

    private func start(_ request: URLRequest, _ transport: any Transport) {
        let (isDue, _): (Bool, Upstream.Left?) = state.withLock { state in
            state.reader.hasEnded ? (false, nil) : (true, state.upstream.begin(1))
        }
        if isDue { state.take(transport.start(request, receiver: self), 1) }
    }

    /// The body, which one task may read; dropping it stops the fetch.
    var body: AsyncThrowingStream<Data, any Error> {
        let reader = Reader(fetch: self)
        return AsyncThrowingStream { try await reader.fetch.next() }
    }

    /// Stops the fetch when its body is dropped.
    private final class Reader: Sendable {
        let fetch: Fetch

        init(fetch: Fetch) { self.fetch = fetch }

        deinit { fetch.cancel() }
    }

    private func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data?, any Error>) in
                let (due, taken) =
                    state.withLock { state -> (SingleReader.Due?, Int)? in
                        guard !state.reader.isBusy else { return nil }
                        let waiting = state.reader.waitingBytes
                        let due = state.reader.read(continuation)
                        state.keepLimits()
                        return (due, waiting)
                    } ?? (nil, -1)
                guard taken >= 0 else { return continuation.resume(throwing: PackError.secondReader(url)) }
                backlog.change(by: -taken)
                state.keepPace()
                due?.resume()
            }
        } onCancel: {
            cancel()
        }
    }

    /// Stops the traffic at once, and drops the bytes that wait.
    func cancel() {
        end(.failure(PackError.cancelled(url)), stopsExchange: true)
        // Nothing is added after the end.
        let dropped = state.withLock { state in
            defer { state.keepLimits() }
            return state.reader.drop(because: PackError.cancelled(url)).count
        }
        backlog.change(by: -dropped)
    }

    private func end(_ result: Result<Void, any Error>, stopsExchange: Bool) {
        let (due, left): (SingleReader.Due?, Upstream.Left?) = state.withLock { state in
            guard !state.reader.hasEnded else { return (nil, nil) }
            let missing = PackError.network(url, URLError(.badServerResponse))
            let due = state.reader.receiveEnd(result, noHead: missing)
            return (due, stopsExchange ? state.upstream.leave(.cancelling) : state.upstream.end())
        }
        left?.carryOut()
        due?.resume()
    }

    // MARK: - Events of the transport

    func transportDidReceive(_ head: ResponseHead) { state.withLock { $0.reader.receive(head) }?.resume() }

    func transportDidReceive(_ part: Data) {
        guard !part.isEmpty else { return }
        let (isTooLarge, due, waits) = state.withLock { state -> (Bool, SingleReader.Due?, Bool) in
            guard !state.reader.hasEnded else { return (false, nil, false) }
            guard part.count <= maximumBodySize - state.received else { return (true, nil, false) }
            state.received += part.count
            if let due = state.reader.receive(part) { return (false, due, false) }
            state.keepLimits()
            backlog.change(by: part.count)
            return (false, nil, true)
        }
        if isTooLarge { return end(.failure(PackError.tooLarge(url, limit: maximumBodySize)), stopsExchange: true) }
        if waits { state.keepPace() }
        due?.resume()
    }

    func transportDidEnd(_ error: (any Error)?) {
        end(error.map { .failure(PackError.network(url, $0)) } ?? .success(()), stopsExchange: false)
    }
}

/// A request for a pack, or for a check for updates.
public struct FetchRequest: Sendable, Hashable {
    /// The URL to fetch.
    public var url: URL
    /// The method; GET by default.
    public var method: HTTPRequest.Method
    /// The header fields, in addition to those that the fetcher adds itself.
    public var fields: HTTPFields
    /// The body, empty by default.
    public var body: Data
    /// The maximum size of the body in bytes, after content codings are removed.
    ///
    /// When more bytes arrive, the fetcher stops the traffic, and the body ends with ``PackError/Code/tooLarge``.
    public var maximumBodySize: Int

    /// Makes a request.
    public init(
        _ url: URL,
        method: HTTPRequest.Method = .get,
        fields: HTTPFields = [:],
        body: Data = Data(),
        maximumBodySize: Int
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.maximumBodySize = maximumBodySize
    }
}

/// A response whose body is still arriving.
public struct FetchedResponse: Sendable {
    /// The final status code.
    public let status: Int
    /// The header fields.
    public let fields: HTTPFields
    /// The URL of the response, after redirects.
    public let url: URL
    /// The parts of the body, as they arrive.
    ///
    /// The body ends without an error only when it is complete by the response's own framing, or when the reading task
    /// was cancelled: check `Task.isCancelled` after its end.
    public let body: AsyncThrowingStream<Data, any Error>

    /// Makes a response.
    public init(status: Int, fields: HTTPFields, url: URL, body: AsyncThrowingStream<Data, any Error>) {
        self.status = status
        self.fields = fields
        self.url = url
        self.body = body
    }
}

extension RetryAfter {
    /// The longest delay that is accepted: a day, so that a server's mistake cannot end a client's updates.
    static let longest = Duration.seconds(86_400)

    /// How long to wait; nil when the field is missing or not valid.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        fields[.retryAfter].flatMap {
            delay($0, now: HTTPDate(nearestTo: now.timeIntervalSince1970), atMost: longest)
        }
    }
}

extension PackError {
    /// The error of a status other than success, with advice for the user.
    static func refusal(_ status: Int, of url: URL, retryAfter: Duration?) -> PackError {
        let advice =
            switch status {
            case 401, 403: "the server requires other credentials: check the address and its permissions"
            case 404, 410: "there is nothing at this address: check it, and that the file is published"
            case 408, 429, 503: "the server is busy: try again later"
            case 500...: "the server failed: try again later, and check its log if the error persists"
            case 300..<400: "the redirect cannot be followed: check the server's Location field"
            default: "check the address, and that the server is the right one"
            }
        return PackError(.refused, "\(url.shown) answered with status \(status); \(advice)", retryAfter: retryAfter)
    }

    static func network(_ url: URL, _ error: any Error) -> PackError {
        PackError(.network, "\(url.shown) could not be loaded: check the connection and the address", cause: error)
    }

    static func tooLarge(_ url: URL, limit: Int) -> PackError {
        PackError(
            .tooLarge,
            "\(url.shown) sent more than the \(limit) bytes that were announced or are allowed, and was stopped there; "
                + "check the server, or raise the limit"
        )
    }

    static func cancelled(_ url: URL) -> PackError {
        PackError(.cancelled, "loading \(url.shown) was cancelled", cause: CancellationError())
    }

    static func secondReader(_ url: URL) -> PackError {
        PackError(.invalidArgument, "two tasks read the body of \(url.shown) at a time: read it in one task")
    }
}

import Foundation
import Synchronization
import WaystationFileSystem
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads the body stream of a request to its end, so that the request can be sent more than once.
///
/// The app's stream may wait in `read` for any length of time, so it is read on a thread of its own. A cancel or a
/// time-out ends the spooling at once; the thread ends when `read` returns.
final class Spooling: Sendable {
    private struct State {
        var completion: (@Sendable (Result<URLRequest, URLError>) -> Void)?
        /// The number of parts that have arrived.
        var parts = 0
    }

    private static let partSize = 64 << 10

    private let url: URL?
    private let timeout: TimeInterval
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let state: Mutex<State>

    private init(
        _ url: URL?,
        _ timeout: TimeInterval,
        _ schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void,
        _ completion: @escaping @Sendable (Result<URLRequest, URLError>) -> Void
    ) {
        self.url = url
        self.timeout = timeout
        self.schedule = schedule
        state = Mutex(State(completion: completion))
    }

    /// Starts reading the stream.
    ///
    /// - Parameters:
    ///   - request: The request with its stream.
    ///   - spool: The settings for storing the bytes.
    ///   - timeout: The longest silence of the stream, in seconds; the silence is noticed after at most twice that
    ///     time.
    ///   - schedule: Runs an action after a delay.
    ///   - completion: Called once, on any thread, with a request that can be sent more than once, or with an error;
    ///     not called after a cancel.
    /// - Returns: The spooling, which can be cancelled.
    static func start(
        _ request: URLRequest,
        _ spool: BodySpool,
        timeout: TimeInterval,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void,
        completion: @escaping @Sendable (Result<URLRequest, URLError>) -> Void
    ) -> Spooling {
        let spooling = Spooling(request.url, timeout, schedule, completion)
        spooling.watch(since: 0)
        Thread.detachNewThread {
            spooling.end(spooling.read(request, SpoolWriter(spool)))
        }
        return spooling
    }

    /// Stops the spooling; the completion is not called any more.
    func cancel() {
        // The completion is released outside of the lock.
        _ = state.withLock { $0.completion.take() }
    }

    private func end(_ result: Result<URLRequest, URLError>?) {
        guard let result else { return }
        state.withLock { $0.completion.take() }?(result)
    }

    /// Reads the stream to its end; nil when the spooling was cancelled or timed out.
    private func read(_ request: URLRequest, _ writer: SpoolWriter) -> Result<URLRequest, URLError>? {
        guard let stream = request.httpBodyStream else { return .success(request) }
        if stream.streamStatus == .notOpen { stream.open() }
        defer { stream.close() }
        var writer = writer
        var buffer = [UInt8](repeating: 0, count: Self.partSize)
        while state.withLock({ $0.completion != nil }) {
            let count = buffer.withUnsafeMutableBufferPointer { bytes in
                bytes.baseAddress.map { stream.read($0, maxLength: bytes.count) } ?? -1
            }
            guard count >= 0 else { return .failure(failure(of: stream)) }
            guard count > 0 else { return .success(writer.finish(request)) }
            state.withLock { $0.parts += 1 }
            do {
                try writer.append(Data(buffer[..<count]))
            } catch {
                let message = "the body stream of \(url?.shown ?? "a request") cannot be stored: \(error)"
                return .failure(URLError(.cannotCreateFile, failing: url, message, underlying: error))
            }
        }
        return nil
    }

    private func failure(of stream: InputStream) -> URLError {
        // Foundation ends the process when `streamError` is read of a stream that has no error.
        let cause = stream.streamStatus == .error ? stream.streamError : nil
        let reason = cause.map { "\($0)" } ?? "the stream was already read or closed"
        return URLError(
            .requestBodyStreamExhausted,
            failing: url,
            "the body stream of \(url?.shown ?? "a request") cannot be read, and nothing was sent: \(reason)",
            underlying: cause
        )
    }

    /// Ends the spooling with a time-out error when no part has arrived since `parts` was counted.
    private func watch(since parts: Int) {
        guard timeout > 0, timeout < Double(Int32.max) else { return }
        schedule(.seconds(timeout)) { [weak self] in
            guard let self, let (isWaiting, now) = state.withLock({ ($0.completion != nil, $0.parts) }) as (Bool, Int)?,
                isWaiting
            else { return }
            guard now == parts else { return watch(since: now) }
            let message = "the body stream gave no bytes for \(timeout) s, its request's time-out; nothing was sent"
            end(.failure(URLError(.timedOut, failing: url, message)))
        }
    }
}

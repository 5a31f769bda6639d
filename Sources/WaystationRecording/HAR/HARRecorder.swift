public import Foundation
import Synchronization
public import Waystation
public import WaystationStorage

/// Keeps what an interceptor answers, forwards and hands back, to be saved as HAR.
///
/// ```swift
/// let recorder = HARRecorder()
/// let interceptor = try Interceptor {
///     $0.rules = rules
///     $0.recorder = recorder
/// }
/// let session = URLSession(configuration: .default.intercepted(by: interceptor))
/// let (page, _) = try await session.data(from: url)
/// try recorder.write(to: file)
/// ```
///
/// Everything is in memory until then. Safe to use from any thread, by several interceptors at once.
public final class HARRecorder: ExchangeRecorder {
    private struct State {
        var exchanges: [RecordedExchange] = []
        var bytes = 0
    }

    /// What is left out of what is written.
    public let redaction: Redaction
    /// How many bytes of one body are kept.
    public let bodyLimit: Int
    private let totalLimit: Int
    private let state = Mutex(State())

    /// A recorder that has heard nothing yet.
    ///
    /// - Parameters:
    ///   - redaction: What is left out of what is written.
    ///   - maximumBodySize: How much is kept of one body; 32 MiB by default. What is less than the whole is marked so
    ///     in the HAR, and is not imported.
    ///   - maximumTotalSize: How much is kept of all bodies together; 512 MiB by default. Beyond it exchanges are kept
    ///     without their bodies, and marked so.
    public init(
        redaction: Redaction = .standard,
        maximumBodySize: ByteCount = .mebibytes(32),
        maximumTotalSize: ByteCount = .mebibytes(512)
    ) {
        self.redaction = redaction
        bodyLimit = maximumBodySize.bytes
        totalLimit = maximumTotalSize.bytes
    }

    /// Keeps an exchange.
    public func exchangeDidEnd(_ exchange: RecordedExchange) {
        var exchange = exchange
        state.withLock { state in
            let length = exchange.body?.count ?? 0
            if length > totalLimit - state.bytes {
                exchange.body = nil
            } else {
                state.bytes += length
            }
            state.exchanges.append(exchange)
        }
    }

    /// How many exchanges are kept.
    public var count: Int { state.withLock { $0.exchanges.count } }

    /// Forgets everything.
    public func removeAll() { state.withLock { $0 = State() } }

    /// What was heard so far, without secrets, in the order of its beginning.
    public func archive() -> HARArchive { HARArchive(entries: sorted.map { HARArchive.Entry($0, redaction) }) }

    /// Writes what was heard so far into a file, without secrets; see ``HARWriter``.
    ///
    /// - Throws: ``RecordingError`` when it cannot be written.
    public func write(to file: URL) throws(RecordingError) {
        let writer = try HARWriter(file)
        for exchange in sorted { try writer.append(HARArchive.Entry(exchange, redaction)) }
        try writer.finish()
    }

    private var sorted: [RecordedExchange] {
        state.withLock(\.exchanges).enumerated()
            .sorted { ($0.element.begun, $0.offset) < ($1.element.begun, $1.offset) }.map(\.element)
    }
}

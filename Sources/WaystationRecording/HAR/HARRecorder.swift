import Synchronization
public import Waystation
public import WaystationFoundation
public import WaystationStorage

/// Keeps the exchanges of an interceptor (those it answers, forwards or hands back), to save them as HAR.
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
/// Everything stays in memory until it is written. Any thread, and several interceptors at once, may use a recorder.
public final class HARRecorder: ExchangeRecorder {
    private struct State {
        var exchanges: [RecordedExchange] = []
        var bytes = 0
    }

    /// The secrets that are left out when writing.
    public let redaction: Redaction
    /// How many bytes of one body are kept.
    public let bodyLimit: Int
    private let totalLimit: Int
    private let state = Mutex(State())

    /// Makes an empty recorder.
    ///
    /// - Parameters:
    ///   - redaction: The secrets that are left out when writing.
    ///   - maximumBodySize: How much of one body is kept; 32 MiB by default. A body that is kept only in part is marked
    ///     so in the HAR, and is not imported.
    ///   - maximumTotalSize: How much of all bodies together is kept; 512 MiB by default. Beyond that, exchanges are
    ///     kept without their bodies, and are marked so.
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

    /// Removes all exchanges.
    public func removeAll() { state.withLock { $0 = State() } }

    /// The exchanges so far, without secrets, ordered by when they began.
    public func archive() -> HARArchive { HARArchive(entries: sorted.map { HARArchive.Entry($0, redaction) }) }

    /// The exchanges so far, in which the bodies of responses have no secrets either, to be passed on.
    package func shareableArchive() -> HARArchive {
        let entries = sorted.map { exchange in
            var exchange = exchange
            let type = exchange.response?.value(forHTTPHeaderField: "Content-Type") ?? ""
            exchange.body = exchange.body.map { redaction.responseBody($0, type: type) }
            return HARArchive.Entry(exchange, redaction)
        }
        return HARArchive(entries: entries)
    }

    /// Writes the exchanges so far to a file, without secrets; see ``HARWriter``.
    ///
    /// - Throws: ``RecordingError`` when the URL is not a file URL, or the file cannot be written.
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

#if NIO
import NIOCore

/// The streams of one HTTP/2 connection, as a state machine without side effects (RFC 9113).
///
/// The codec checks the rules for frames before the table gets them; the table knows the rules for exchanges.
struct StreamTable<Exchange> {
    /// The frames that open a stream.
    struct Start {
        var id: StreamID
        var exchange: Exchange
        /// Whether the head ends the stream.
        var isComplete: Bool
    }

    static var lastID: StreamID { .max }
    /// The windows before any SETTINGS (RFC 9113 §6.9.2).
    static var initialWindow: Int { 65_535 }
    /// The largest window (RFC 9113 §6.9.1).
    static var largestWindow: Int { Int(Int32.max) }

    let limits: HTTP2Limits
    var streams: [StreamID: HTTP2Stream<Exchange>] = [:]
    /// The streams with a body that is not complete, in the order in which they take turns.
    var uploads: [StreamID] = []
    var turn = 0
    /// The bytes that the server accepts on the connection.
    var connectionSendWindow = Self.initialWindow
    /// The server's SETTINGS_INITIAL_WINDOW_SIZE.
    var peerInitialWindow = Self.initialWindow
    /// The server's SETTINGS_MAX_HEADER_LIST_SIZE; nil if it named none.
    private(set) var peerHeadBytes: Int?
    /// The number of responses that have begun.
    var answers = 0
    /// The windows that this side announced; the server knows them when it has acknowledged them.
    var streamReceiveWindow = Self.initialWindow

    private var waiting: [StreamID] = []
    /// 100 until the first SETTINGS arrive, as RFC 9113 §6.5.2 recommends servers to allow at least.
    private var peerLimit = 100
    /// Whether the server has sent its first SETTINGS.
    private(set) var hasSettings = false
    /// Whether the channel takes bytes.
    var isWritable = true
    /// The streams whose windows are granted when the channel takes bytes again.
    var delayedGrants: Set<StreamID> = []
    /// The connection's window, if it is granted then.
    var delayedConnectionWindow: Int?
    private var openCount = 0
    private var nextID: StreamID?
    private(set) var isClosing = false

    /// - Parameters:
    ///   - limits: The limits of the connection.
    ///   - firstID: The number of the first stream.
    init(limits: HTTP2Limits, firstID: StreamID = 1) {
        self.limits = limits
        nextID = firstID
    }

    /// The number of further exchanges that the connection can take.
    var capacity: Int {
        guard !isClosing, nextID != nil else { return 0 }
        return max(0, min(peerLimit, limits.streams) - streams.count)
    }

    /// What the server did for others while it did not process a request that is lost with the connection.
    var progress: ExchangeFailure.Unprocessed { answers > 0 ? .connectionEnded : .nothingAnswered }

    /// Whether the connection is of no more use.
    var isDrained: Bool { streams.isEmpty && (isClosing || nextID == nil) }

    // MARK: Opening

    /// Adds an exchange; returns nil if the connection takes no more.
    ///
    /// It may wait for other streams to end.
    mutating func add(_ exchange: Exchange, _ head: EngineRequestHead) -> StreamID? {
        guard !isClosing, let id = nextID else { return nil }
        nextID = id > Self.lastID - 2 ? nil : id + 2
        streams[id] = HTTP2Stream(exchange, head)
        waiting.append(id)
        return id
    }

    /// The next stream that may be opened now.
    mutating func start() -> Start? {
        guard openCount < min(peerLimit, limits.streams), let id = waiting.first else { return nil }
        waiting.removeFirst()
        guard var stream = streams[id] else { return nil }
        stream.isOpen = true
        stream.sendWindow = peerInitialWindow
        stream.answersBefore = answers
        streams[id] = stream
        openCount += 1
        if !stream.hasSentAll { uploads.append(id) }
        return Start(id: id, exchange: stream.exchange, isComplete: stream.hasSentAll)
    }

    /// Removes a stream; returns true if the server knows it, so that RST_STREAM must be sent.
    mutating func cancel(_ id: StreamID) -> Bool { remove(id)?.isOpen ?? false }

    @discardableResult
    mutating func remove(_ id: StreamID) -> HTTP2Stream<Exchange>? {
        guard let stream = streams.removeValue(forKey: id) else { return nil }
        if stream.isOpen { openCount -= 1 } else { waiting.removeAll { $0 == id } }
        if !stream.hasSentAll { uploads.removeAll { $0 == id } }
        return stream
    }

    // MARK: The connection

    /// The server's settings (RFC 9113 §6.5.2); nil for those that it did not send.
    mutating func settings(maxConcurrentStreams: Int?, initialWindow: Int?, headBytes: Int? = nil) {
        if let headBytes { peerHeadBytes = headBytes }
        if let maxConcurrentStreams {
            peerLimit = max(0, maxConcurrentStreams)
        } else if !hasSettings {
            peerLimit = .max
        }
        hasSettings = true
        guard let initialWindow else { return }
        let change = initialWindow - peerInitialWindow
        peerInitialWindow = initialWindow
        for id in streams.keys where streams[id]?.isOpen == true { streams[id]?.sendWindow += change }
    }

    /// The server acknowledged the settings of this side.
    mutating func settingsAcknowledged() {
        let change = limits.streamWindow - streamReceiveWindow
        streamReceiveWindow = limits.streamWindow
        for id in streams.keys {
            if let window = streams[id]?.receiveWindow { streams[id]?.receiveWindow = window + change }
        }
    }

    /// No more exchanges are taken; those on the connection continue.
    mutating func closeWhenIdle() { isClosing = true }

    /// The server will process no stream above `last` (RFC 9113 §6.8).
    ///
    /// - Returns: The exchanges that it did not process, which may be sent again on another connection.
    mutating func goAway(last: StreamID) -> [(id: StreamID, exchange: Exchange)] {
        isClosing = true
        return removeAll { $0 > last || !$1.isOpen }
    }

    /// Ends everything: the connection is lost.
    ///
    /// - Returns: All exchanges, and whether their requests were sent.
    mutating func fail() -> [(exchange: Exchange, wasSent: Bool)] {
        isClosing = true
        let sent = Set(streams.filter(\.value.isOpen).keys)
        return removeAll { _, _ in true }.map { ($0.exchange, sent.contains($0.id)) }
    }

    private mutating func removeAll(
        _ isMeant: (StreamID, HTTP2Stream<Exchange>) -> Bool
    ) -> [(id: StreamID, exchange: Exchange)] {
        let ids = streams.filter { isMeant($0.key, $0.value) }.keys.sorted()
        return ids.compactMap { id in remove(id).map { (id, $0.exchange) } }
    }
}
#endif

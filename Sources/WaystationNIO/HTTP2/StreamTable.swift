#if NIO
import NIOCore
import NIOHPACK

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
    private static var largestWindow: Int { Int(Int32.max) }

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

extension StreamTable {
    /// The next step of sending bodies.
    enum SendStep {
        case write(StreamID, ByteBuffer, isLast: Bool)
        /// The exchange is asked for the next part of its body.
        case ask(Exchange)
    }

    /// A part of a body; it waits for window.
    ///
    /// Parts that were not asked for are added to those that wait.
    mutating func give(_ part: ByteBuffer, isLast: Bool, to id: StreamID) {
        guard var stream = streams[id], !stream.hasSentAll, !stream.unsentIsLast else { return }
        streams[id] = nil
        stream.isAsked = false
        if stream.unsent.readableBytes == 0 {
            stream.unsent = part
        } else {
            stream.unsent.writeImmutableBuffer(part)
        }
        stream.unsentIsLast = isLast
        streams[id] = stream
    }

    /// The server accepts more bytes on a stream, or on the connection if `id` is 0.
    ///
    /// The codec checks the increments of the connection, and of streams on which a body is being sent. Those of the other
    /// streams mean nothing, but a wrong one is an error as well (RFC 9113 §6.9 and §6.9.1).
    @discardableResult
    mutating func sendWindow(growsBy increment: Int, on id: StreamID) -> StreamNews<Exchange>? {
        guard id != 0 else {
            connectionSendWindow = connectionSendWindow.addingReportingOverflow(increment).partialValue
            return nil
        }
        guard let window = streams[id]?.sendWindow else { return nil }
        guard increment > 0 else { return broken(id, .malformed("The server sent a WINDOW_UPDATE of 0.")) }
        guard window + increment <= Self.largestWindow else {
            return broken(id, .malformed("The server granted more than 2^31 - 1 bytes of window."), .flowControlError)
        }
        streams[id]?.sendWindow = window + increment
        return nil
    }

    /// Bytes of a body were not sent after all, because their stream ended while the codec held them back: other bodies
    /// may use their part of the connection's window.
    mutating func giveBack(_ count: Int) { connectionSendWindow += count }

    /// Returns the next step of an upload that the windows allow; nil if they allow none.
    ///
    /// Uploads take turns.
    /// - Parameter maximum: The largest number of bytes of one step.
    /// - Returns: The step.
    mutating func nextSendStep(maximum: Int) -> SendStep? {
        for _ in uploads.indices {
            turn = turn < uploads.count - 1 ? turn + 1 : 0
            if let step = sendStep(uploads[turn], maximum) { return step }
        }
        return nil
    }

    private mutating func sendStep(_ id: StreamID, _ maximum: Int) -> SendStep? {
        guard let stream = streams[id] else { return nil }
        let window = min(stream.sendWindow, connectionSendWindow)
        guard stream.hasUnsent else {
            guard !stream.isAsked, window > 0 else { return nil }
            streams[id]?.isAsked = true
            return .ask(stream.exchange)
        }
        // A last part without bytes needs no window (RFC 9113 §6.9.1).
        let count = max(0, min(window, maximum, stream.unsent.readableBytes))
        guard count > 0 || stream.unsent.readableBytes == 0 else { return nil }
        return write(id, count)
    }

    private mutating func write(_ id: StreamID, _ count: Int) -> SendStep? {
        guard var stream = streams[id], let bytes = stream.unsent.readSlice(length: count) else { return nil }
        let isLast = stream.unsentIsLast && stream.unsent.readableBytes == 0
        if stream.unsent.readableBytes == 0 { stream.unsent = ByteBuffer() }
        stream.sendWindow -= count
        connectionSendWindow -= count
        stream.hasSentAll = isLast
        streams[id] = stream
        if isLast { uploads.removeAll { $0 == id } }
        return .write(id, bytes, isLast: isLast)
    }
}

extension StreamTable {
    /// HEADERS arrived.
    mutating func receive(_ headers: HPACKHeaders, isLast: Bool, on id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = streams[id] else { return nil }
        guard !stream.hasHead else {
            // Trailers are dropped, as libcurl does unless it is asked for them.
            guard isLast else { return broken(id, .malformed("The response has trailers that do not end its stream.")) }
            return complete(id)
        }
        switch ResponseHeadCheck.read(headers, maximumFields: limits.fields) {
        case .failure(let failure): return broken(id, failure)
        case .success(let head) where head.status < 200: return interim(head, isLast, id, stream)
        case .success(let head): return final(head, isLast, id, stream)
        }
    }

    private mutating func interim(
        _ head: EngineResponseHead,
        _ isLast: Bool,
        _ id: StreamID,
        _ stream: HTTP2Stream<Exchange>
    ) -> StreamNews<Exchange>? {
        guard !isLast else {
            return broken(id, .malformed("The server ended the response with the interim \(head.status)."))
        }
        // RFC 9113 §8.6: HTTP/2 has no upgrades.
        guard head.status != 101 else {
            return broken(id, .malformed("The server sent 101, which HTTP/2 does not know."))
        }
        guard stream.interims < limits.interimResponses else {
            return broken(
                id,
                ExchangeFailure(
                    kind: .limitExceeded,
                    explanation: """
                        The server sent more than \(limits.interimResponses) interim responses (1xx). Raise the limit \
                        if the server can be trusted.
                        """
                )
            )
        }
        streams[id]?.interims += 1
        return nil
    }

    private mutating func final(
        _ head: EngineResponseHead,
        _ isLast: Bool,
        _ id: StreamID,
        _ stream: HTTP2Stream<Exchange>
    ) -> StreamNews<Exchange>? {
        switch ResponseHeadCheck.contentLength(head.fields) {
        case .failure(let failure): return broken(id, failure)
        case .success(let length):
            // RFC 9110 §6.4.1: these responses have no content, whatever length they announce.
            let hasNoContent = stream.isHeadRequest || head.status == 204 || head.status == 304
            streams[id]?.missing = hasNoContent ? 0 : length
        }
        streams[id]?.hasHead = true
        answers += 1
        var news = StreamNews(exchange: stream.exchange, head: head)
        if isLast { news.end = complete(id)?.end }
        return news
    }

    /// DATA arrived; `count` is the number of its bytes without padding.
    mutating func receive(_ count: Int, isLast: Bool, on id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = streams[id] else { return nil }
        guard stream.hasHead else { return broken(id, .malformed("The response has a body before its head.")) }
        if let missing = stream.missing {
            guard count <= missing else {
                return broken(id, .malformed("The body of the response is longer than its Content-Length."))
            }
            streams[id]?.missing = missing - Int64(count)
        }
        guard isLast else {
            return count > 0 ? StreamNews(exchange: stream.exchange, deliversPart: true) : nil
        }
        var news = complete(id)
        news?.deliversPart = count > 0
        return news
    }

    /// RST_STREAM arrived.
    mutating func receiveReset(_ failure: ExchangeFailure, on id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = remove(id) else { return nil }
        var failure = failure
        let own = stream.hasHead ? 1 : 0
        if failure.unprocessed == .nothingAnswered, answers - own > stream.answersBefore {
            failure.unprocessed = .othersAnswered
        }
        return StreamNews(exchange: stream.exchange, end: .init(failure: failure))
    }

    /// The codec found a stream broken and has reset it.
    mutating func closedByCodec(_ id: StreamID, _ failure: ExchangeFailure) -> StreamNews<Exchange>? {
        receiveReset(failure, on: id)
    }

    // MARK: Windows

    /// The exchange cannot take more: no window is granted until `release`, so one window at most waits.
    mutating func hold(_ id: StreamID) { streams[id]?.isHeld = true }

    /// The exchange can take more; returns the window to grant.
    mutating func release(_ id: StreamID) -> Int? {
        streams[id]?.isHeld = false
        guard let window = streams[id]?.receiveWindow else { return nil }
        return grant(window, id)
    }

    /// The bytes that the server may still send on a stream; returns the window to grant.
    mutating func receiveWindow(is window: Int, on id: StreamID) -> Int? {
        streams[id]?.receiveWindow = window
        return grant(window, id)
    }

    /// The bytes that the server may still send on the connection; returns the window to grant.
    ///
    /// It is granted whether or not exchanges take their bytes, so that a slow one does not stop the others.
    mutating func connectionWindow(is window: Int) -> Int? {
        guard window <= limits.connectionWindow / 2 else { return nil }
        guard isWritable else {
            delayedConnectionWindow = window
            return nil
        }
        return limits.connectionWindow - window
    }

    /// The channel takes bytes again, or takes none.
    ///
    /// No window is granted while it takes none. The codec would keep the frame, and would report the old window with each
    /// further part of a body, so that windows would be granted again and again.
    ///
    /// - Returns: The windows to grant now.
    mutating func writable(_ isWritable: Bool) -> [(id: StreamID, increment: Int)] {
        self.isWritable = isWritable
        guard isWritable else { return [] }
        let (ids, connection) = (delayedGrants.sorted(), delayedConnectionWindow)
        delayedGrants = []
        delayedConnectionWindow = nil
        var grants: [(id: StreamID, increment: Int)] = []
        if let window = connection, let increment = connectionWindow(is: window) { grants.append((0, increment)) }
        for id in ids {
            guard let window = streams[id]?.receiveWindow, let increment = grant(window, id) else { continue }
            grants.append((id, increment))
        }
        return grants
    }

    private mutating func grant(_ window: Int, _ id: StreamID) -> Int? {
        guard let stream = streams[id], !stream.isHeld, window <= streamReceiveWindow / 2 else { return nil }
        guard isWritable else {
            delayedGrants.insert(id)
            return nil
        }
        streams[id]?.receiveWindow = streamReceiveWindow
        return streamReceiveWindow - window
    }

    // MARK: Ends

    /// The response is complete.
    ///
    /// An incomplete request is of no more use to the server (RFC 9113 §8.1).
    private mutating func complete(_ id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = remove(id) else { return nil }
        var end = StreamNews<Exchange>.End(reset: stream.hasSentAll ? nil : .cancel)
        if let missing = stream.missing, missing > 0 {
            end.failure = .malformed("The body of the response is \(missing) bytes shorter than its Content-Length.")
        }
        return StreamNews(exchange: stream.exchange, end: end)
    }

    mutating func broken(
        _ id: StreamID,
        _ failure: ExchangeFailure,
        _ code: StreamNews<Exchange>.ResetCode = .protocolError
    ) -> StreamNews<Exchange>? {
        guard let stream = remove(id) else { return nil }
        return StreamNews(exchange: stream.exchange, end: .init(failure: failure, reset: code))
    }
}
#endif

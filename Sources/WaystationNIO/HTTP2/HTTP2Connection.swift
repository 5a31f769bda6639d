#if NIO
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One HTTP/2 connection: it carries out what its stream table decides.
///
/// It is confined to its event loop.
///
/// The codec hands over frames; there is no channel for each stream, which would cost more than the rest of a load.
final class HTTP2Connection: ChannelInboundHandler, ExchangeConnection {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// The largest number of bytes of a body that are written at once.
    static let writeSize = 64 << 10
    /// The number of steps of uploads in one turn of the loop, so that no upload keeps it for long.
    private static let stepsPerTurn = 16

    weak var owner: (any ConnectionOwner)?
    var table: StreamTable<any ConnectionExchange>
    var watch: QuietWatch
    var context: ChannelHandlerContext?
    var timer: Scheduled<Void>?
    /// Streams that the codec closed because of an error, which it reports afterwards.
    var closedByCodec: [StreamID] = []
    var lastError: (any Error)?
    var isClosed = false
    let goAway: GoAwayObserver
    /// Whether requests that are lost with this connection may be sent again over HTTP/1.1.
    var suggestsRetry = false
    let heads: HeadWriter
    /// Whether the codec is being given a frame or told to send: an error that it reports meanwhile is not the server's.
    private(set) var isWriting = false

    private var identities: [ObjectIdentifier: StreamID] = [:]
    private var reportedCapacity: Int?
    private(set) var isReading = false
    private var isPumping = false
    /// Whether the present turn of the loop has read no frame but PINGs.
    var hasReadOnlyPings = true
    private var needsFlush = false

    init(
        owner: any ConnectionOwner,
        limits: HTTP2Limits,
        goAway: GoAwayObserver,
        heads: HeadWriter,
        now: NIODeadline
    ) {
        self.owner = owner
        self.goAway = goAway
        self.heads = heads
        table = StreamTable(limits: limits)
        watch = QuietWatch(limits: limits, now: now)
    }

    // MARK: ExchangeConnection

    func begin(_ exchange: any ConnectionExchange) {
        guard !isClosed, let context, let id = table.add(exchange, exchange.requestHead) else {
            return exchange.end(
                .unprocessed(
                    .connectionEnded,
                    "The HTTP/2 connection takes no more requests. Send the request on another connection."
                )
            )
        }
        identities[ObjectIdentifier(exchange)] = id
        // The owner has counted this exchange itself, as it does for HTTP/1.1.
        reportedCapacity = table.capacity
        if timer == nil {
            watch.heard(now: context.eventLoop.now)
            checkQuiet()
        }
        if !isReading { openStreams() }
    }

    func cancel(_ exchange: any ConnectionExchange) {
        guard let id = forget(exchange) else { return }
        if table.cancel(id) { write(.rstStream(.cancel), on: id) }
        streamDidEnd()
    }

    func resume(_ exchange: any ConnectionExchange) {
        guard let id = identities[ObjectIdentifier(exchange)], let window = table.release(id) else { return }
        write(.windowUpdate(windowSizeIncrement: window), on: id)
    }

    func send(_ part: ByteBuffer, isLast: Bool, of exchange: any ConnectionExchange) {
        guard let id = identities[ObjectIdentifier(exchange)] else { return }
        table.give(part, isLast: isLast, to: id)
        pump()
    }

    func closeWhenIdle() {
        table.closeWhenIdle()
        streamDidEnd()
    }

    // MARK: Streams

    /// Sends the requests that wait.
    private func openStreams() {
        while !isClosed, let context, context.channel.isWritable, let start = table.start() {
            switch RequestFields.make(start.exchange.requestHead) {
            case .failure(let invalid): end(start.id, start.exchange, .init(failure: invalid.failure))
            case .success(let headers):
                if let failure = RequestFields.excess(of: headers, over: table.peerHeadBytes) {
                    end(start.id, start.exchange, .init(failure: failure))
                } else {
                    open(start, headers, context)
                }
            }
        }
        pump()
    }

    private func open(
        _ start: StreamTable<any ConnectionExchange>.Start,
        _ headers: HPACKHeaders,
        _ context: ChannelHandlerContext
    ) {
        let written = context.eventLoop.makePromise(of: Void.self)
        heads.framer.add(headers, on: start.id)
        write(.headers(.init(headers: HeadFramer.standIn, endStream: start.isComplete)), on: start.id, written)
        written.futureResult.assumeIsolated().whenFailure { error in
            self.heads.framer.drop(start.id)
            guard !self.isClosed else { return }
            // The codec dropped a head that it had held back. Any other error may have left the codec half changed.
            guard error is NIOHTTP2Errors.StreamClosed else {
                return self.close(.internalError, ExchangeFailure(connectionError: error))
            }
            let failure = ExchangeFailure.unprocessed(
                .connectionEnded,
                "The HTTP/2 stream was closed before the request was sent. Try again."
            )
            self.handle(self.table.closedByCodec(start.id, failure), on: start.id)
        }
    }

    /// Delivers what a frame means for an exchange.
    func handle(_ news: StreamNews<any ConnectionExchange>?, on id: StreamID, part: ByteBuffer? = nil) {
        guard let news else { return }
        if let head = news.head { news.exchange.take(head) }
        if news.deliversPart, let part, isCarrying(news.exchange, on: id), !news.exchange.take(part) { table.hold(id) }
        if let end = news.end { self.end(id, news.exchange, end) }
    }

    private func end(
        _ id: StreamID,
        _ exchange: any ConnectionExchange,
        _ end: StreamNews<any ConnectionExchange>.End
    ) {
        table.remove(id)
        switch end.reset {
        case .cancel: write(.rstStream(.cancel), on: id)
        case .protocolError: write(.rstStream(.protocolError), on: id)
        case .flowControlError: write(.rstStream(.flowControlError), on: id)
        case nil: break
        }
        // An exchange that was cancelled while it took its last part gets no end.
        guard isCarrying(exchange, on: id) else { return streamDidEnd() }
        forget(exchange)
        exchange.end(end.failure)
        streamDidEnd()
    }

    private func isCarrying(_ exchange: any ConnectionExchange, on id: StreamID) -> Bool {
        identities[ObjectIdentifier(exchange)] == id
    }

    @discardableResult
    func forget(_ exchange: any ConnectionExchange) -> StreamID? {
        identities.removeValue(forKey: ObjectIdentifier(exchange))
    }

    /// Lets waiting requests take the place of a stream that ended, and closes a connection of no more use.
    func streamDidEnd() {
        if table.isDrained { return close(.noError, .closed) }
        if !isReading { openStreams() }
        reportCapacity()
    }

    func reportCapacity() {
        let capacity = isClosed ? 0 : table.capacity
        guard capacity != reportedCapacity else { return }
        reportedCapacity = capacity
        owner?.connection(self, canTake: capacity)
    }

    // MARK: Bodies

    /// Sends bodies within the windows while the channel can take them.
    func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        var rest = Self.stepsPerTurn
        while !isClosed, let context, context.channel.isWritable {
            guard rest > 0 else { return context.eventLoop.assumeIsolated().execute { self.pump() } }
            guard let step = table.nextSendStep(maximum: Self.writeSize) else { return }
            rest -= 1
            switch step {
            case .ask(let exchange): exchange.needsBody()
            case .write(let id, let bytes, let isLast):
                send(bytes, isLast: isLast, on: id, context)
                // Only after a flush the channel reports whether it can take more.
                flush()
            }
        }
    }

    /// Writes DATA in frames that the codec sends whole or, when their stream ends before, not at all.
    private func send(_ bytes: ByteBuffer, isLast: Bool, on id: StreamID, _ context: ChannelHandlerContext) {
        var rest = bytes
        repeat {
            let count = min(rest.readableBytes, HeadFramer.smallestFrame)
            guard let part = rest.readSlice(length: count) else { return }
            let written = context.eventLoop.makePromise(of: Void.self)
            write(.data(.init(data: .byteBuffer(part), endStream: isLast && rest.readableBytes == 0)), on: id, written)
            written.futureResult.assumeIsolated().whenFailure { _ in self.table.giveBack(count) }
        } while rest.readableBytes > 0
    }

    // MARK: Writing

    func write(_ payload: HTTP2Frame.FramePayload, on id: StreamID, _ promise: EventLoopPromise<Void>? = nil) {
        guard let context, !isClosed else { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
        let frame = HTTP2Frame(streamID: HTTP2StreamID(Int(max(0, id))), payload: payload)
        writing { context.write(wrapOutboundOut(frame), promise: promise) }
        guard !needsFlush else { return }
        needsFlush = true
        guard !isReading else { return }
        context.eventLoop.assumeIsolated().execute { self.flush() }
    }

    private func flush() {
        guard needsFlush else { return }
        needsFlush = false
        writing { context?.flush() }
    }

    private func writing(_ body: () -> Void) {
        let wasWriting = isWriting
        isWriting = true
        defer { isWriting = wasWriting }
        body()
    }

    // MARK: Turns of the loop

    func beginReading() { isReading = true }

    /// Ends a turn: sends what waits, and reports the capacity.
    func finishTurn() {
        isReading = false
        openStreams()
        flush()
        reportCapacity()
    }

    /// Ends all exchanges and closes the channel.
    func close(_ code: HTTP2ErrorCode, _ failure: ExchangeFailure) {
        guard !isClosed else { return }
        if !goAway.hasSeenOne {
            write(.goAway(lastStreamID: .rootStream, errorCode: code, opaqueData: nil), on: 0)
        }
        context?.flush()
        isClosed = true
        timer?.cancel()
        timer = nil
        let ended = table.fail()
        for (exchange, _) in ended { forget(exchange) }
        reportCapacity()
        for (exchange, wasSent) in ended {
            var failure = failure
            if suggestsRetry { failure.suggestsRetry = true }
            if !wasSent { failure.unprocessed = table.progress }
            exchange.end(failure)
        }
        context?.close(promise: nil)
    }
}

/// Notices that the codec has sent GOAWAY: then the error that it reports ends the connection, not just a stream.
final class GoAwayObserver: NIOHTTP2FrameDelegate {
    private(set) var hasSeenOne = false

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway = frame.payload { hasSeenOne = true }
    }
}

/// Decides when a quiet connection is probed by a PING (RFC 9113 §6.7), and when it counts as lost.
///
/// While a server sends nothing but its answers to PINGs, each PING comes after twice the time of the one before: servers
/// that count PINGs close a connection that sends them every few seconds, though a response may take minutes.
///
/// While the server's system takes the bytes of an upload, the connection is alive, and a PING would wait behind them.
struct QuietWatch {
    enum Check: Equatable {
        /// Check again then.
        case wait(until: NIODeadline)
        /// Send a PING, and check again then.
        case ping(until: NIODeadline)
        /// The PING was not answered.
        case lost
        /// No exchange waits for a response, so nothing needs to be checked.
        case rest
    }

    private let limits: HTTP2Limits
    private var lastHeard: NIODeadline
    private var pingSent: NIODeadline?
    private var pingAfter: TimeAmount

    init(limits: HTTP2Limits, now: NIODeadline) {
        self.limits = limits
        lastHeard = now
        pingAfter = limits.pingAfter
    }

    /// The server sent something, or an exchange began on a connection that had none.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - isPingAnswer: Whether the server sent answers to PINGs and nothing else.
    mutating func heard(now: NIODeadline, isPingAnswer: Bool = false) {
        lastHeard = now
        if !isPingAnswer {
            pingAfter = limits.pingAfter
        } else if pingSent != nil {
            pingAfter = min(pingAfter * 2, max(limits.pingAfter, limits.longestPingAfter))
        }
        pingSent = nil
    }

    /// Decides what to do now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - hasStreams: Whether exchanges wait for responses.
    ///   - isSending: Whether the server's system takes bytes; it is asked only when nothing was heard for a while.
    /// - Returns: The decision.
    mutating func check(now: NIODeadline, hasStreams: Bool, isSending: @autoclosure () -> Bool = false) -> Check {
        guard hasStreams else {
            pingSent = nil
            return .rest
        }
        if let pingSent {
            let end = pingSent + limits.pingTimeout
            guard now >= end else { return .wait(until: end) }
            guard isSending() else { return .lost }
            self.pingSent = now
            return .wait(until: now + limits.pingTimeout)
        }
        let due = lastHeard + pingAfter
        guard now >= due else { return .wait(until: due) }
        guard !isSending() else {
            lastHeard = now
            return .wait(until: now + pingAfter)
        }
        pingSent = now
        return .ping(until: now + limits.pingTimeout)
    }
}

/// The number of a stream: odd, because the client opened it (RFC 9113 §5.1.1).
typealias StreamID = Int32

/// One exchange on an HTTP/2 connection.
struct HTTP2Stream<Exchange> {
    let exchange: Exchange
    let isHeadRequest: Bool
    /// Whether the request has been sent; before, it waits for the channel or for another stream to end.
    var isOpen = false

    // MARK: The request

    /// Whether the request is complete.
    var hasSentAll: Bool
    /// The bytes that the server accepts now; negative after it reduced its initial window (RFC 9113 §6.9.2).
    var sendWindow = 0
    /// The number of responses that had begun on the connection when the request was sent.
    var answersBefore = 0
    /// A part of the body that is waiting for window.
    var unsent = ByteBuffer()
    var unsentIsLast = false
    /// Whether the exchange was asked for a part and has not given it.
    var isAsked = false

    /// Whether bytes, or an empty last part, are waiting.
    var hasUnsent: Bool { unsent.readableBytes > 0 || unsentIsLast }

    // MARK: The response

    var interims = 0
    var hasHead = false
    /// The bytes that are missing according to Content-Length.
    var missing: Int64?
    /// Whether the exchange cannot take more for now, so that no window is granted.
    var isHeld = false
    /// The bytes that the server may send now.
    var receiveWindow: Int?

    init(_ exchange: Exchange, _ head: EngineRequestHead) {
        self.exchange = exchange
        isHeadRequest = head.method == "HEAD"
        switch head.framing {
        case .none, .length(0): hasSentAll = true
        case .length, .unknownLength: hasSentAll = false
        }
    }
}

/// The deliveries that a frame leads to: the head or the part first, then the end.
struct StreamNews<Exchange> {
    /// The end of an exchange.
    struct End: Equatable {
        /// Nil if the response is complete.
        var failure: ExchangeFailure?
        /// The code with which the stream is reset, because the server may still send or still expects the body.
        var reset: ResetCode?
    }

    /// The codes with which the client resets streams (RFC 9113 §7).
    enum ResetCode: Equatable {
        /// The rest of the exchange is not needed.
        case cancel
        /// The server broke the rules.
        case protocolError
        /// The server granted more window than there can be.
        case flowControlError
    }

    var exchange: Exchange
    var head: EngineResponseHead?
    var deliversPart = false
    var end: End?
}
#endif

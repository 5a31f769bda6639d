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
    static let stepsPerTurn = 16

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
#endif

#if NIO
import NIOCore
import NIOHTTP2

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension HTTP2Connection {
    /// Makes a connection on a channel that is connected, whose TLS handshake, if any, is complete, and that has no
    /// other handlers for HTTP.
    ///
    /// It must be called on the channel's event loop.
    ///
    /// Requests may be sent at once. The owner gets the first report of the capacity before this method returns.
    ///
    /// - Parameters:
    ///   - channel: The channel. It may read by itself or not.
    ///   - owner: The owner, which is not retained.
    ///   - limits: The limits of the connection.
    /// - Returns: The connection; the channel keeps it alive until it is closed.
    /// - Throws: `ChannelError.ioOnClosedChannel` if the channel is closed already.
    static func make(
        channel: any Channel,
        owner: any ConnectionOwner,
        limits: HTTP2Limits
    ) throws -> HTTP2Connection {
        let observer = GoAwayObserver()
        let heads = HeadWriter()
        let connection = HTTP2Connection(
            owner: owner,
            limits: limits,
            goAway: observer,
            heads: heads,
            now: channel.eventLoop.now
        )
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(FloodGuard(limits: limits))
        try pipeline.addHandler(heads)
        try pipeline.addHandler(NIOHTTP2Handler(limits: limits, observer: observer))
        try pipeline.addHandler(connection)
        guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
        connection.start()
        return connection
    }

    private func start() {
        if let increment = table.connectionWindow(is: StreamTable<any ConnectionExchange>.initialWindow) {
            write(.windowUpdate(windowSizeIncrement: increment), on: 0)
        }
        finishTurn()
        context?.read()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosed else { return }
        beginReading()
        let frame = unwrapInboundIn(data)
        let id = StreamID(frame.streamID)
        if case .ping = frame.payload {} else { hasReadOnlyPings = false }
        switch frame.payload {
        case .data(let data):
            guard case .byteBuffer(let bytes) = data.data else { return }
            handle(table.receive(bytes.readableBytes, isLast: data.endStream, on: id), on: id, part: bytes)
        case .headers(let headers): handle(table.receive(headers.headers, isLast: headers.endStream, on: id), on: id)
        case .rstStream(let code): handle(table.receiveReset(.reset(code), on: id), on: id)
        case .settings(.settings(let settings)): receive(settings)
        case .settings(.ack): table.settingsAcknowledged()
        case .goAway(let last, let code, _): receiveGoAway(StreamID(last), code)
        case .windowUpdate(let increment): handle(table.sendWindow(growsBy: increment, on: id), on: id)
        // The codec answers PINGs, and refuses PUSH_PROMISE because it is disabled; the others have no meaning here.
        case .ping, .pushPromise, .priority, .alternativeService, .origin: break
        }
    }

    private func receive(_ settings: HTTP2Settings) {
        var streams: Int?
        var window: Int?
        var headBytes: Int?
        for setting in settings {
            switch setting.parameter {
            case .maxConcurrentStreams: streams = setting.value
            case .initialWindowSize: window = setting.value
            case .maxHeaderListSize: headBytes = setting.value
            case .maxFrameSize: heads.framer.frameSize(is: setting.value)
            case .headerTableSize:
                do {
                    try heads.framer.tableSize(is: setting.value)
                } catch {
                    return close(.internalError, ExchangeFailure(connectionError: error))
                }
            // RFC 9113 §6.5.2: only a client may allow pushes.
            case .enablePush where setting.value != 0:
                return fail(.protocolError, .malformed("The server allowed pushes, which only a client may do."))
            default: break
            }
        }
        table.settings(maxConcurrentStreams: streams, initialWindow: window, headBytes: headBytes)
    }

    private func receiveGoAway(_ last: StreamID, _ code: HTTP2ErrorCode) {
        let refused = table.goAway(last: last)
        reportCapacity()
        // The streams up to `last` may still be answered; a request that is lost with the connection goes to another one.
        if code == .http11Required { suggestsRetry = owner?.connectionRequiresHTTP1(self) == true }
        owner?.connectionTakesNoMore(self)
        for (_, exchange) in refused {
            forget(exchange)
            var failure = ExchangeFailure.unprocessed(
                table.progress,
                "The server closes the HTTP/2 connection and did not process the request. Try again."
            )
            failure.requiresHTTP1 = code == .http11Required
            exchange.end(failure)
        }
        streamDidEnd()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard !isClosed else { return }
        watch.heard(now: context.eventLoop.now, isPingAnswer: hasReadOnlyPings)
        hasReadOnlyPings = true
        endBrokenStreams()
        finishTurn()
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard !isClosed else { return }
        for grant in table.writable(context.channel.isWritable) {
            write(.windowUpdate(windowSizeIncrement: grant.increment), on: grant.id)
        }
        guard context.channel.isWritable else { return }
        endBrokenStreams()
        if !isReading { finishTurn() }
    }

    // MARK: Events and errors

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2WindowUpdatedEvent: receive(event)
        case let event as StreamClosedEvent:
            let id = StreamID(event.streamID)
            // The table knows a stream that ended in order no more.
            if event.reason != nil, table.streams[id] != nil { closedByCodec.append(id) }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// The codec reports the windows after each frame, and so includes padding and DATA on streams that are closed.
    private func receive(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard !isClosed, let window = event.inboundWindowSize else { return }
        let id = StreamID(event.streamID)
        let increment = id == 0 ? table.connectionWindow(is: window) : table.receiveWindow(is: window, on: id)
        if let increment { write(.windowUpdate(windowSizeIncrement: increment), on: id) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as NIOHTTP2Errors.StreamError:
            lastError = error.baseError
            let id = StreamID(error.streamID)
            handle(table.closedByCodec(id, ExchangeFailure(connectionError: error.baseError)), on: id)
        case is any NIOHTTP2Error where !goAway.hasSeenOne && !isWriting:
            // The error of a stream, which the codec resets.
            lastError = error
            endBrokenStreams()
        case is HTTP2Flood: close(.enhanceYourCalm, ExchangeFailure(connectionError: error))
        default:
            // A frame on a stream that is closed, or was never opened, belongs to no exchange that waits.
            let belongsToNone = error is NIOHTTP2Errors.NoSuchStream
            fail(.internalError, ExchangeFailure(connectionError: error), belongsToNone: belongsToNone)
        }
    }

    /// Ends a connection on which the server broke a rule.
    ///
    /// The frame that did it belongs to one exchange at most. The others may be repeated, unless the server has broken the
    /// rules from the start.
    private func fail(_ code: HTTP2ErrorCode, _ failure: ExchangeFailure, belongsToNone: Bool = false) {
        var failure = failure
        failure.suggestsRetry =
            failure.kind == .invalidResponse && table.hasSettings && (belongsToNone || table.streams.count > 1)
        close(code, failure)
    }

    /// Ends the exchanges whose streams the codec has reset.
    private func endBrokenStreams() {
        let ids = closedByCodec
        closedByCodec = []
        for id in ids {
            let failure =
                lastError.map { ExchangeFailure(connectionError: $0) }
                ?? .malformed("The response broke the rules of HTTP/2.")
            handle(table.closedByCodec(id, failure), on: id)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        close(.noError, .closed)
        owner?.connectionDidClose(self)
    }

    // MARK: Quiet connections

    /// Probes a connection on which nothing arrives while exchanges wait.
    func checkQuiet() {
        timer = nil
        guard !isClosed, let context else { return }
        let check = watch.check(
            now: context.eventLoop.now,
            hasStreams: !table.streams.isEmpty,
            isSending: Acknowledgements(of: context.channel)?.areArriving(within: table.limits.pingTimeout) == true
        )
        switch check {
        case .rest: return
        case .lost: close(.noError, .silent)
        case .wait(let end): schedule(end, context)
        case .ping(let end):
            write(.ping(HTTP2PingData(withInteger: 0), ack: false), on: 0)
            schedule(end, context)
        }
    }

    private func schedule(_ end: NIODeadline, _ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { self.checkQuiet() }
    }
}

extension NIOHTTP2Handler {
    fileprivate convenience init(limits: HTTP2Limits, observer: GoAwayObserver) {
        var connection = ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: limits.streamWindow),
            HTTP2Setting(parameter: .maxHeaderListSize, value: limits.headBytes),
        ]
        // The table checks lengths itself, so that it can say what was wrong.
        connection.contentLengthValidation = .disabled
        connection.maximumSequentialContinuationFrames = limits.continuationFrames
        // The codec counts empty DATA over the whole life of a stream; the flood guard counts them by time.
        connection.maximumSequentialEmptyDataFrames = .max
        connection.maximumBufferedControlFrames = 1000
        // Frames may arrive on streams that were cancelled; when the codec has forgotten one, they end the connection.
        connection.maximumRecentlyResetStreams = 1000
        connection.controlFrameRateLimit.maximumCount = 2000
        connection.controlFrameRateLimit.windowLength = limits.floodInterval
        var stream = StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 1000
        stream.streamResetFrameRateLimit.windowLength = limits.floodInterval
        self.init(
            mode: .client,
            frameDelegate: observer,
            connectionConfiguration: connection,
            streamConfiguration: stream
        )
    }
}

/// The acknowledgements of the bytes that a connection has sent, as the system counts them (RFC 9293 §3.4).
///
/// An upload over a slow line has megabytes in the buffer of its socket. A PING is behind them, so its answer may take
/// minutes, but the server's system acknowledges the bytes all the time.
struct Acknowledgements: Equatable {
    /// The number of segments that were sent and have not been acknowledged.
    var missing: UInt32
    /// The time since the last acknowledgement.
    var age: TimeAmount

    /// Whether bytes are on their way, and some have arrived within a time.
    func areArriving(within time: TimeAmount) -> Bool { missing > 0 && age < time }
}

extension Acknowledgements {
    /// Asks the system about a channel's connection; nil if the system reports nothing.
    ///
    /// It must be called on the channel's event loop.
    init?(of channel: any Channel) {
        var answer: Acknowledgements?
        #if os(Linux)
        // On the event loop, the future is complete when the method returns.
        (channel as? any SocketOptionProvider)?.getTCPInfo().assumeIsolated().whenSuccess { info in
            answer = Acknowledgements(
                missing: info.tcpi_unacked,
                age: .milliseconds(Int64(info.tcpi_last_ack_recv))
            )
        }
        #endif
        guard let answer else { return nil }
        self = answer
    }
}
#endif

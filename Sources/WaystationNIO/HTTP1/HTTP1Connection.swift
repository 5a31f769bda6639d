#if NIO
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection: it carries out what its state machine decides.
///
/// It is confined to its event loop.
final class HTTP1Connection: ChannelInboundHandler, ExchangeConnection {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The number of body parts that are written in one turn of the loop, so that no upload keeps it for long.
    private static let partsPerTurn = 16

    private let owner: any ConnectionOwner
    private let meter: ResponseMeter
    private let fieldBytes: FieldBytes
    private let continueTimeout: TimeAmount
    private var state: HTTP1State
    private var context: ChannelHandlerContext?
    private var exchange: (any ConnectionExchange)?
    /// Whether the exchange can take no more for now, so that nothing is read.
    private var isHolding = false
    /// Whether the connection can take the next exchange when this turn of reading is over.
    private var becomesFree = false
    private var isPumping = false
    private var awaitsPart = false
    private var continueTimer: Scheduled<Void>?

    /// Makes a connection on a channel that is connected and has no other handlers for HTTP.
    static func make(
        channel: any Channel,
        owner: any ConnectionOwner,
        limits: NIOOptions.Limits,
        continueTimeout: TimeAmount
    ) throws -> HTTP1Connection {
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = limits.headBytes
        parsing.maxHeaderListSize = limits.headBytes
        parsing.maxHeaderFieldCount = limits.fields
        var framing = HTTPRequestEncoder.Configuration()
        framing.automaticallySetFramingHeaders = false
        let meter = ResponseMeter(limit: limits.headBytes)
        let fieldBytes = FieldBytes()
        let connection = HTTP1Connection(
            owner,
            meter,
            fieldBytes,
            HTTP1State(interimLimit: limits.interimResponses),
            continueTimeout
        )
        let decoder = HTTPResponseDecoder(
            leftOverBytesStrategy: .dropBytes,
            informationalResponseStrategy: .forward,
            limitConfiguration: parsing
        )
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(meter)
        try pipeline.addHandler(fieldBytes)
        try pipeline.addHandler(HTTPRequestEncoder(configuration: framing))
        try pipeline.addHandler(ByteToMessageHandler(decoder))
        try pipeline.addHandler(connection)
        guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
        owner.connection(connection, canTake: 1)
        return connection
    }

    private init(
        _ owner: any ConnectionOwner,
        _ meter: ResponseMeter,
        _ fieldBytes: FieldBytes,
        _ state: HTTP1State,
        _ continueTimeout: TimeAmount
    ) {
        self.continueTimeout = continueTimeout
        self.owner = owner
        self.meter = meter
        self.fieldBytes = fieldBytes
        self.state = state
    }

    // MARK: ExchangeConnection

    func begin(_ exchange: any ConnectionExchange) {
        guard let context, context.channel.isActive, self.exchange == nil else {
            var failure = ExchangeFailure(.connectionLost, "The connection was closed before the request. Try again.")
            failure.unprocessed = .connectionEnded
            return exchange.end(failure)
        }
        let head = exchange.requestHead
        self.exchange = exchange
        becomesFree = false
        state.begin(head)
        meter.isExpecting = true
        fieldBytes.isReadingHead = true
        fieldBytes.isWritingHeldBytes = head.holdsBytes
        context.write(wrapOutboundOut(.head(HTTPRequestHead(head))), promise: nil)
        fieldBytes.isWritingHeldBytes = false
        if state.awaitsContinue {
            context.flush()
            startContinueTimer(context)
        } else if state.sendsBody {
            pump()
        } else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
        context.read()
    }

    func cancel(_ exchange: any ConnectionExchange) {
        guard self.exchange === exchange else { return }
        detach()
        state.abort()
        context?.close(promise: nil)
    }

    func resume(_ exchange: any ConnectionExchange) {
        guard self.exchange === exchange, isHolding else { return }
        isHolding = false
        context?.read()
    }

    func send(_ part: ByteBuffer, isLast: Bool, of exchange: any ConnectionExchange) {
        guard self.exchange === exchange, let context, awaitsPart, state.sendsBody else { return }
        awaitsPart = false
        if part.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil) }
        if isLast {
            state.sentBody()
            context.write(wrapOutboundOut(.end(nil)), promise: nil)
        }
        guard !isPumping else { return }
        context.flush()
        pump()
    }

    func closeWhenIdle() {
        if state.closeWhenIdle() { context?.close(promise: nil) }
    }

    // MARK: The request's body

    /// Asks for parts of the body while the channel can take them.
    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        var rest = Self.partsPerTurn
        while let exchange, let context, state.sendsBody, !awaitsPart, rest > 0, context.channel.isWritable {
            rest -= 1
            awaitsPart = true
            exchange.needsBody()
            context.flush()
        }
        isPumping = false
        guard rest == 0, let context else { return }
        context.eventLoop.assumeIsolated().execute { self.pump() }
    }

    private func startContinueTimer(_ context: ChannelHandlerContext) {
        continueTimer = context.eventLoop.assumeIsolated().scheduleTask(in: continueTimeout) {
            self.state.continueTimedOut()
            self.pump()
        }
    }

    private func startBody() {
        continueTimer?.cancel()
        pump()
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else { return context.close(promise: nil) }
        meter.madeProgress()
        switch unwrapInboundIn(data) {
        case .head(let head): receive(head, exchange)
        case .body(let part):
            if !exchange.take(part), self.exchange === exchange { isHolding = true }
        // Trailers are dropped: neither Foundation nor its clients know them (RFC 9110 §6.5.1 allows that).
        case .end: receiveEnd(exchange, context)
        }
    }

    private func receive(_ head: HTTPResponseHead, _ exchange: any ConnectionExchange) {
        switch state.receiveHead(status: Int(head.status.code), isKeptAlive: head.isKeepAlive) {
        case .skip: return
        case .startBody: startBody()
        case .deliver:
            fieldBytes.isReadingHead = false
            guard head.hasKnownTransferCoding else { return fail(.unknownTransferCoding) }
            exchange.take(EngineResponseHead(readByFieldBytes: head))
        case .fail(let failure): fail(failure)
        }
    }

    private func receiveEnd(_ exchange: any ConnectionExchange, _ context: ChannelHandlerContext) {
        let afterwards = state.receiveEnd()
        detach()
        if afterwards == .close {
            context.close(promise: nil)
        } else {
            becomesFree = true
        }
        exchange.end(nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Only now it is certain that no bytes followed the response.
        if becomesFree, exchange == nil {
            becomesFree = false
            owner.connectionDidFinish(self)
        }
        // An idle connection reads as well, to notice when the server closes it.
        if !isHolding { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { pump() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(
            error as? ExchangeFailure
                ?? ExchangeFailure(error, hasHead: state.hasHead, hasBytes: meter.hasBytes)
        )
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed(hasHead: state.hasHead, hasBytes: meter.hasBytes))
        owner.connectionDidClose(self)
    }

    /// Ends the exchange, if there is one, and closes the connection.
    private func fail(_ failure: ExchangeFailure) {
        let exchange = self.exchange
        detach()
        state.abort()
        becomesFree = false
        context?.close(promise: nil)
        exchange?.end(failure)
    }

    private func detach() {
        exchange = nil
        isHolding = false
        awaitsPart = false
        meter.isExpecting = false
        continueTimer?.cancel()
        continueTimer = nil
    }
}

/// Counts the bytes that a server sends without getting anywhere, in front of the parser.
///
/// The parser itself bounds fields, but not status lines and chunk extensions.
final class ResponseMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private static let lineEnds = ByteBuffer(string: "\r\n\r\n")

    private let limit: Int
    /// The bytes since the parser has last produced a part.
    private var pending = 0
    /// Whether a byte has arrived since the last request was sent.
    private(set) var hasBytes = false
    /// Whether an answer is expected.
    var isExpecting = false {
        didSet {
            hasBytes = false
            pending = 0
        }
    }

    init(limit: Int) { self.limit = limit }

    /// The parser has produced a part.
    func madeProgress() { pending = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        guard isExpecting else {
            // Bytes that no request asked for: whatever they are, the connection cannot be trusted any more.
            return context.close(promise: nil)
        }
        hasBytes = true
        pending &+= count
        context.fireChannelRead(data)
        guard isExpecting else {
            // The response is complete. If the same read contains the beginning of another head, the parser would wait for
            // its rest, and take the next response for it. These line ends complete such a head, or make it malformed, and
            // the connection fails; between two responses the parser skips them.
            if context.channel.isActive { context.fireChannelRead(wrapInboundOut(Self.lineEnds)) }
            return
        }
        guard pending > limit else { return }
        pending = 0
        context.fireErrorCaught(
            ExchangeFailure(
                .limitExceeded,
                "The server sent more than \(limit) bytes in a head or between the parts of a body. "
                    + "Raise headBytes if the server must send so many."
            )
        )
    }
}
#endif

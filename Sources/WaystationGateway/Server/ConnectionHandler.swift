#if Gateway
import NIOCore
import NIOHTTP1
import WaystationHTTP
import WaystationFoundation
import WaystationNIO
import WaystationStorage

/// Serves the requests of one connection, one after another.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart

    private enum Phase {
        /// No request has begun.
        case idle
        /// The body of a request is arriving.
        case collecting(HTTPRequestHead, GatewayServing.Accepted, RequestBodyCollector)
        /// The load of a request is under way, perhaps while the request's body is still arriving.
        case responding(GatewayExchange, RequestBodyCollector?)
        /// The inspector answers a request.
        case inspecting(InspectorExchange)
        /// The connection takes no more requests: what arrives is dropped.
        case closing
        /// Another handler serves the connection from now on.
        case handedOver
    }

    /// An event of the parser.
    private enum Arrival {
        case part(HTTPServerRequestPart)
        /// The bytes that arrived are not a request. Nothing follows.
        case failure(any Error)
    }

    private static let lingering = TimeAmount.seconds(5)

    private let serving: GatewayServing
    private let repeating: RepeatingHandler
    private let fieldBytes: FieldBytes
    /// Whether the bytes after the present request are those of another one.
    private var mayContinue = true
    /// They hold this handler, and are released with the connection.
    private var takeOver: (() -> Tunnel)?
    private var connect: ((_ host: String, _ port: Int, any Channel) -> Void)?
    private let clock = ConnectionClock()
    private var phase = Phase.idle
    /// The number of parts of a body that are being stored; nothing is read meanwhile.
    private var storing = 0
    private var isStopping = false
    /// Whether the end of the last request that was taken has not arrived.
    private var isWithinRequest = false
    /// The next requests, which the client sent before it had the present response.
    ///
    /// While there are any, nothing is read. They also wait until the channel is writable: otherwise, a client that takes
    /// nothing could make the gateway hold the responses to all requests of one read.
    private var next = CircularBuffer<Arrival>()
    private var isTakingNext = false

    /// Makes the handler of a connection.
    ///
    /// - Parameters:
    ///   - serving: The parts that all connections share.
    ///   - repeating: Answers requests that have arrived before; it is in front of the parser.
    ///   - fieldBytes: Carries the bytes of fields past the parser; it is right in front of it.
    ///   - takeOver: Yields the tunnel that takes the place of the handlers of the connection.
    ///   - connect: Answers a request to connect to a host (CONNECT).
    init(
        _ serving: GatewayServing,
        _ repeating: RepeatingHandler,
        _ fieldBytes: FieldBytes,
        takeOver: @escaping () -> Tunnel,
        connect: @escaping (_ host: String, _ port: Int, any Channel) -> Void
    ) {
        self.serving = serving
        self.repeating = repeating
        self.fieldBytes = fieldBytes
        fieldBytes.isReadingHead = true
        self.takeOver = takeOver
        self.connect = connect
    }

    func channelActive(context: ChannelHandlerContext) {
        waitForRequest(context.channel)
        context.read()
    }

    /// Begins at once on a connection that is active already: one on which TLS has begun.
    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { channelActive(context: context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head):
            fieldBytes.isReadingHead = false
            mayContinue = head.method != .CONNECT && head.staysOpen
        case .body: break
        case .end: fieldBytes.isReadingHead = mayContinue
        }
        guard next.isEmpty, isReady(context.channel) else { return next.append(.part(part)) }
        take(.part(part), context.channel)
    }

    func channelReadComplete(context: ChannelHandlerContext) { readOn(context.channel) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            switch phase {
            case .responding(let exchange, _): exchange.becameWritable()
            case .inspecting(let exchange): exchange.becameWritable()
            case .idle: takeNextSoon(context.channel)
            case .collecting, .closing, .handedOver: break
            }
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        clock.end()
        if case .responding(let exchange, let body) = phase {
            exchange.cancel()
            body?.stop()
        }
        if case .inspecting(let exchange) = phase { exchange.cancel() }
        phase = .closing
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        clock.end()
        takeOver = nil
        connect = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is GatewayStop else { return context.fireUserInboundEventTriggered(event) }
        isStopping = true
        if case .idle = phase, next.isEmpty { closeWhenSent(context.channel) }
        if case .inspecting(let exchange) = phase, exchange.isEndless { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The parser reports each read after its first error again.
        if case .failure = next.last { return }
        if case .closing = phase, error is HTTPParserError || error is ByteToMessageDecoderError { return }
        // It also reports the end of the connection within a request.
        guard error is HTTPParserError, mayAnswer, context.channel.isActive else { return context.close(promise: nil) }
        // The client gets the response to the request before first.
        guard next.isEmpty, isReady(context.channel) else { return next.append(.failure(error)) }
        take(.failure(error), context.channel)
    }

    // MARK: - Requests that are answered before they are parsed

    /// Whether the connection waits for a request, and no part of one has arrived.
    var isIdle: Bool {
        guard case .idle = phase else { return false }
        return next.isEmpty && !isWithinRequest && !isStopping
    }

    /// A request was answered before it was parsed: the connection waits for the next one.
    func didAnswer(_ channel: any Channel) { waitForRequest(channel) }

    // MARK: - Requests

    /// Whether the next part that arrives can be taken now.
    private func isReady(_ channel: any Channel) -> Bool {
        switch phase {
        case .idle: isWithinRequest || channel.isWritable
        case .collecting, .responding, .inspecting: isWithinRequest
        case .closing, .handedOver: true
        }
    }

    /// Whether a response can follow the bytes that arrived last: not within another response, or in a tunnel.
    private var mayAnswer: Bool {
        switch phase {
        case .idle, .collecting, .responding(_, _?): true
        case .responding, .inspecting: !isWithinRequest
        case .closing, .handedOver: false
        }
    }

    private func take(_ arrival: Arrival, _ channel: any Channel) {
        switch arrival {
        case .part(.head(let head)):
            isWithinRequest = true
            var head = head
            head.headers = head.headers.readByFieldBytes
            begin(head, channel)
        case .part(.body(let bytes)): collect(bytes, channel)
        case .part(.end):
            isWithinRequest = false
            finish(channel)
        case .failure(let error): refuse(error, channel)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ channel: any Channel) {
        guard case .idle = phase else { return }
        clock.stop()
        if isStopping { return refuse(.stopping, head, channel) }
        if let inspector = serving.inspector, inspector.gate.isAddressed(by: head) {
            return inspect(head, inspector, channel)
        }
        do throws(Refusal) {
            let target = try serving.targets.target(of: head)
            if case .tunnel(let host, let port) = target {
                phase = .handedOver
                connect?(host, port, channel)
                return
            }
            let accepted = try serving.accept(head, for: target)
            if head.opensWebSocket, let takeOver {
                guard !head.hasBody else { throw .badRequest("a web socket opens without a body (RFC 6455 §4.1)") }
                phase = .handedOver
                return WebSocket(takeOver(), accepted, head, from: channel, serving).open()
            }
            guard head.hasBody else {
                let arrival = repeating.hasRead(head)
                return respond(accepted, head, channel, arrival: arrival)
            }
            if head.method == .GET || head.method == .HEAD { throw .bodyOfMethod(head.method.rawValue) }
            if let length = head.statedLength, length > serving.options.maximumBody.bytes { throw .bodyTooLarge }
            if let text = head.headers.first(name: "Content-Length"), head.statedLength == nil {
                throw .badRequest("the Content-Length “\(text.shown())” is not a number of bytes that a body can have")
            }
            let collector = RequestBodyCollector(
                of: accepted.request,
                length: head.statedLength,
                serving.options,
                on: channel.eventLoop
            )
            phase = .collecting(head, accepted, collector)
            waitForPart(channel)
            guard head.expectsContinue else { return }
            let proceed = ResponseWriter(channel)
            proceed.begin(HTTPResponseHead(version: .http1_1, status: .continue))
            proceed.flush()
        } catch { refuse(error, head, channel) }
    }

    /// The request whose body is arriving, or is not yet stored as a whole.
    private var arriving: (head: HTTPRequestHead, body: RequestBodyCollector)? {
        switch phase {
        case .collecting(let head, _, let body): (head, body)
        case .responding(let exchange, let body?): (exchange.head, body)
        case .idle, .responding, .inspecting, .closing, .handedOver: nil
        }
    }

    private func collect(_ part: ByteBuffer, _ channel: any Channel) {
        guard let (_, body) = arriving else { return }
        waitForPart(channel)
        storing += 1
        let bound = NIOLoopBound((handler: self, body: body), eventLoop: channel.eventLoop)
        do throws(Refusal) {
            try body.append(part) { result in
                let handler = bound.value.handler
                handler.storing -= 1
                handler.didStore(result, of: bound.value.body, channel)
                handler.readOn(channel)
            }
        } catch {
            storing -= 1
            refuseBody(error, channel)
        }
    }

    /// A part of a body was stored, or could not be; the client may have begun the next request meanwhile.
    private func didStore(
        _ result: Result<URLRequest?, any Error>,
        of body: RequestBodyCollector,
        _ channel: any Channel
    ) {
        guard arriving?.body === body else { return }
        switch result {
        case .failure: refuseBody(.bodyNotStored, channel)
        case .success(nil): break
        case .success(let request?):
            guard case .collecting(let head, var accepted, _) = phase else { return }
            accepted.request = request
            respond(accepted, head, channel, body)
        }
    }

    private func finish(_ channel: any Channel) {
        guard let (_, body) = arriving else { return }
        clock.stop()
        if case .responding(let exchange, _) = phase { exchange.isUploading = false }
        let bound = NIOLoopBound((handler: self, body: body), eventLoop: channel.eventLoop)
        // The last part may still fail to be stored.
        body.finish { request in bound.value.handler.didStoreAll(of: bound.value.body, as: request, channel) }
    }

    private func didStoreAll(of body: RequestBodyCollector, as request: URLRequest, _ channel: any Channel) {
        guard arriving?.body === body else { return }
        if case .responding(let exchange, _) = phase { phase = .responding(exchange, nil) }
        guard case .collecting(let head, var accepted, _) = phase, channel.isActive else { return }
        accepted.request = request
        respond(accepted, head, channel)
    }

    private func respond(
        _ accepted: GatewayServing.Accepted,
        _ head: HTTPRequestHead,
        _ channel: any Channel,
        _ body: RequestBodyCollector? = nil,
        arrival: ByteBuffer? = nil
    ) {
        let writer = ResponseWriter(channel)
        let exchange = GatewayExchange(accepted, head, on: channel, writer, serving) { [weak self] closes in
            self?.end(writer, closes: closes, channel) ?? channel.close(promise: nil)
        }
        // The end of the body may have arrived while its last part was stored.
        exchange.isUploading = body != nil && isWithinRequest
        phase = .responding(exchange, body)
        guard let load = exchange.begin(accepted.request), let arrival else { return }
        serving.remember(load, accepted, head, as: arrival)
    }

    private func inspect(_ head: HTTPRequestHead, _ inspector: Inspector, _ channel: any Channel) {
        let closes = head.hasBody || !head.staysOpen
        let writer = ResponseWriter(channel)
        let exchange = InspectorExchange(inspector, head, closes: closes, on: channel, writer) { [weak self] closes in
            self?.end(writer, closes: closes, lingers: head.hasBody, channel) ?? channel.close(promise: nil)
        }
        phase = .inspecting(exchange)
        exchange.begin()
    }

    private func refuse(_ refusal: Refusal, _ head: HTTPRequestHead, _ channel: any Channel) {
        if case .closing = phase { return }
        clock.stop()
        serving.didRefuse(head, because: refusal)
        let closes = refusal.closes || head.hasBody || !head.staysOpen
        let writer = ResponseWriter(channel)
        writer.write(refusal, to: head, closes: closes)
        end(writer, closes: closes, lingers: head.hasBody, channel)
    }

    /// Refuses the request whose body is arriving.
    private func refuseBody(_ refusal: Refusal, _ channel: any Channel) {
        guard let (head, body) = arriving else { return }
        guard case .responding(let exchange, _) = phase else { return refuse(refusal, head, channel) }
        exchange.cancel()
        body.stop()
        // The client notices that the response ends too early.
        guard !exchange.hasHead else { return channel.close(promise: nil) }
        refuse(refusal, head, channel)
    }

    /// Answers bytes that are not a request, or not the rest of one.
    private func refuse(_ error: any Error, _ channel: any Channel) {
        guard arriving == nil else { return refuseBody(.unreadable(error), channel) }
        clock.stop()
        let writer = ResponseWriter(channel)
        writer.write(.unreadable(error), to: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"), closes: true)
        end(writer, closes: true, lingers: true, channel)
    }

    /// Ends a response.
    ///
    /// - Parameters:
    ///   - writer: The response.
    ///   - closes: Whether the connection ends with it.
    ///   - lingers: Whether the client may still be sending. Its bytes are then read for a while, because the client
    ///     would lose the response if the connection were closed with unread bytes.
    ///   - channel: The connection.
    private func end(_ writer: ResponseWriter, closes: Bool, lingers: Bool = false, _ channel: any Channel) {
        var closes = closes || isStopping
        var lingers = lingers
        if case .responding(let exchange, let body?) = phase, exchange.isUploading {
            // The response has come before the end of the request (RFC 9112 §9.3): the rest of the body is not needed.
            body.stop()
            closes = true
            lingers = true
        }
        phase = closes ? .closing : .idle
        writer.end(closes: closes && !lingers)
        if closes {
            next.removeAll()
            if lingers { closeLater(Self.lingering, channel) }
            return
        }
        waitForRequest(channel)
        takeNextSoon(channel)
    }

    /// Takes the next requests in a later turn of the event loop, so that no request is answered within another one.
    private func takeNextSoon(_ channel: any Channel) {
        guard !next.isEmpty, !isTakingNext else { return }
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.execute {
            let handler = bound.value
            handler.isTakingNext = true
            defer { handler.isTakingNext = false }
            while handler.isReady(channel), let arrival = handler.next.popFirst() { handler.take(arrival, channel) }
            handler.readOn(channel)
        }
    }

    // MARK: - Reading and waiting

    private func readOn(_ channel: any Channel) {
        guard storing == 0, next.isEmpty else { return }
        if case .handedOver = phase { return }
        channel.read()
    }

    private func waitForRequest(_ channel: any Channel) { closeLater(TimeAmount(serving.options.idleTimeout), channel) }

    private func closeLater(_ time: TimeAmount, _ channel: any Channel) {
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        clock.wait(time, on: channel.eventLoop) { bound.value.closeWhenSent(channel) }
    }

    /// Takes no more requests, and closes the connection when everything that was written has been sent.
    ///
    /// A response has ended when its last bytes are in the channel's queue, and a channel that is closed drops them. If
    /// the client takes none of them, ``DeliveryWatch`` closes the connection.
    private func closeWhenSent(_ channel: any Channel) {
        phase = .closing
        clock.stop()
        let waiting = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        // Nothing may be written before the end of a TLS handshake, which might never come.
        guard waiting > 0 else { return channel.close(promise: nil) }
        channel.writeAndFlush(IOData.byteBuffer(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
    }

    private func waitForPart(_ channel: any Channel) {
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        clock.wait(TimeAmount(serving.options.requestTimeout), on: channel.eventLoop) {
            let handler = bound.value
            // The gateway itself is slow then.
            guard handler.storing == 0 else { return handler.waitForPart(channel) }
            handler.refuseBody(.tooSlow, channel)
        }
    }
}

extension HTTPRequestHead {
    /// Whether a body follows (RFC 9112 §6.3).
    fileprivate var hasBody: Bool {
        headers.contains(name: "Transfer-Encoding") || (headers.contains(name: "Content-Length") && statedLength != 0)
    }

    /// The length that Content-Length states; nil if the field is missing, or if its value is not a number.
    fileprivate var statedLength: Int? { headers.first(name: "Content-Length").flatMap { Int($0) } }

    /// Whether the client waits for a response before it sends the body (RFC 9110 §10.1.1).
    fileprivate var expectsContinue: Bool {
        version != .http1_0 && headers.first(name: "Expect")?.equalsIgnoringCase("100-continue") == true
    }

    /// Whether the connection may take another request.
    ///
    /// After a request that offers another protocol, the parser reads no further one.
    var staysOpen: Bool { isKeepAlive && !ConnectionFields.named(by: headers["Connection"]).contains("upgrade") }
}
#endif

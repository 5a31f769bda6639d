#if Gateway
import Foundation
import NIOCore
import NIOHTTP1
import WaystationStorage

/// Serves the requests of one connection, one after another.
///
/// The pipeline before it gives it the next request only when the response to the one before has ended.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart

    private enum Phase {
        /// No request has begun.
        case idle
        /// The body of a request is arriving.
        case collecting(HTTPRequestHead, GatewayServing.Accepted, RequestBodyCollector)
        /// The load of a request is under way.
        case responding(GatewayExchange)
        /// The request was answered without being read to its end, or the connection became a tunnel.
        case done
    }

    private let serving: GatewayServing
    private let makeTunnel: (RequestTarget, any Channel) -> Void
    private let clock: ConnectionClock
    private var phase = Phase.idle
    /// Whether a part of a body is being stored; nothing is read meanwhile.
    private var isStoring = false
    private var isStopping = false

    /// Makes the handler of a connection.
    ///
    /// - Parameters:
    ///   - serving: What all connections share.
    ///   - makeTunnel: Turns the connection into a tunnel.
    init(_ serving: GatewayServing, makeTunnel: @escaping (RequestTarget, any Channel) -> Void) {
        self.serving = serving
        self.makeTunnel = makeTunnel
        clock = ConnectionClock()
    }

    func channelActive(context: ChannelHandlerContext) {
        wait(serving.options.idleTimeout, context) { [channel = context.channel] in channel.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let part): collect(part, context)
        case .end: finish(context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { readOn(context) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, case .responding(let exchange) = phase { exchange.becameWritable() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        clock.stop()
        if case .responding(let exchange) = phase { exchange.cancel() }
        phase = .done
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is GatewayStop else { return context.fireUserInboundEventTriggered(event) }
        isStopping = true
        if case .idle = phase { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: - Requests

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        clock.stop()
        if isStopping { return refuse(.stopping, head, context) }
        do throws(Refusal) {
            let target = try serving.targets.target(of: head)
            guard let accepted = try serving.accept(head, for: target) else {
                phase = .done
                return makeTunnel(target, context.channel)
            }
            guard head.hasBody else {
                phase = .idle
                return respond(accepted, head, context)
            }
            if let length = head.statedLength, length > serving.options.maximumBody.bytes { throw .bodyTooLarge }
            phase = .collecting(head, accepted, RequestBodyCollector(serving.options, on: context.eventLoop))
            waitForPart(head, context)
            guard head.headers.first(name: "Expect")?.lowercased() == "100-continue" else { return }
            let proceed = HTTPResponseHead(version: .http1_1, status: .continue)
            context.channel.writeAndFlush(HTTPServerResponsePart.head(proceed), promise: nil)
        } catch { refuse(error, head, context) }
    }

    private func collect(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
        guard case .collecting(let head, _, let collector) = phase else { return }
        waitForPart(head, context)
        isStoring = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        do throws(Refusal) {
            try collector.append(part) { error in
                let (handler, context) = bound.value
                handler.isStoring = false
                guard error == nil else { return handler.refuse(.bodyNotStored, head, context) }
                handler.readOn(context)
            }
        } catch { refuse(error, head, context) }
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard case .collecting(let head, let accepted, let collector) = phase else { return }
        clock.stop()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        collector.finish(accepted.request) { request in
            let (handler, context) = bound.value
            guard case .collecting = handler.phase, context.channel.isActive else { return }
            var accepted = accepted
            accepted.request = request
            handler.respond(accepted, head, context)
        }
    }

    private func respond(
        _ accepted: GatewayServing.Accepted,
        _ head: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        let channel = context.channel
        let exchange = GatewayExchange(accepted, head, on: channel, serving) { [weak self] in
            guard let self, case .responding = phase, !isStopping else { return false }
            phase = .idle
            wait(serving.options.idleTimeout, context) { channel.close(promise: nil) }
            return true
        }
        phase = .responding(exchange)
        exchange.begin(accepted.request)
    }

    private func refuse(_ refusal: Refusal, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        if case .done = phase { return }
        clock.stop()
        let closes = refusal.closes || head.hasBody || !head.isKeepAlive
        phase = closes ? .done : .idle
        RefusalResponse.write(
            refusal,
            to: head.method,
            head.version,
            isKeptAlive: !closes,
            on: context.channel
        )
    }

    // MARK: - Reading and waiting

    private func readOn(_ context: ChannelHandlerContext) {
        if !isStoring { context.read() }
    }

    private func waitForPart(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        wait(serving.options.requestTimeout, context) {
            let (handler, context) = bound.value
            // The gateway itself is slow then.
            guard !handler.isStoring else { return handler.waitForPart(head, context) }
            handler.refuse(.tooSlow, head, context)
        }
    }

    private func wait(
        _ time: Duration,
        _ context: ChannelHandlerContext,
        _ late: @escaping @Sendable () -> Void
    ) {
        clock.wait(TimeAmount(time), on: context.eventLoop, late)
    }
}

extension HTTPRequestHead {
    /// Whether a body follows (RFC 9112 §6.3).
    fileprivate var hasBody: Bool {
        headers.contains(name: "Transfer-Encoding") || statedLength.map { $0 > 0 } ?? false
    }

    fileprivate var statedLength: Int? { headers.first(name: "Content-Length").flatMap { Int($0) } }
}
#endif

#if NIO
import NIOCore

/// Opens a tunnel on a channel that is connected to a proxy, then removes itself.
///
/// The time that this may take is limited by whoever closes the channel.
final class ConnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: ByteBuffer
    private var exchange = ConnectExchange()
    /// Nil when the outcome was reported.
    private var promise: EventLoopPromise<Void>?
    private var early = ByteBuffer()

    private init(_ request: ByteBuffer, _ promise: EventLoopPromise<Void>) {
        self.request = request
        self.promise = promise
    }

    /// Opens a tunnel.
    ///
    /// It must be called on the channel's event loop.
    ///
    /// - Parameters:
    ///   - channel: A channel that is connected to the proxy. It may read by itself or not.
    ///   - authority: The host and the port of the origin.
    ///   - proxy: The proxy.
    /// - Returns: Succeeds when the channel carries the bytes of the tunnel. Handlers that are added in the same step,
    ///   in a callback of the future, get the bytes that have arrived already. On a `ConnectFailure`, the channel is
    ///   closed.
    static func open(on channel: any Channel, to authority: String, _ proxy: Route.Proxy) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        let request = ConnectExchange.request(
            authority: authority,
            authorization: proxy.authorization,
            via: proxy.via
        )
        guard let request else {
            promise.fail(ConnectFailure.invalidRequest)
            channel.close(promise: nil)
            return promise.futureResult
        }
        let handler = ConnectHandler(request, promise)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            handler.finish(error)
        }
        return promise.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else {
            finish(ConnectFailure.closed)
            return context.close(promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish(ConnectFailure.closed) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard promise != nil else { return context.fireChannelRead(data) }
        switch exchange.receive(unwrapInboundIn(data)) {
        case .needsMore: return
        case .open(let rest):
            early = rest
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        case .refused(let failure):
            finish(failure)
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard promise == nil else { return context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(ConnectFailure.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(error)
        context.close(promise: nil)
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        let opened = promise
        promise = nil
        opened?.succeed(())
        if early.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(early))
            context.fireChannelReadComplete()
        }
        context.leavePipeline(removalToken: removalToken)
    }

    private func finish(_ error: any Error) {
        let failed = promise
        promise = nil
        failed?.fail(error)
    }
}
#endif

import HTTPTypes
import Logging
import NIOCore
import NIOHTTPTypes

/// Closes a connection on which a request takes more time or bytes than it may.
///
/// - A request and its answer may take ``Bounds/total`` together, however steadily their bytes arrive.
/// - The rest of a request that was answered before its end, as a refused upload is, is read and discarded, so that the
///   client gets the answer and can go on with the connection. It may have ``Bounds/discardedBytes``, and may take
///   ``Bounds/discardingTime``.
/// - After an answer with `Connection: close`, the connection is closed as soon as the request has ended.
///
/// A handler belongs to one channel and its event loop.
final class ExchangeBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    /// The bounds of an exchange.
    struct Bounds: Sendable {
        /// The longest time from the beginning of a request to the end of its answer; an hour by default.
        var total = TimeAmount.hours(1)
        /// The most bytes of a body that are read after the answer; 1 MiB by default.
        var discardedBytes = 1 << 20
        /// The longest time for which a body is read after the answer; 10 seconds by default.
        var discardingTime = TimeAmount.seconds(10)
    }

    private let bounds: Bounds
    private let logger: Logger?
    /// The numbers of complete requests and of complete answers.
    private var requests = 0
    private var answers = 0
    private var isRequestOpen = false
    /// Whether the latest answer said that the connection will be closed.
    private var isLast = false
    private var discarded = 0
    private var totalTimer: Scheduled<Void>?
    private var discardingTimer: Scheduled<Void>?
    /// Nil after the connection was closed or the handler removed.
    private var context: ChannelHandlerContext?

    init(_ bounds: Bounds, logger: Logger? = nil) {
        self.bounds = bounds
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isRequestOpen = true
            if totalTimer == nil { startTotal() }
        case .body(let part):
            if isDiscarding {
                discarded += part.readableBytes
                if discarded > bounds.discardedBytes { return close("the body of a refused request goes on") }
            }
        case .end:
            requests += 1
            isRequestOpen = false
            if answers >= requests { endExchange() }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .head(let head) = part, head.status.kind != .informational {
            isLast = head.headerFields[.connection]?.lowercased() == "close"
        }
        guard case .end = part else { return context.write(data, promise: promise) }
        let taken = context.eventLoop.makePromise(of: Void.self)
        taken.futureResult.cascade(to: promise)
        // The exchange ends when the client has the answer, not when the answer is made.
        taken.futureResult.assumeIsolated().whenSuccess { self.endAnswer() }
        context.write(data, promise: taken)
    }

    private var isDiscarding: Bool { isRequestOpen && answers > requests }

    private func endAnswer() {
        answers += 1
        guard isDiscarding else {
            if requests >= answers { endExchange() }
            return
        }
        discarded = 0
        discardingTimer = schedule(bounds.discardingTime, "the body of a refused request goes on")
    }

    private func endExchange() {
        discardingTimer?.cancel()
        discardingTimer = nil
        totalTimer?.cancel()
        totalTimer = nil
        if isLast { return close(nil) }
        // Requests that the client sent ahead have their own time from now on.
        if isRequestOpen || requests > answers { startTotal() }
    }

    private func startTotal() { totalTimer = schedule(bounds.total, "a request takes too long") }

    private func schedule(_ time: TimeAmount, _ reason: String) -> Scheduled<Void>? {
        context?.eventLoop.assumeIsolated().scheduleTask(in: time) { self.close(reason) }
    }

    private func close(_ reason: String?) {
        guard let context else { return }
        if let reason { logger?.notice("closing a connection: \(reason)") }
        stop()
        context.close(promise: nil)
    }

    private func stop() {
        context = nil
        totalTimer?.cancel()
        discardingTimer?.cancel()
        (totalTimer, discardingTimer) = (nil, nil)
    }
}

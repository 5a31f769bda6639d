import Logging
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client makes the server wait for too long.
///
/// Only the client's turn counts, which is the time when the server cannot continue without the client:
///
/// - The server has asked for bytes, and no part of a request arrives, in the middle of a request or between two.
/// - A part of an answer is written, and the client does not accept it.
/// - The server has closed its side of the connection, and the client does not close the other.
///
/// The server's turn does not count: while it does not read, because a slow disk has not yet stored the earlier bytes,
/// and while it makes the answer to a complete request. Hummingbird's `idleTimeout` runs even while the server does not
/// read, and resets uploads that are delayed by the server.
///
/// The time starts again with each part of a request that arrives, and with each ``piece`` of an answer that the client
/// accepts. A head is one part, however slowly its bytes arrive. During the server's turn the time stands still.
///
/// A handler belongs to one channel and its event loop. Add it to the pipeline before the channel is active.
final class ClientIdleTimeout: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The largest part of a body, in bytes, that is passed on at once: the progress of a larger part could not be
    /// seen.
    static let piece = 16 << 10

    private let timeout: TimeAmount
    private let logger: Logger?
    private var exchange = Exchange()
    /// Nil after the connection was closed or the handler removed.
    private var context: ChannelHandlerContext?
    /// The time that the client has left.
    private var left: TimeAmount
    /// The end of the client's time; nil in the server's turn.
    private var deadline: NIODeadline?
    /// Fires at the deadline or before it, and then checks again: moving the timer with each part would cost more.
    private var timer: Scheduled<Void>?

    /// Makes a time-out.
    ///
    /// - Parameters:
    ///   - timeout: The longest time for which the client may be silent.
    ///   - logger: The logger for closed connections.
    init(_ timeout: TimeAmount, logger: Logger? = nil) {
        self.timeout = timeout
        self.logger = logger
        left = timeout
    }

    /// The state that decides whose turn it is.
    private struct Exchange {
        /// Whether a read was requested and has not ended.
        var isReading = false
        /// The number of complete requests minus the number of complete answers; negative if a request was answered
        /// before its end.
        var owedAnswers = 0
        /// The number of parts that were written, and that the client has not yet accepted.
        var untakenParts = 0
        var isInputClosed = false
        var isOutputClosed = false

        var isClientsTurn: Bool {
            // While an answer is made, the server reads for the next request, so a read alone does not make it the
            // client's turn.
            untakenParts > 0 || isOutputClosed || isReading && !isInputClosed && owedAnswers <= 0
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        update { $0.isReading = true }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isEnd = if case .end = unwrapInboundIn(data) { true } else { false }
        update(beginningAnew: true) { if isEnd { $0.owedAnswers += 1 } }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        update { $0.isReading = false }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(var body) = unwrapOutboundIn(data) else {
            return write(unwrapOutboundIn(data), to: context, promise)
        }
        while body.readableBytes > Self.piece, let piece = body.readSlice(length: Self.piece) {
            write(.body(piece), to: context, nil)
        }
        write(.body(body), to: context, promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed: update { $0.isInputClosed = true }
        case .outputClosed: update(beginningAnew: true) { $0.isOutputClosed = true }
        case nil: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func write(_ part: HTTPResponsePart, to context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?)
    {
        let taken = context.eventLoop.makePromise(of: Void.self)
        taken.futureResult.cascade(to: promise)
        update(beginningAnew: exchange.untakenParts == 0) {
            $0.untakenParts += 1
            if case .end = part { $0.owedAnswers -= 1 }
        }
        taken.futureResult.assumeIsolated().whenComplete { _ in
            self.update(beginningAnew: true) { $0.untakenParts -= 1 }
        }
        context.write(wrapOutboundOut(part), promise: taken)
    }

    /// Applies a change to the exchange, and starts or stops the time accordingly.
    private func update(beginningAnew: Bool = false, _ change: (inout Exchange) -> Void) {
        change(&exchange)
        guard let context else { return }
        let now = context.eventLoop.now
        if beginningAnew {
            left = timeout
        } else if let deadline {
            left = deadline - now
        }
        deadline = exchange.isClientsTurn ? now + left : nil
        if let deadline, timer == nil { setTimer(to: deadline, on: context.eventLoop) }
    }

    private func setTimer(to deadline: NIODeadline, on eventLoop: any EventLoop) {
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.fire() }
    }

    private func fire() {
        timer = nil
        guard let context, let deadline else { return }
        guard deadline <= context.eventLoop.now else { return setTimer(to: deadline, on: context.eventLoop) }
        stop()
        logger?.debug("closing a connection: its client was idle for too long", metadata: ["timeout": "\(timeout)"])
        context.close(promise: nil)
    }

    private func stop() {
        context = nil
        timer?.cancel()
        timer = nil
    }
}

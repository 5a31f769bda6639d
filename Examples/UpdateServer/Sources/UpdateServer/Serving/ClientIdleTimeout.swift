import Logging
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client lets the server wait for too long.
///
/// Only the client's turn counts, when nothing can go on without it:
///
/// - The server has asked for bytes, and no part of a request comes, in the middle of one or between two.
/// - A part of an answer is written, and the client does not take it.
/// - The server has closed its side of the connection, and the client does not close the other.
///
/// The server's turn does not count: while it does not read, since a slow disk has not yet taken what came before, and
/// while it makes the answer to a request that it has as a whole. Hummingbird's `idleTimeout` runs while the server does
/// not read, and resets uploads that are held up here.
///
/// The time begins anew with each part of a request that has come, and with each ``piece`` of an answer that is taken. A
/// head is one part, however slowly its bytes come. In between the time stands still while it is the server's turn.
///
/// It belongs to one channel and its event loop, and into the pipeline before the channel is active.
final class ClientIdleTimeout: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How much of a body, in bytes, is handed on at once: that a larger one is being taken would not be seen.
    static let piece = 16 << 10

    private let timeout: TimeAmount
    private let logger: Logger?
    private var exchange = Exchange()
    /// Nil from the moment on when the connection is closed or the handler removed.
    private var context: ChannelHandlerContext?
    /// What the client has left of its time.
    private var left: TimeAmount
    /// When that is over; nil in the server's turn.
    private var deadline: NIODeadline?
    /// Fires at the deadline or before it: moving it with each part would cost more than to look again.
    private var timer: Scheduled<Void>?

    /// A time-out.
    ///
    /// - Parameters:
    ///   - timeout: How long the client may be silent.
    ///   - logger: Where closed connections are noted.
    init(_ timeout: TimeAmount, logger: Logger? = nil) {
        self.timeout = timeout
        self.logger = logger
        left = timeout
    }

    /// Whose turn it is.
    private struct Exchange {
        /// A read was asked for, and has not ended.
        var isReading = false
        /// Requests that came as a whole, less answers that were written as a whole: below zero where a request was
        /// answered before its end.
        var owedAnswers = 0
        /// Parts that were written and are not yet taken.
        var untakenParts = 0
        var isInputClosed = false
        var isOutputClosed = false

        var isClientsTurn: Bool {
            // Reads go on while an answer is made, for a request that may follow.
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

    /// Takes in what has happened, and lets the time run or stand still accordingly.
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
        logger?.debug("closing a connection: its client let the server wait", metadata: ["timeout": "\(timeout)"])
        context.close(promise: nil)
    }

    private func stop() {
        context = nil
        timer?.cancel()
        timer = nil
    }
}

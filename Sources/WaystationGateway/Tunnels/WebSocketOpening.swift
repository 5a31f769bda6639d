#if Gateway
import NIOCore
import NIOHTTP1
import WaystationNIO

/// The exchange with an origin that opens a web socket: one request, and the head of the response.
///
/// It is confined to the event loop of the channel. Each closure is released when it is of no more use.
final class WebSocketOpening: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// Gets the head of the response.
    var receive: ((HTTPResponseHead) -> Void)?
    /// Gets a part of the body of a response that refuses the web socket, and a closure that asks for the next part.
    var pass: ((ByteBuffer, @escaping @Sendable () -> Void) -> Void)?
    /// Called at the end of such a body.
    var end: ((_ isWhole: Bool) -> Void)?

    /// The handlers that speak HTTP with the origin, from the last to the first.
    private(set) var handlers: [any RemovableChannelHandler] = []
    /// Before the decoder.
    let inputEnd = HeldInputEnd()
    private let fieldBytes = FieldBytes()
    private let channel: any Channel
    private var fail: (() -> Void)?
    private var timer: Scheduled<Void>?
    private let limit: TimeAmount
    /// Whether a part of a body was passed on in the present read.
    private var isPassing = false
    /// The head of a response that opens the web socket, until the decoder has passed on its end.
    private var switching: HTTPResponseHead?

    /// Makes the exchange.
    ///
    /// - Parameters:
    ///   - channel: The connection to the origin, on which nothing was sent yet.
    ///   - limit: The longest time until the head of the response has arrived, and then between parts of a body.
    ///   - fail: Called if no head arrives.
    init(on channel: any Channel, within limit: TimeAmount, _ fail: @escaping () -> Void) {
        self.channel = channel
        self.fail = fail
        self.limit = limit
        wait()
    }

    private func wait() {
        timer?.cancel()
        timer = channel.eventLoop.scheduleTask(in: limit) { [channel] in channel.close(promise: nil) }
    }

    /// Sends the request.
    func send(_ head: HTTPRequestHead) {
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(
            HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: .gateway)
        )
        handlers = [self, decoder, encoder, fieldBytes]
        do {
            guard channel.isActive else { throw ChannelError.alreadyClosed }
            // The bytes that the origin sent before it ended the connection are passed on first.
            try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
            try channel.pipeline.syncOperations.addHandlers([inputEnd, fieldBytes, encoder, decoder, self])
        } catch {
            channel.close(promise: nil)
            return lose()
        }
        fieldBytes.isReadingHead = true
        fieldBytes.isWritingHeldBytes = head.headers.holdBytes
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        fieldBytes.isWritingHeldBytes = false
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        channel.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            fieldBytes.isReadingHead = false
            head.headers = head.headers.readByFieldBytes
            guard head.status == .switchingProtocols else { return pass(head) }
            inputEnd.hold()
            switching = head
        case .body(let part):
            isPassing = true
            wait()
            pass?(part) { [channel] in channel.read() }
        case .end:
            // The receiver removes this handler then.
            if let head = switching.take() { return pass(head) }
            end.take()?(true)
            release()
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The receiver of a part asks for more itself.
        if !isPassing { context.read() }
        isPassing = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        // The origin sends no more, and has not opened the web socket.
        if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        lose()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        release()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func pass(_ head: HTTPResponseHead) {
        fail = nil
        receive.take()?(head)
    }

    /// The connection has ended.
    private func lose() {
        timer?.cancel()
        fail.take()?()
        end.take()?(false)
        release()
    }

    private func release() {
        fail = nil
        receive = nil
        pass = nil
        end = nil
    }
}

/// Holds back the event that the other side sends no more.
///
/// A decoder that gets it drops the bytes that it has not decoded. A decoder that waits for its removal would so drop
/// the first bytes of another protocol.
final class HeldInputEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var isHolding = false
    private var isDue = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard isHolding, event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        isDue = true
    }

    /// Holds the event from now on.
    func hold() { isHolding = true }

    /// Passes on the event if it has come.
    func release() {
        isHolding = false
        guard isDue else { return }
        isDue = false
        context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
}
#endif

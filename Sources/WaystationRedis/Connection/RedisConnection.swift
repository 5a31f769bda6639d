#if Redis
import NIOCore
import WaystationStorage

/// A connection to a server: sends commands one after the other without waiting, and gives each its reply.
///
/// It is confined to its event loop.
final class RedisConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var parser: RESPParser
    private var context: ChannelHandlerContext?
    private var waiting: CircularBuffer<(Result<RESPValue, TierError>) -> Void> = []
    private var output = ByteBuffer()
    private var isFlushDue = false
    private var failure: TierError?
    /// Gets the values that answer no command.
    var onMessage: ((RESPValue) -> Void)?
    /// Called once, at the end of the connection.
    var onEnd: ((TierError) -> Void)?
    /// The number of times that bytes have arrived.
    private(set) var arrivals = 0

    init(limits: RESPParser.Limits) { parser = RESPParser(limits: limits) }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends a command; all commands of one turn of the loop are written together.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - completion: Gets the reply, or the reason why none will come; nil for a command without a reply of its own.
    func send(_ command: RedisCommand, _ completion: ((Result<RESPValue, TierError>) -> Void)?) {
        guard failure == nil, let context else {
            completion?(.failure(failure ?? TierError(.unreachable, "the connection to Redis has ended")))
            return
        }
        command.write(to: &output)
        if let completion { waiting.append(completion) }
        guard !isFlushDue else { return }
        isFlushDue = true
        context.eventLoop.assumeIsolated().execute { self.flush() }
    }

    private func flush() {
        isFlushDue = false
        guard let context, output.readableBytes > 0 else { return }
        let written = output
        output = ByteBuffer()
        context.writeAndFlush(wrapOutboundOut(written), promise: nil)
    }

    /// Ends the connection; commands without a reply fail.
    func close(_ reason: TierError) {
        end(reason)
        context?.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrivals += 1
        parser.append(unwrapInboundIn(data))
        do {
            while let value = try parser.next() { take(value) }
        } catch {
            close(TierError(.malformed, "Redis sent something that is not a reply: \(error)"))
        }
    }

    private func take(_ value: RESPValue) {
        if case .push = value {
            onMessage?(value)
        } else if let completion = waiting.popFirst() {
            completion(.success(value))
        } else if let onMessage {
            onMessage(value)
        } else {
            close(TierError(.malformed, "Redis sent a reply to no command"))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(TierError(.unreachable, "Redis has closed the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(TierError(.unreachable, "the connection to Redis failed: \(error)"))
    }

    private func end(_ reason: TierError) {
        guard failure == nil else { return }
        failure = reason
        let failed = waiting
        waiting = []
        for completion in failed { completion(.failure(reason)) }
        onEnd?(reason)
        onEnd = nil
        onMessage = nil
    }
}
#endif

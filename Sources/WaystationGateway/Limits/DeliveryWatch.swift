#if Gateway
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Closes a connection whose client takes no bytes of what is sent to it (``DeliveryProgress``).
///
/// It is the first handler of a connection, so that it counts the bytes as they are sent, whichever protocol they are of.
final class DeliveryWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    private let limit: TimeAmount
    private let waiting: (any Channel) -> Int
    private let clock = ConnectionClock()
    private var context: ChannelHandlerContext?
    private var written = 0
    /// The number of bytes that are known to have been taken.
    private var taken = 0
    /// Nil while no bytes wait.
    private var progress: DeliveryProgress?

    /// Makes the handler.
    ///
    /// - Parameters:
    ///   - limit: The longest time in which no byte is taken.
    ///   - waiting: Counts the bytes of a connection that were written and not taken.
    init(limit: TimeAmount, waiting: @escaping (any Channel) -> Int = SendQueue.length) {
        self.limit = limit
        self.waiting = waiting
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard progress == nil, written > taken else { return }
        progress = DeliveryProgress(limit: limit, taken: taken, now: context.eventLoop.now)
        lookLater(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        clock.end()
        context.fireChannelInactive()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        clock.end()
    }

    private func lookLater(_ channel: any Channel) {
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        // Several looks within the limit, so that a stuck connection ends soon after it.
        clock.wait(.nanoseconds(max(limit.nanoseconds / 4, 1)), on: channel.eventLoop) { bound.value.look(channel) }
    }

    private func look(_ channel: any Channel) {
        let now = channel.eventLoop.now
        switch progress?.look(written: written, waiting: waiting(channel), now: now) {
        case .idle, nil:
            taken = written
            progress = nil
        case .moving: lookLater(channel)
        // From here, so that no other handler waits for the client, such as TLS for its farewell.
        case .stuck: context?.close(promise: nil)
        }
    }
}

/// The bytes of a connection that were written and that the other side's system has not acknowledged.
enum SendQueue {
    /// The number of these bytes; 0 if the system does not know it, such as for a closed connection.
    static func length(of channel: any Channel) -> Int {
        let buffered = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        var queued: CInt = 0
        let isKnown = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { socket in
            // SIOCOUTQ of Linux has this name for terminals (tcp(7)).
            ioctl(socket, UInt(TIOCOUTQ), &queued) == 0
        }
        return buffered + (isKnown == true ? Int(queued) : 0)
    }
}

/// Whether the other side of a connection takes the bytes that are sent to it.
///
/// Bytes count as taken when the other side's system has acknowledged them. A connection is stuck when bytes wait and no
/// byte was taken for a time. A client that reads slowly takes some bytes again and again, and one to which nothing is
/// sent has no bytes that wait; neither is stuck.
struct DeliveryProgress {
    enum Finding: Equatable {
        /// No bytes wait.
        case idle
        /// Bytes wait, and some were taken within the limit.
        case moving
        /// Bytes wait, and none was taken within the limit.
        case stuck
    }

    /// The longest time in which no byte is taken.
    let limit: TimeAmount
    private var taken: Int
    private var since: NIODeadline

    /// Begins with bytes that were just written.
    ///
    /// - Parameters:
    ///   - limit: The longest time in which no byte is taken.
    ///   - taken: The number of bytes of this connection that were taken so far.
    ///   - now: The present time.
    init(limit: TimeAmount, taken: Int, now: NIODeadline) {
        (self.limit, self.taken, since) = (limit, taken, now)
    }

    /// Looks again.
    ///
    /// - Parameters:
    ///   - written: The number of bytes that were written to the connection so far.
    ///   - waiting: The number of these that were not taken yet.
    ///   - now: The present time.
    /// - Returns: The state of the delivery.
    mutating func look(written: Int, waiting: Int, now: NIODeadline) -> Finding {
        guard waiting > 0 else { return .idle }
        if written - waiting > taken {
            taken = written - waiting
            since = now
        }
        return now - since < limit ? .moving : .stuck
    }
}
#endif

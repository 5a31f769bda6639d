#if Redis
import NIOCore
import WaystationStorage

/// A connection that waits for the messages of one channel.
///
/// It is confined to its event loop.
final class RedisSubscription {
    /// The reactions to what happens on the channel.
    struct Handlers {
        /// Called once, when all later messages will arrive, or with the reason why they will not.
        var confirmed: (Result<Void, TierError>) -> Void
        /// Gets the content of each message; false if it has no meaning, which ends the connection.
        var received: (ByteBuffer) -> Bool
        /// Called once, when no more messages arrive.
        var ended: (TierError) -> Void
        /// Called with each check whether the connection still works.
        var checked: () -> Void = {}
    }

    private let connection: RedisConnection
    private let channel: String
    private let handlers: Handlers
    private var isConfirmed = false
    private var keepalive: Scheduled<Void>?
    private var arrivals = 0

    /// Makes the subscription of a connection.
    ///
    /// - Parameters:
    ///   - connection: A connection that does nothing else.
    ///   - channel: The name of the channel.
    ///   - handlers: The reactions.
    init(_ connection: RedisConnection, _ channel: String, _ handlers: Handlers) {
        self.connection = connection
        self.channel = channel
        self.handlers = handlers
    }

    /// Subscribes.
    func begin(on loop: any EventLoop, keepalive interval: TimeAmount) {
        connection.onMessage = { self.take($0) }
        connection.onEnd = { error in
            self.keepalive?.cancel()
            self.confirm(.failure(error))
            self.handlers.ended(error)
        }
        connection.send(RedisCommand("SUBSCRIBE", channel), nil)
        watch(on: loop, every: interval)
    }

    private func watch(on loop: any EventLoop, every interval: TimeAmount) {
        keepalive = loop.assumeIsolated().scheduleTask(in: interval) {
            if self.isAlive() { self.watch(on: loop, every: interval) }
        }
    }

    /// Ends the subscription.
    func end() { connection.close(TierError(.unreachable, "the subscription was ended")) }

    /// Ends a connection on which nothing has arrived since the last check, not even the answer to its question.
    ///
    /// - Returns: Whether the connection goes on.
    private func isAlive() -> Bool {
        guard isConfirmed, connection.arrivals != arrivals else {
            connection.close(TierError(.late, "Redis does not answer on the connection of a channel"))
            return false
        }
        arrivals = connection.arrivals
        connection.send(RedisCommand("PING"), nil)
        handlers.checked()
        return true
    }

    private func confirm(_ result: Result<Void, TierError>) {
        guard !isConfirmed else { return }
        isConfirmed = true
        handlers.confirmed(result)
    }

    private func take(_ value: RESPValue) {
        let parts: [RESPValue]
        switch value {
        case .push(let elements), .list(let elements): parts = elements
        case .error(let text): return connection.close(TierError(refusal: text))
        // The answer to PING.
        case .text, .bytes, .null, .number: return
        }
        guard parts.count >= 3, case .bytes(let kind) = parts[0], case .bytes(let name) = parts[1],
            String(buffer: name) == channel
        else { return }
        switch String(buffer: kind) {
        case "subscribe": confirm(.success(()))
        case "message":
            guard case .bytes(let payload) = parts[2], handlers.received(payload) else {
                return connection.close(TierError(.malformed, "a message on the channel has another form"))
            }
        default: break
        }
    }
}
#endif

#if Redis
import Foundation
import NIOCore
import WaystationSharing

/// A connection that waits for the messages of one channel.
///
/// It is confined to its event loop.
final class RedisSubscription {
    private let connection: RedisConnection
    private let channel: String
    private let messages: AsyncThrowingStream<TierMessage, any Error>.Continuation
    private var confirmed: ((Result<Void, TierError>) -> Void)?
    private var keepalive: Scheduled<Void>?
    private var arrivals = 0

    /// Makes the subscription of a connection.
    ///
    /// - Parameters:
    ///   - connection: A connection that does nothing else.
    ///   - channel: The name of the channel.
    ///   - messages: Gets the messages.
    ///   - confirmed: Called once, when all later messages will arrive, or with the reason why they will not.
    init(
        _ connection: RedisConnection,
        _ channel: String,
        _ messages: AsyncThrowingStream<TierMessage, any Error>.Continuation,
        confirmed: @escaping (Result<Void, TierError>) -> Void
    ) {
        self.connection = connection
        self.channel = channel
        self.messages = messages
        self.confirmed = confirmed
    }

    /// Subscribes.
    func begin(on loop: any EventLoop, keepalive interval: TimeAmount) {
        connection.onMessage = { self.take($0) }
        connection.onEnd = { [messages] error in
            self.keepalive?.cancel()
            self.confirmed.take()?(.failure(error))
            messages.finish(throwing: error)
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
        guard confirmed == nil, connection.arrivals != arrivals else {
            connection.close(TierError(.late, "Redis does not answer on the connection of a channel"))
            return false
        }
        arrivals = connection.arrivals
        connection.send(RedisCommand("PING"), nil)
        return true
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
        case "subscribe": confirmed.take()?(.success(()))
        case "message":
            guard case .bytes(let payload) = parts[2], let message = TierMessage(payload) else {
                return connection.close(TierError(.malformed, "a message on the channel has no number"))
            }
            messages.yield(message)
        default: break
        }
    }
}

extension TierMessage {
    /// Reads a message as ``RedisScripts/publish`` writes it: its number, a line feed, and the content.
    init?(_ payload: ByteBuffer) {
        let view = payload.readableBytesView
        guard let end = view.prefix(21).firstIndex(of: UInt8(ascii: "\n")),
            let number = UInt64(String(decoding: view[..<end], as: UTF8.self))
        else { return nil }
        self.init(number: number, content: Data(view[(end + 1)...]))
    }
}
#endif

#if Redis
public import Foundation
import NIOCore
import NIOPosix
public import WaystationSharing

/// A tier of responses that machines share, on Redis 6 or later, or Valkey.
///
/// ```swift
/// let tier = try RedisTier(RedisOptions(host: "cache.internal"))
/// let cache = try ResponseCache(directory: caches, sharing: .init(in: tier, secret: secret))
/// ```
///
/// All commands share one connection, on which they do not wait for each other; each channel has a connection of its own.
/// Connections are made when they are needed, and again after they have ended, with pauses of up to 10 s while that
/// fails. The tier speaks RESP3, or RESP2 with servers that have no other.
///
/// The memory is bounded by the server's own settings: every value has a lifetime, except for one number for each channel.
/// With `maxmemory-policy volatile-lru` the server never removes those numbers; with other policies it may, and then all
/// machines remove their stored responses, because they may have missed an invalidation.
///
/// A user of the tier needs the commands `GET`, `SET`, `DEL`, `PEXPIRE`, `EVAL`, `EXISTS`, `INCR`, `TIME`, `PUBLISH`,
/// `SUBSCRIBE`, `PING`, `HELLO` and `SELECT`, for keys and channels whose names begin with `waystation:`.
public final class RedisTier: SharedTier {
    private let loop: any EventLoop
    private let connector: RedisConnector
    private let client: NIOLoopBoundBox<RedisClient?>

    /// Makes a tier; the first call connects.
    ///
    /// - Parameter options: The server.
    /// - Throws: The error of reading certificates or keys.
    public init(_ options: RedisOptions) throws {
        loop = MultiThreadedEventLoopGroup.singleton.next()
        connector = try RedisConnector(options)
        client = .makeEmptyBox(valueType: RedisClient.self, eventLoop: loop)
    }

    deinit {
        let client = client
        loop.execute { client.value?.close() }
    }

    /// Returns the values of keys, in their order; nil where a key has none.
    public func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        guard !keys.isEmpty else { return [] }
        return try await run(keys.map { RedisCommand("GET", $0.name) }, until: deadline).map { reply in
            switch reply {
            case .bytes(let buffer): return Data(buffer.readableBytesView)
            case .null: return nil
            default: throw Self.unexpected
            }
        }
    }

    /// Stores a value, in place of the present one.
    public func put(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let reply = try await run(set(value, key).with("PX", "\(lifetime.wholeMilliseconds)"), until: deadline)
        guard case .text("OK") = reply else { throw Self.unexpected }
    }

    /// Stores a value if the key has none, in one step.
    public func lease(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        switch try await run(set(value, key).with("NX", "PX", "\(lifetime.wholeMilliseconds)"), until: deadline) {
        case .text("OK"): return true
        case .null: return false
        default: throw Self.unexpected
        }
    }

    /// Removes the value of a key, or only if it equals another value.
    public func remove(
        _ key: TierKey,
        ifEqualTo value: Data?,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let command =
            if let value {
                RedisCommand("EVAL", RedisScripts.remove, "1", key.name).with(value)
            } else {
                RedisCommand("DEL", key.name)
            }
        guard case .number = try await run(command, until: deadline) else { throw Self.unexpected }
    }

    /// Gives a value a new lifetime; returns whether the key has a value.
    public func touch(
        _ key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        let command = RedisCommand("PEXPIRE", key.name, "\(lifetime.wholeMilliseconds)")
        guard case .number(let count) = try await run(command, until: deadline) else { throw Self.unexpected }
        return count == 1
    }

    /// Sends a message to the subscribers of a channel, and returns its number.
    public func publish(
        _ message: Data,
        on channel: TierKey,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        let command = RedisCommand("EVAL", RedisScripts.publish, "1", channel.numberKey, channel.name).with(message)
        return try await number(of: run(command, until: deadline))
    }

    /// Begins to receive the messages of a channel.
    public func subscribe(
        to channel: TierKey,
        until deadline: ContinuousClock.Instant
    ) async throws -> TierSubscription {
        let (stream, messages) = AsyncThrowingStream<TierMessage, any Error>.makeStream(
            // A reader that falls further behind sees from the numbers that it has missed messages.
            bufferingPolicy: .bufferingNewest(65_536)
        )
        try await begin(channel, messages, until: deadline)
        let command = RedisCommand("EVAL", RedisScripts.number, "1", channel.numberKey)
        let last = try await number(of: run(command, until: deadline))
        return TierSubscription(lastNumber: last, messages: stream)
    }

    /// Makes the connection of a channel, and waits until messages arrive on it.
    private func begin(
        _ channel: TierKey,
        _ messages: AsyncThrowingStream<TierMessage, any Error>.Continuation,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let (loop, connector) = (loop, connector)
        let interval = TimeAmount(connector.options.keepaliveInterval)
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, TierError>, _>) in
            let race = Race(continuation)
            loop.execute {
                let subscription = NIOLoopBoundBox<RedisSubscription?>.makeEmptyBox(
                    valueType: RedisSubscription.self,
                    eventLoop: loop
                )
                messages.onTermination = { _ in loop.execute { subscription.value?.end() } }
                loop.assumeIsolated().scheduleTask(deadline: NIODeadline(deadline)) {
                    if race.finish(.failure(TierError(.late, "Redis did not confirm a subscription in time"))) {
                        messages.finish()
                    }
                }
                connector.connect(on: loop) { connected in
                    switch connected {
                    case .failure(let error): race.finish(.failure(error))
                    case .success(let connection):
                        let made = RedisSubscription(connection, channel.name, messages) { race.finish($0) }
                        subscription.value = made
                        made.begin(on: loop, keepalive: interval)
                    }
                }
            }
        }
        try result.get()
    }

    private func set(_ value: Data, _ key: TierKey) -> RedisCommand { RedisCommand("SET", key.name).with(value) }

    private func number(of reply: RESPValue) throws -> UInt64 {
        guard case .bytes(let buffer) = reply, let number = UInt64(String(buffer: buffer)) else {
            throw Self.unexpected
        }
        return number
    }

    private static var unexpected: TierError { TierError(.malformed, "Redis sent a reply of another type") }

    private func run(_ command: RedisCommand, until deadline: ContinuousClock.Instant) async throws -> RESPValue {
        let replies = try await run([command], until: deadline)
        guard let reply = replies.first else { throw Self.unexpected }
        return reply
    }

    private func run(
        _ commands: [RedisCommand],
        until deadline: ContinuousClock.Instant
    ) async throws(TierError) -> [RESPValue] {
        let (loop, connector, client) = (loop, connector, client)
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[RESPValue], TierError>, _>) in
            loop.execute {
                let present = client.value ?? RedisClient(connector, on: loop)
                client.value = present
                present.run(commands, until: NIODeadline(deadline)) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }
}

extension TierKey {
    /// The key of the number of a channel's last message.
    fileprivate var numberKey: String { name + ":number" }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { max(1, Int64(self / .milliseconds(1))) }
}

extension NIODeadline {
    /// The deadline on NIO's clock.
    fileprivate init(_ instant: ContinuousClock.Instant) {
        self = .now() + TimeAmount(ContinuousClock.now.duration(to: instant))
    }
}
#endif

#if Redis
public import Foundation
import NIOCore
import NIOPosix
import Synchronization
public import WaystationStorage

/// A tier of responses that machines share, on Redis 6 or later, or Valkey.
///
/// ```swift
/// let tier = try RedisTier(RedisOptions(host: "cache.internal"))
/// let cache = try ResponseCache(directory: caches, sharing: .init(in: tier, secret: secret))
/// ```
///
/// The tier is one server, a Redis Cluster, or a primary that Redis Sentinel watches over:
///
/// ```swift
/// let single = try RedisTier(.server("rediss://fleet:s3cret@cache.internal"))
/// let cluster = try RedisTier(.cluster(["redis://a:7000", "redis://b:7000"]))
/// let watched = try RedisTier(.sentinel(master: "cache", ["redis://s1", "redis://s2", "redis://s3"]))
/// ```
///
/// Commands to one server share a connection, on which they do not wait for each other. Invalidations, which wait for
/// the server's replicas, have a second connection, and each channel has one of its own. Connections are made when they
/// are needed, and again after they have ended, with pauses of up to 10 s while that fails. The tier speaks RESP3, or
/// RESP2 with servers that have no other.
///
/// While slots of a cluster move, commands follow them. From the failure of a primary until a replica has taken its
/// place, calls that need this primary fail. An invalidation succeeds only when all connected replicas have it, so that
/// a replica that becomes the primary has it, too.
///
/// The memory is bounded by the server's own settings: every value has a lifetime, except for one number for each channel.
/// With `maxmemory-policy volatile-lru` the server never removes those numbers; with other policies it may, and then all
/// machines remove their stored responses, because they may have missed an invalidation.
///
/// A user of the tier needs the commands `GET`, `SET`, `DEL`, `PEXPIRE`, `EVAL`, `EXISTS`, `INCR`, `TIME`, `PUBLISH`,
/// `SUBSCRIBE`, `PING`, `HELLO`, `SELECT`, `ROLE` and `WAIT`, in a cluster also `ASKING` and `CLUSTER|SLOTS`, for keys and
/// channels whose names begin with `waystation:`. A user of sentinels needs `HELLO`, `PING`, `SENTINEL|MASTER`,
/// `SENTINEL|GET-MASTER-ADDR-BY-NAME`, and `SUBSCRIBE` for the channel `+switch-master`.
public final class RedisTier: SharedTier, PunctualTier {
    /// One thread for all tiers of the process, which lives as long as the process.
    ///
    /// SwiftNIO's shared loops run code of the app as well, which could keep a loop from the deadlines of calls.
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    package let executor: any TaskExecutor
    private let loop: any EventLoop
    private let connector: RedisConnector
    private let router: NIOLoopBoundBox<(any RedisRouter)?>
    private let counters = Counters()

    /// Makes a tier; the first call connects.
    ///
    /// - Parameter options: The servers.
    /// - Throws: The error of reading certificates or keys, or a ``WaystationStorage/TierError`` when options exclude
    ///   each other, when a host is missing, when a port cannot exist, or when a user has no password.
    public init(_ options: RedisOptions) throws {
        try options.check()
        loop = Self.thread.next()
        executor = LoopExecutor(loop)
        connector = try RedisConnector(options)
        router = .makeEmptyBox(valueType: (any RedisRouter).self, eventLoop: loop)
    }

    deinit {
        let router = router
        loop.execute { router.value?.close() }
    }

    package func expectValues(upTo size: Int) { connector.replyLimit.expect(size) }

    /// How often the tier's servers have redirected it or changed until now.
    package var counts: RedisCounts { counters.present }

    /// Returns the values of keys, in their order; nil where a key has none.
    public func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        guard !keys.isEmpty else { return [] }
        do {
            return try await read(keys, until: deadline)
        } catch let error as TierError where error.code == .malformed {
            return try await readWithoutLong(keys, until: deadline)
        }
    }

    /// Removes the values that are longer than a reply may be, and reads the others.
    ///
    /// A reply that is too long ends its connection, and would do so each time.
    private func readWithoutLong(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        let limit = "\(connector.replyLimit.bytes)"
        let commands = keys.map { RedisCommand(script: RedisScripts.removeLong, key: $0.name).with(limit) }
        let replies = try await run(commands, until: deadline)
        let values = try await read(keys, until: deadline)
        return zip(values, replies).map { value, reply in
            // An empty value is damaged to a cache, which reports it.
            if case .number(1) = reply { value ?? Data() } else { value }
        }
    }

    private func read(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        try await run(keys.map { RedisCommand("GET", key: $0.name) }, until: deadline).map { reply in
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
                RedisCommand(script: RedisScripts.remove, key: key.name).with(value)
            } else {
                // Removing a key is how responses are invalidated; the removal must remain when a replica takes the
                // server's place.
                RedisCommand(script: RedisScripts.removeByChange, key: key.name).lasting
            }
        guard case .number = try await run(command, until: deadline) else { throw Self.unexpected }
    }

    /// Gives a value a new lifetime; returns whether the key has a value.
    public func touch(
        _ key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        let command = RedisCommand("PEXPIRE", key: key.name).with("\(lifetime.wholeMilliseconds)")
        guard case .number(let count) = try await run(command, until: deadline) else { throw Self.unexpected }
        return count == 1
    }

    /// Sends a message to the subscribers of a channel, and returns its number.
    public func publish(
        _ message: Data,
        on channel: TierKey,
        isDurable: Bool,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        let command = RedisCommand(script: RedisScripts.publish, key: channel.numberKey)
            .with(channel.name)
            .with(message)
        return try await number(of: run(isDurable ? command.lasting : command, until: deadline))
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
        let command = RedisCommand(script: RedisScripts.number, key: channel.numberKey)
        let last = try await number(of: run(command, until: deadline))
        return TierSubscription(lastNumber: last, messages: stream)
    }

    private enum Subscribing {
        case wanted
        case begun(RedisSubscription)
        /// The reader has gone, or the deadline has passed.
        case unwanted
    }

    /// Makes the connection of a channel, and waits until messages arrive on it.
    private func begin(
        _ channel: TierKey,
        _ messages: AsyncThrowingStream<TierMessage, any Error>.Continuation,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let (loop, connector, router, counters) = (loop, connector, router, counters)
        let interval = TimeAmount(connector.options.keepaliveInterval)
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, TierError>, _>) in
            let race = Race(continuation)
            loop.execute {
                let present = Self.present(router, connector, on: loop, counters)
                let subscribing = NIOLoopBoundBox(Subscribing.wanted, eventLoop: loop)
                messages.onTermination = { _ in
                    loop.execute {
                        if case .begun(let subscription) = subscribing.value { subscription.end() }
                        subscribing.value = .unwanted
                    }
                }
                loop.assumeIsolated().scheduleTask(deadline: NIODeadline(deadline)) {
                    if race.finish(.failure(TierError(.late, "Redis did not confirm a subscription in time"))) {
                        messages.finish()
                    }
                }
                present.connect(for: channel.numberKey) { [weak present] connected in
                    switch connected {
                    case .failure(let error): race.finish(.failure(error))
                    case .success(let connection):
                        guard case .wanted = subscribing.value else {
                            return connection.close(TierError(.late, "the connection of a channel was made too late"))
                        }
                        let handlers = RedisSubscription.Handlers(
                            confirmed: { race.finish($0) },
                            received: { payload in
                                guard let message = TierMessage(payload) else { return false }
                                messages.yield(message)
                                return true
                            },
                            ended: { messages.finish(throwing: $0) },
                            checked: { present?.check(channel.numberKey) }
                        )
                        let subscription = RedisSubscription(connection, channel.name, handlers)
                        subscribing.value = .begun(subscription)
                        subscription.begin(on: loop, keepalive: interval)
                    }
                }
            }
        }
        try result.get()
    }

    private func set(_ value: Data, _ key: TierKey) -> RedisCommand { RedisCommand("SET", key: key.name).with(value) }

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
        let (loop, connector, router, counters) = (loop, connector, router, counters)
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[RESPValue], TierError>, _>) in
            let begin: @Sendable () -> Void = {
                let present = Self.present(router, connector, on: loop, counters)
                present.run(commands, until: NIODeadline(deadline)) { continuation.resume(returning: $0) }
            }
            if loop.inEventLoop { begin() } else { loop.execute(begin) }
        }
        return try result.get()
    }

    /// The router of a tier, made with the first call.
    private static func present(
        _ router: NIOLoopBoundBox<(any RedisRouter)?>,
        _ connector: RedisConnector,
        on loop: any EventLoop,
        _ counters: Counters
    ) -> any RedisRouter {
        if let present = router.value { return present }
        let new: any RedisRouter =
            switch connector.options.deployment {
            case .server(let endpoint): SingleRouter(endpoint, connector, on: loop)
            case .cluster(let seeds): ClusterRouter(seeds, connector, on: loop, counts: counters.change)
            case .sentinel(let master, let sentinels):
                SentinelRouter(sentinels, master: master, connector, on: loop, counts: counters.change)
            }
        router.value = new
        return new
    }
}

/// The counts of a tier, which are changed on its event loop and read anywhere.
private final class Counters: Sendable {
    private let counts = Mutex(RedisCounts())

    var present: RedisCounts { counts.withLock(\.self) }

    @Sendable
    func change(_ change: (inout RedisCounts) -> Void) { counts.withLock { change(&$0) } }
}

extension TierKey {
    /// The key of the number of a channel's last message.
    fileprivate var numberKey: String { name + ":number" }
}

extension Duration {
    /// The whole milliseconds, from one millisecond to a hundred years, which is the longest time that Redis is given.
    fileprivate var wholeMilliseconds: Int64 {
        let longest: Int64 = 100 * 365 * 86_400
        let (seconds, attoseconds) = components
        guard seconds < longest else { return longest * 1_000 }
        guard seconds >= 0 else { return 1 }
        return max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}

extension NIODeadline {
    /// The deadline on NIO's clock.
    fileprivate init(_ instant: ContinuousClock.Instant) {
        self = .now() + TimeAmount(ContinuousClock.now.duration(to: instant))
    }
}

/// The steps that must not be interrupted, as scripts that the server runs.
enum RedisScripts {
    /// Removes a key whose value is the argument.
    static let remove = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

    /// Removes a key, and makes a change also if the key has no value.
    ///
    /// In Valkey, and in Redis since 7.2, `WAIT` waits for the last change of its own connection. After a removal that
    /// changes nothing, it would not wait for the earlier removal of another connection.
    static let removeByChange = """
        local n = redis.call('DEL', KEYS[1])
        if n == 0 then
            redis.call('SET', KEYS[1], '')
            redis.call('DEL', KEYS[1])
        end
        return n
        """

    /// Removes a key whose value is longer than the argument.
    static let removeLong = """
        local v = redis.call('GET', KEYS[1])
        if v and #v > tonumber(ARGV[1]) then return redis.call('DEL', KEYS[1]) end
        return 0
        """

    /// Makes the number of a channel if it has none, and returns it.
    ///
    /// The first number is the time in microseconds: so it is greater than any that was lost.
    static let number = """
        local n = redis.call('GET', KEYS[1])
        if n then return n end
        local t = redis.call('TIME')
        n = string.format('%d%06d', t[1], t[2])
        redis.call('SET', KEYS[1], n)
        return n
        """

    /// Gives the argument the next number of a channel, and sends it.
    static let publish = """
        local n
        if redis.call('EXISTS', KEYS[1]) == 1 then
            redis.call('INCR', KEYS[1])
            n = redis.call('GET', KEYS[1])
        else
            local t = redis.call('TIME')
            n = string.format('%d%06d', t[1], t[2])
            redis.call('SET', KEYS[1], n)
        end
        redis.call('PUBLISH', ARGV[1], n .. '\\n' .. ARGV[2])
        return n
        """
}
#endif

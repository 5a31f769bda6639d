#if Redis
import NIOCore
import WaystationStorage

/// The connection for commands to one server: made with the first command, and made anew after it has ended.
///
/// It is confined to its event loop.
final class RedisClient {
    private enum Phase {
        case unconnected
        case connecting([(Result<RedisConnection, TierError>) -> Void])
        case connected(RedisConnection)
        /// No connection is made any more, for this reason.
        case closed(TierError)
    }

    private let loop: any EventLoop
    private let connect: Connect
    private var phase = Phase.unconnected
    private var backoff = Backoff()
    /// The calls that are not over, each with its limit.
    private var limits: [ObjectIdentifier: TimeAmount] = [:]
    private var lastFailure: TierError?

    /// Makes a connection, and calls its argument once, later.
    typealias Connect = (_ completion: @escaping (Result<RedisConnection, TierError>) -> Void) -> Void

    init(on loop: any EventLoop, _ connect: @escaping Connect) {
        self.connect = connect
        self.loop = loop
    }

    /// Whether there is a connection.
    var isConnected: Bool { if case .connected = phase { true } else { false } }

    /// Runs commands one after the other.
    ///
    /// - Parameters:
    ///   - commands: The commands, at least one.
    ///   - deadline: The time at which the call fails if a reply is missing.
    ///   - following: Gets the replies, and returns a command that is to follow on the same connection; its reply is
    ///     added to them.
    ///   - completion: Called once with the replies, some of which may be errors.
    func run(
        _ commands: [RedisCommand],
        until deadline: NIODeadline,
        followedBy following: ((_ replies: [RESPValue]) -> RedisCommand?)? = nil,
        _ completion: @escaping (Result<[RESPValue], RedisFailure>) -> Void
    ) {
        let call = Call(completion, missing: commands.count, following)
        call.onDeadline = { self.giveUp($0) }
        limits[ObjectIdentifier(call)] = deadline - .now()
        call.onEnd = { self.limits[ObjectIdentifier($0)] = nil }
        do {
            call.timer = try loop.assumeIsolated().scheduleCallback(at: deadline, handler: call)
        } catch {
            return call.end(.failure(RedisFailure(.tierWasClosed, mayHaveRun: false)))
        }
        connection { result in
            guard !call.isOver else { return }
            switch result {
            case .failure(let error): call.end(.failure(RedisFailure(error, mayHaveRun: false)))
            case .success(let connection):
                call.sent = (connection, connection.arrivals)
                for command in commands { connection.send(command) { call.take($0) } }
            }
        }
    }

    /// Ends the connection, and makes no other; calls that are under way, and all later ones, fail with the reason.
    func close(_ reason: TierError) {
        let previous = phase
        phase = .closed(reason)
        switch previous {
        case .connected(let connection): connection.close(reason)
        case .connecting(let waiting): for completion in waiting { completion(.failure(reason)) }
        case .unconnected, .closed: break
        }
    }

    private func giveUp(_ call: Call) {
        let error = TierError(.late, "Redis did not answer in time")
        let limit = limits[ObjectIdentifier(call)] ?? .zero
        call.end(.failure(RedisFailure(error, mayHaveRun: call.sent != nil)))
        // Another cache may give its calls much more time. The connection then lasts until one of those is late: a call
        // with a limit like this one's does not wait for the other.
        guard !limits.values.contains(where: { $0.nanoseconds / 2 > limit.nanoseconds }) else { return }
        // Nothing has arrived since: the server or the way to it may be gone without a notice.
        guard let (connection, arrivals) = call.sent, connection.arrivals == arrivals else { return }
        connection.close(TierError(.late, "Redis does not answer"))
    }

    private func connection(_ completion: @escaping (Result<RedisConnection, TierError>) -> Void) {
        switch phase {
        case .connected(let connection): completion(.success(connection))
        case .connecting(let waiting): phase = .connecting(waiting + [completion])
        case .closed(let reason): completion(.failure(reason))
        case .unconnected:
            guard backoff.allows(at: .now()) else {
                return completion(.failure(lastFailure ?? TierError(.unreachable, "there is no connection to Redis")))
            }
            phase = .connecting([completion])
            connect { self.connected($0) }
        }
    }

    private func connected(_ result: Result<RedisConnection, TierError>) {
        guard case .connecting(let waiting) = phase else {
            if case .success(let connection) = result { connection.close(.tierWasClosed) }
            return
        }
        switch result {
        case .success(let connection):
            backoff.worked()
            phase = .connected(connection)
            connection.onEnd = { [weak self, weak connection] _ in
                guard let self, case .connected(let present) = phase, present === connection else { return }
                phase = .unconnected
            }
        case .failure(let error):
            backoff.failed(at: .now())
            lastFailure = error
            phase = .unconnected
        }
        for completion in waiting { completion(result) }
    }

    /// Commands whose replies are awaited.
    private final class Call: NIOScheduledCallbackHandler {
        private var completion: ((Result<[RESPValue], RedisFailure>) -> Void)?
        private var missing: Int
        private var following: ((_ replies: [RESPValue]) -> RedisCommand?)?
        private var replies: [RESPValue] = []
        /// Ends the call if it is not over at its deadline.
        var timer: NIOScheduledCallback?
        var onDeadline: ((Call) -> Void)?
        var onEnd: ((Call) -> Void)?
        /// The connection that has the commands, and its arrivals at that time.
        var sent: (connection: RedisConnection, arrivals: Int)?

        init(
            _ completion: @escaping (Result<[RESPValue], RedisFailure>) -> Void,
            missing: Int,
            _ following: ((_ replies: [RESPValue]) -> RedisCommand?)?
        ) {
            self.completion = completion
            self.missing = missing
            self.following = following
        }

        var isOver: Bool { completion == nil }

        func take(_ reply: Result<RESPValue, TierError>) {
            guard !isOver else { return }
            switch reply {
            case .failure(let error): end(.failure(RedisFailure(error, mayHaveRun: true)))
            case .success(let value):
                replies.append(value)
                missing -= 1
                if missing == 0 { complete() }
            }
        }

        private func complete() {
            guard let command = following.take()?(replies), let (connection, _) = sent else {
                return end(.success(replies))
            }
            missing = 1
            sent = (connection, connection.arrivals)
            connection.send(command) { self.take($0) }
        }

        func end(_ result: Result<[RESPValue], RedisFailure>) {
            onEnd?(self)
            (following, onDeadline, onEnd) = (nil, nil, nil)
            completion.take()?(result)
            timer.take()?.cancel()
        }

        func handleScheduledCallback(eventLoop: some EventLoop) { onDeadline?(self) }
    }
}
#endif

#if Redis
import NIOCore
import WaystationStorage

/// One server, and the connections to it.
///
/// Commands that replicas must confirm have a connection of their own, since the server answers nothing else on a
/// connection until they have.
///
/// It is confined to its event loop.
final class RedisNode {
    let endpoint: RedisEndpoint
    private let client: RedisClient
    private let lasting: RedisClient

    /// - Parameters:
    ///   - endpoint: The server's address.
    ///   - connector: Makes the connections.
    ///   - loop: The loop of the connections.
    ///   - name: Returns the name for which the server's certificate is; nil for the host of the address.
    init(
        _ endpoint: RedisEndpoint,
        _ connector: RedisConnector,
        on loop: any EventLoop,
        name: @escaping () -> String? = { nil }
    ) {
        self.endpoint = endpoint
        let connect: RedisClient.Connect = { connector.connect(to: endpoint, named: name(), on: loop, $0) }
        client = RedisClient(on: loop, connect)
        lasting = RedisClient(on: loop, connect)
    }

    /// Whether there is a connection.
    var isConnected: Bool { client.isConnected || lasting.isConnected }

    /// Runs commands one after the other.
    ///
    /// - Parameters:
    ///   - commands: The commands, at least one.
    ///   - isAsking: Whether the slot of the one command is being moved to this server.
    ///   - deadline: The time at which the call fails if a reply is missing.
    ///   - completion: Called once with the replies, some of which may be errors.
    func run(
        _ commands: [RedisCommand],
        isAsking: Bool = false,
        until deadline: NIODeadline,
        _ completion: @escaping (Result<[RESPValue], RedisFailure>) -> Void
    ) {
        let prefix = isAsking ? [RedisCommand("ASKING")] : []
        guard commands.contains(where: \.isLasting) else {
            return client.run(prefix + commands, until: deadline) { result in
                completion(result.map { Array($0.dropFirst(prefix.count)) })
            }
        }
        let own = prefix.count..<(prefix.count + commands.count)
        lasting.run(
            prefix + commands + [RedisCommand("ROLE")],
            until: deadline,
            followedBy: { Self.wait(after: $0, until: deadline) },
            { result in
                completion(
                    result.flatMap { replies in
                        // The replicas must confirm only a command that worked.
                        let mustLast = !replies[own].contains(where: \.isError)
                        guard mustLast, let error = Self.doubt(replies, after: own.endIndex) else {
                            return .success(Array(replies[own]))
                        }
                        return .failure(RedisFailure(error, mayHaveRun: true))
                    }
                )
            }
        )
    }

    /// The command that waits for the replicas; nil if the server is not a primary with replicas, or if a command did not
    /// work.
    private static func wait(after replies: [RESPValue], until deadline: NIODeadline) -> RedisCommand? {
        guard !replies.contains(where: \.isError), let role = replies.last,
            case .primary(let replicas) = ServerRole(role), replicas > 0
        else { return nil }
        // Zero would mean for ever.
        let left = max(1, (deadline - .now() - .milliseconds(5)).nanoseconds / 1_000_000)
        return RedisCommand("WAIT", "\(replicas)", "\(left)")
    }

    /// Finds out whether a replica may not know of commands.
    ///
    /// - Parameters:
    ///   - replies: All replies.
    ///   - place: The place of the reply to `ROLE`, behind which that to `WAIT` stands, if there are replicas.
    /// - Returns: The reason; nil if all replicas have confirmed the commands.
    private static func doubt(_ replies: [RESPValue], after place: Int) -> TierError? {
        let further = replies[place...]
        for case .error(let text) in further { return TierError(refusal: text) }
        // A server that became a replica after the commands may drop them, since it takes over the values of the new
        // primary.
        guard let role = further.first, case .primary(let replicas) = ServerRole(role) else {
            return TierError(.unreachable, "the server is not the primary any more")
        }
        guard replicas > 0 else { return nil }
        if further.count > 1, case .number(let confirmed)? = further.last, confirmed >= replicas { return nil }
        return TierError(.late, "a replica has not confirmed a change in time")
    }

    /// Ends the connections, and makes no others.
    func close(_ reason: TierError) {
        client.close(reason)
        lasting.close(reason)
    }
}

/// The part of a server in replication, as it reports it by `ROLE`.
enum ServerRole: Equatable {
    /// The server takes changes, and this many replicas follow it now.
    case primary(replicas: Int)
    /// The server follows another one, or the reply has no meaning.
    case other

    init(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.first?.string == "master", parts.count >= 3,
            let replicas = parts[2].elements
        else {
            self = .other
            return
        }
        self = .primary(replicas: replicas.count)
    }

    /// Whether an error means that its server is a replica, or has not loaded its values yet.
    ///
    /// In Redis 6, the refusal of a script's command is not at the beginning of the error.
    static func isReplica(by refusal: String) -> Bool {
        ["READONLY", "MASTERDOWN", "LOADING"].contains(where: refusal.hasPrefix) || refusal.contains("-READONLY ")
    }
}

/// The pauses between attempts to connect: 100 ms after the first failure, then twice as long each time, up to 10 s.
struct Backoff {
    static let shortest = TimeAmount.milliseconds(100)
    static let longest = TimeAmount.seconds(10)

    private var pause = shortest
    private var end: NIODeadline?

    /// Whether an attempt may be made.
    func allows(at now: NIODeadline) -> Bool { end.map { now >= $0 } ?? true }

    /// An attempt has failed.
    ///
    /// - Returns: The time of the next attempt.
    @discardableResult
    mutating func failed(at now: NIODeadline) -> NIODeadline {
        let next = now + pause
        end = next
        pause = min(pause * 2, Self.longest)
        return next
    }

    /// Begins again with the shortest pause, because an attempt has worked.
    mutating func worked() { self = Backoff() }
}

/// The reason why commands got no replies.
struct RedisFailure: Error {
    let error: TierError
    /// Whether the server may have run the commands nevertheless.
    let mayHaveRun: Bool

    init(_ error: TierError, mayHaveRun: Bool) {
        self.error = error
        self.mayHaveRun = mayHaveRun
    }
}
#endif

#if Redis
import NIOCore
import WaystationStorage

/// Brings commands to the servers that can run them.
///
/// It is confined to its event loop, on which all completions are called.
protocol RedisRouter: AnyObject {
    /// Runs commands, in any order.
    ///
    /// - Parameters:
    ///   - commands: The commands, at least one.
    ///   - deadline: The time at which the call fails.
    ///   - completion: Called once with the replies in the order of the commands; none is an error.
    func run(
        _ commands: [RedisCommand],
        until deadline: NIODeadline,
        _ completion: @escaping (Result<[RESPValue], TierError>) -> Void
    )

    /// Makes a connection for the messages of a channel.
    ///
    /// The server of the connection is the one that has the number of the channel's last message: there, numbers and
    /// messages come in one order, and none is lost on the way between servers. The router closes the connection when
    /// the number has gone to another server.
    ///
    /// - Parameters:
    ///   - key: The key of the number.
    ///   - completion: Called once.
    func connect(for key: String, _ completion: @escaping (Result<RedisConnection, TierError>) -> Void)

    /// Finds out whether the server of a key is still the same one.
    func check(_ key: String)

    /// Ends all connections, and makes no others.
    func close()
}

extension Result where Success == [RESPValue], Failure == TierError {
    /// The replies; the first error among them if there is one.
    init(_ replies: [RESPValue]) {
        for case .error(let text) in replies {
            self = .failure(TierError(refusal: text))
            return
        }
        self = .success(replies)
    }
}

/// The connections of channels to one server, as long as their readers keep them.
struct ChannelConnections {
    private struct Place {
        weak var connection: RedisConnection?
    }

    private var places: [Place] = []

    mutating func add(_ connection: RedisConnection) {
        places.removeAll { $0.connection == nil }
        places.append(Place(connection: connection))
    }

    /// Takes out all connections.
    mutating func takeAll() -> [RedisConnection] {
        defer { places = [] }
        return places.compactMap(\.connection)
    }
}

/// A result that counts if it comes before its deadline; otherwise the call fails.
///
/// It is confined to its event loop.
final class DeadlineRace<Value> {
    private var completion: ((Result<Value, TierError>) -> Void)?
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - deadline: The time at which the call fails.
    ///   - loop: The loop of the call.
    ///   - completion: Called once.
    init(
        until deadline: NIODeadline,
        on loop: any EventLoop,
        _ completion: @escaping (Result<Value, TierError>) -> Void
    ) {
        self.completion = completion
        timer = loop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.end(.failure(TierError(.late, "Redis did not answer in time")))
        }
    }

    /// Whether nothing waits for the result any more.
    var isOver: Bool { completion == nil }

    /// Delivers the result; the first one counts.
    func end(_ result: Result<Value, TierError>) {
        timer.take()?.cancel()
        completion.take()?(result)
    }
}

/// How often the servers of a tier have redirected it or changed, since the tier was made.
package struct RedisCounts: Hashable, Sendable {
    /// The commands that were sent to another server because their slot had moved.
    package var moved = 0
    /// The commands that were sent to another server because their slot was being moved.
    package var asked = 0
    /// The times that the slots of the cluster were read.
    package var topologies = 0
    /// The times that the sentinels named another primary than before.
    package var failovers = 0
}

/// The replies of commands that are sent to several servers: complete with the last one, or at the deadline.
///
/// It is confined to its event loop.
final class ReplyGathering {
    private let race: DeadlineRace<[RESPValue]>
    private var replies: [RESPValue?]
    private var missing: Int

    /// - Parameters:
    ///   - count: The number of commands.
    ///   - race: Gets the replies, in the order of the commands, or the first failure.
    init(_ count: Int, _ race: DeadlineRace<[RESPValue]>) {
        replies = Array(repeating: nil, count: count)
        missing = count
        self.race = race
    }

    /// Whether nothing waits for replies any more.
    var isOver: Bool { race.isOver }

    /// Takes the end of the command at a place.
    func take(_ result: Result<RESPValue, TierError>, at place: Int) {
        guard !isOver else { return }
        switch result {
        case .failure(let error): race.end(.failure(error))
        case .success(let value):
            replies[place] = value
            missing -= 1
            if missing == 0 { race.end(.success(replies.compactMap(\.self))) }
        }
    }
}
#endif

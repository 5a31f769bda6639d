#if Redis
import NIOCore
import WaystationSharing

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
#endif

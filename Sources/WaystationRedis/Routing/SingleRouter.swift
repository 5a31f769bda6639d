#if Redis
import NIOCore
import WaystationStorage

/// Brings all commands to one server.
///
/// The address of the server may move to another one, as that of a service or a virtual address does after the primary
/// has failed. Connections to the old server may survive that, but as a replica it takes no changes. So after a refusal
/// for this reason, at most ten times a second, the router closes all connections and makes new ones.
final class SingleRouter: RedisRouter {
    /// The time between two attempts to find another server at the address.
    static let interval = TimeAmount.milliseconds(100)

    private let endpoint: RedisEndpoint
    private let connector: RedisConnector
    private let loop: any EventLoop
    private var node: RedisNode
    private var channels = ChannelConnections()
    private var nextLeaving = NIODeadline.uptimeNanoseconds(0)
    private var isClosed = false

    init(_ endpoint: RedisEndpoint, _ connector: RedisConnector, on loop: any EventLoop) {
        node = RedisNode(endpoint, connector, on: loop)
        self.endpoint = endpoint
        self.connector = connector
        self.loop = loop
    }

    func run(
        _ commands: [RedisCommand],
        until deadline: NIODeadline,
        _ completion: @escaping (Result<[RESPValue], TierError>) -> Void
    ) {
        node.run(commands, until: deadline) { [self, node] result in
            if case .success(let replies) = result { leave(node, after: replies) }
            completion(result.mapError(\.error).flatMap { Result($0) })
        }
    }

    func connect(for key: String, _ completion: @escaping (Result<RedisConnection, TierError>) -> Void) {
        connector.connect(to: endpoint, on: loop) { [self, node] result in
            if case .success(let connection) = result {
                guard !isClosed, self.node === node else {
                    let reason = isClosed ? .tierWasClosed : Self.becameReplica
                    connection.close(reason)
                    return completion(.failure(reason))
                }
                channels.add(connection)
            }
            completion(result)
        }
    }

    func check(_ key: String) {}

    func close() {
        isClosed = true
        node.close(.tierWasClosed)
        for channel in channels.takeAll() { channel.close(.tierWasClosed) }
    }

    /// Closes the connections to a server that is a replica by its replies.
    private func leave(_ left: RedisNode, after replies: [RESPValue]) {
        let refusals = replies.compactMap { if case .error(let text) = $0 { text } else { nil } }
        guard refusals.contains(where: ServerRole.isReplica), !isClosed, node === left, nextLeaving <= .now() else {
            return
        }
        nextLeaving = .now() + Self.interval
        node = RedisNode(endpoint, connector, on: loop)
        left.close(Self.becameReplica)
        for channel in channels.takeAll() { channel.close(Self.becameReplica) }
    }

    private static var becameReplica: TierError { TierError(.unreachable, "the server has become a replica") }
}
#endif

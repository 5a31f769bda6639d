#if Redis
import NIOCore
import WaystationSharing

/// Brings all commands to one server.
final class SingleRouter: RedisRouter {
    private let node: RedisNode
    private let connector: RedisConnector
    private let loop: any EventLoop

    init(_ endpoint: RedisEndpoint, _ connector: RedisConnector, on loop: any EventLoop) {
        node = RedisNode(endpoint, connector, on: loop)
        self.connector = connector
        self.loop = loop
    }

    func run(
        _ commands: [RedisCommand],
        until deadline: NIODeadline,
        _ completion: @escaping (Result<[RESPValue], TierError>) -> Void
    ) {
        node.run(commands, until: deadline) { completion($0.mapError(\.error).flatMap { Result($0) }) }
    }

    func connect(for key: String, _ completion: @escaping (Result<RedisConnection, TierError>) -> Void) {
        connector.connect(to: node.endpoint, on: loop, completion)
    }

    func check(_ key: String) {}

    func close() { node.close(.tierWasClosed) }
}
#endif

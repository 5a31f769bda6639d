#if Redis
import NIOCore
import WaystationStorage

/// Waits for the notice of one sentinel that a primary was replaced.
///
/// It is confined to its event loop.
final class SentinelWatch {
    /// The channel of the notices: the name of the primary, the old address, and the new one.
    private static let channel = "+switch-master"

    private let sentinel: RedisEndpoint
    private let master: String
    private let connector: RedisConnector
    private let loop: any EventLoop
    private let noticed: () -> Void
    private var backoff = Backoff()
    private var subscription: RedisSubscription?
    private var isClosed = false

    /// - Parameters:
    ///   - sentinel: The sentinel.
    ///   - master: The name of the primary.
    ///   - connector: Makes connections to sentinels.
    ///   - loop: The loop of the connection.
    ///   - noticed: Called when the primary was replaced, and when that may have been missed.
    init(
        _ sentinel: RedisEndpoint,
        master: String,
        _ connector: RedisConnector,
        on loop: any EventLoop,
        noticed: @escaping () -> Void
    ) {
        self.sentinel = sentinel
        self.master = master
        self.connector = connector
        self.loop = loop
        self.noticed = noticed
    }

    /// Connects, and again after each end of the connection, until the watch is closed.
    func begin() {
        guard !isClosed else { return }
        connector.connect(to: sentinel, on: loop) { [weak self] result in
            guard let self, !isClosed else {
                if case .success(let connection) = result { connection.close(.tierWasClosed) }
                return
            }
            switch result {
            case .success(let connection): follow(connection)
            case .failure: beginLater()
            }
        }
    }

    /// Ends the connection, and makes no other.
    func close() {
        isClosed = true
        subscription?.end()
        subscription = nil
    }

    private func follow(_ connection: RedisConnection) {
        let handlers = RedisSubscription.Handlers(
            confirmed: { [weak self] result in
                guard let self, case .success = result else { return }
                backoff.worked()
                noticed()
            },
            received: { [weak self] payload in
                if let self, String(buffer: payload).split(separator: " ").first.map(String.init) == master {
                    noticed()
                }
                return true
            },
            ended: { [weak self] _ in
                guard let self else { return }
                subscription = nil
                beginLater()
            }
        )
        let made = RedisSubscription(connection, Self.channel, handlers)
        subscription = made
        made.begin(on: loop, keepalive: TimeAmount(connector.options.keepaliveInterval))
    }

    private func beginLater() {
        guard !isClosed else { return }
        let end = backoff.failed(at: .now())
        loop.assumeIsolated().scheduleTask(deadline: end) { [weak self] in self?.begin() }
    }
}
#endif

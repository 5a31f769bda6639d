#if NIO
import NIOCore
import WaystationTransport

/// The heart of a transport: exchanges, pools and connections, confined to one event loop.
final class Engine {
    /// A connection that exchanges can use, and where it leads to.
    struct OpenConnection {
        var connection: any ExchangeConnection
        var origin: Origin
    }

    let loop: any EventLoop
    let settings: EngineSettings
    let parts: EngineParts
    let connector: Connector
    var exchanges: [ExchangeID: Exchange] = [:]
    var pools: [Origin: ConnectionPool] = [:]
    var connectionIDs = ConnectionID.Source()
    var connections: [ConnectionID: OpenConnection] = [:]
    var identities: [ObjectIdentifier: ConnectionID] = [:]
    var connects: [ConnectionID: ConnectAttempt] = [:]
    /// Connects that wait for a descriptor, in the order in which they failed to get one.
    var starved: [StarvedConnect] = []
    var idle: IdleConnections
    /// Origins that have refused a request over HTTP/2, and take HTTP/1.1 only.
    var http1Origins: Set<Origin> = []
    /// The report of a connection that is being made and has no identity yet.
    var earlyReport: EarlyReport?
    /// The actions that pools have returned and that wait to be carried out: one action can lead to others.
    var actions = CircularBuffer<(ConnectionPool.Action, Origin)>()
    var isPerforming = false
    var dirty: [Exchange] = []
    /// HTTP/1.1 connections that have finished an exchange in this turn of the loop, while others wait for one.
    var finished: [any ExchangeConnection] = []
    var wakeUp = WakeUp()
    var scheduledWakeUp: Scheduled<Void>?
    /// Whether the transport is gone, so that idle connections are of no use.
    var isRetired = false

    /// The number of origins that are remembered as taking HTTP/1.1 only.
    static let maximumHTTP1Origins = 1000

    struct EarlyReport {
        var capacity: Int?
        var isClosed = false
    }

    init(loop: any EventLoop, settings: EngineSettings, parts: EngineParts, connector: Connector) {
        self.loop = loop
        self.settings = settings
        self.parts = parts
        self.connector = connector
        idle = IdleConnections(limit: settings.limits.idleConnections, lifetime: settings.idleLifetime)
    }

    /// Carries out what an app asked for.
    func perform(_ command: Inbox.Command) {
        switch command {
        case .start(let order): start(order)
        case .refuse(let receiver, let error): receiver.transportDidEnd(error)
        case .cancel(let id): exchanges[id]?.cancel()
        case .pause(let id): exchanges[id]?.pause()
        case .resume(let id): exchanges[id]?.resume()
        case .retire: retire()
        }
    }

    private func start(_ order: ExchangeOrder) {
        reuseFinished()
        let exchange = Exchange(
            order,
            owner: self,
            loop: loop,
            limits: settings.limits,
            makeDecoder: parts.makeDecoder,
            now: .now()
        )
        exchanges[exchange.id] = exchange
        exchangeHasDeadline(exchange)
        withPool(exchange.origin) { $0.add(exchange.id, isFirst: false, ids: &$1) }
    }

    private func retire() {
        isRetired = true
        for connection in idle.removeAll() { close(connection) }
        restIfDone()
    }

    /// Gives up the wake-up when nothing can happen any more, because it would keep the engine in memory.
    func restIfDone() {
        guard isRetired, exchanges.isEmpty, connects.isEmpty, starved.isEmpty, connections.isEmpty else { return }
        scheduledWakeUp?.cancel()
        scheduledWakeUp = nil
        wakeUp.fired()
    }

    /// Lets the pool of an origin decide, and carries out what it decided.
    func withPool(
        _ origin: Origin,
        _ decide: (inout ConnectionPool, inout ConnectionID.Source) -> [ConnectionPool.Action]
    ) {
        var ids = connectionIDs
        let decided = decide(&pools[origin, default: ConnectionPool(limit: settings.connectionsPerHost)], &ids)
        connectionIDs = ids
        for action in decided { actions.append((action, origin)) }
        performActions()
        if let pool = pools[origin], pool.isEmpty { pools[origin] = nil }
    }

    private func performActions() {
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        while let (action, origin) = actions.popFirst() {
            switch action {
            case .connect(let id): connect(id, to: origin)
            case .abandon(let id):
                starved.removeAll { $0.id == id }
                guard let attempt = connects.removeValue(forKey: id) else { break }
                attempt.abandon()
                feedStarved()
            case .close(let id): close(id)
            case .fail(let id, let failure): exchanges[id]?.fail(failure)
            case .begin(let id, let connection, let isReused): begin(id, on: connection, isReused, origin)
            }
        }
    }

    private func begin(_ id: ExchangeID, on connection: ConnectionID, _ isReused: Bool, _ origin: Origin) {
        guard let open = connections[connection] else {
            // The connection was closed after the pool had chosen it.
            guard let exchange = exchanges[id], exchange.state.isQueued else { return }
            return withPool(origin) { $0.add(id, isFirst: true, ids: &$1) }
        }
        guard let exchange = exchanges[id], exchange.begin(on: connection, isReused: isReused) else {
            return withPool(origin) { $0.giveBack(connection, ids: &$1) }
        }
        idle.remove(connection)
        withPool(origin) { pool, _ in
            pool.begins(on: connection)
            return []
        }
        exchange.connection = open.connection
        open.connection.begin(exchange)
    }

    /// Closes a connection when it carries nothing.
    func close(_ id: ConnectionID) {
        guard let open = connections[id] else { return }
        pools[open.origin]?.retire(id)
        open.connection.closeWhenIdle()
    }
}
#endif

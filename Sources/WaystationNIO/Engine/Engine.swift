#if NIO
import NIOCore
import Waystation

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
    private var pools: [Origin: ConnectionPool] = [:]
    private var connectionIDs = ConnectionID.Source()
    var connections: [ConnectionID: OpenConnection] = [:]
    var identities: [ObjectIdentifier: ConnectionID] = [:]
    var connects: [ConnectionID: ConnectAttempt] = [:]
    /// Connects that wait for a descriptor, in the order in which they failed to get one.
    private var starved: [StarvedConnect] = []
    var idle: IdleConnections
    /// Origins that have refused a request over HTTP/2, and take HTTP/1.1 only.
    private var http1Origins: Set<Origin> = []
    /// The report of a connection that is being made and has no identity yet.
    private var earlyReport: EarlyReport?
    /// The actions that pools have returned and that wait to be carried out: one action can lead to others.
    var actions = CircularBuffer<(ConnectionPool.Action, Origin)>()
    private var isPerforming = false
    private var dirty: [Exchange] = []
    /// HTTP/1.1 connections that have finished an exchange in this turn of the loop, while others wait for one.
    var finished: [any ExchangeConnection] = []
    var wakeUp = WakeUp()
    private var scheduledWakeUp: Scheduled<Void>?
    /// Whether the transport is gone, so that idle connections are of no use.
    var isRetired = false

    /// The number of exchanges that a client of another library takes: it makes them wait itself.
    private static let unlimitedCapacity = 1 << 62
    /// The number of origins that are remembered as taking HTTP/1.1 only.
    private static let maximumHTTP1Origins = 1000

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
    private func restIfDone() {
        guard isRetired, exchanges.isEmpty, connects.isEmpty, starved.isEmpty, connections.isEmpty else { return }
        scheduledWakeUp?.cancel()
        scheduledWakeUp = nil
        wakeUp.fired()
    }

    /// Lets the pool of an origin decide, and carries out what it decided.
    private func withPool(
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

extension Engine {
    /// Makes sure that deadlines are looked at when this one passes.
    func wake(at deadline: NIODeadline?) {
        guard let deadline, let time = wakeUp.add(deadline, now: .now()) else { return }
        scheduledWakeUp?.cancel()
        scheduledWakeUp = loop.assumeIsolated().scheduleTask(deadline: time) { self.checkDeadlines() }
    }

    private func checkDeadlines() {
        scheduledWakeUp = nil
        wakeUp.fired()
        let now = NIODeadline.now()
        for exchange in exchanges.values { exchange.checkDeadline(now) }
        for attempt in connects.values where attempt.deadline <= now { attempt.timeOut() }
        for connection in idle.removeExpired(now) { close(connection) }
        let late = starved.filter { $0.deadline <= now }
        starved.removeAll { $0.deadline <= now }
        for connect in late { fail(connect) }
        let next = exchanges.values.compactMap(\.deadline) + connects.values.map(\.deadline) + starved.map(\.deadline)
        wake(at: (next + [idle.deadline].compactMap { $0 }).min())
    }
}

extension Engine: ExchangeOwner {
    func exchangeHasNews(_ exchange: Exchange) {
        guard !exchange.isDirty else { return }
        exchange.isDirty = true
        dirty.append(exchange)
        guard dirty.count == 1 else { return }
        loop.assumeIsolated().execute { self.deliver() }
    }

    /// Delivers what has arrived in this turn of the loop, for all exchanges.
    private func deliver() {
        reuseFinished()
        let due = dirty
        dirty = []
        DeliveryBatch.collect {
            for exchange in due {
                exchange.isDirty = false
                exchange.deliver()
            }
        }
    }

    func exchange(_ exchange: Exchange, mustLeave leave: ExchangeState.Leave) {
        switch leave {
        case .nothing: return
        case .leaveQueue: withPool(exchange.origin) { pool, _ in pool.remove(exchange.id) }
        case .leaveConnection(let id):
            let connection = exchange.connection
            exchange.connection = nil
            connection?.cancel(exchange)
            self.exchange(exchange, didEndOn: id)
        }
    }

    func exchange(_ exchange: Exchange, didEndOn connection: ConnectionID) {
        pools[exchange.origin]?.ended(on: connection)
        keepIfIdle(connection, exchange.origin)
    }

    func exchangeRequiresHTTP1(_ exchange: Exchange) -> Bool { requireHTTP1(of: exchange.origin) }

    /// Speaks HTTP/1.1 to an origin from now on, unless the options exclude it.
    ///
    /// - Parameter origin: The origin.
    /// - Returns: Whether new connections to the origin speak HTTP/1.1.
    func requireHTTP1(of origin: Origin) -> Bool {
        guard settings.httpVersions == .automatic else { return false }
        guard !http1Origins.contains(origin) else { return true }
        // Which one is forgotten does not matter: it is asked over HTTP/2 once more.
        if http1Origins.count >= Self.maximumHTTP1Origins { http1Origins.removeFirst() }
        http1Origins.insert(origin)
        withPool(origin) { $0.requiresHTTP1(ids: &$1) }
        return true
    }

    func exchangeMustRetry(_ exchange: Exchange, lostOn connection: ConnectionID?, after pause: TimeAmount) {
        parts.afterPause(pause, loop) {
            // Meanwhile, the exchange may have been cancelled, or its time may be over.
            guard exchange.state.isQueued else { return }
            self.retry(exchange, lostOn: connection)
        }
    }

    private func retry(_ exchange: Exchange, lostOn connection: ConnectionID?) {
        withPool(exchange.origin) { pool, ids in
            guard let connection else { return pool.add(exchange.id, isFirst: true, ids: &ids) }
            return pool.add(exchange.id, lostOn: connection, ids: &ids)
        }
    }

    func exchangeIsOver(_ exchange: Exchange) {
        exchanges[exchange.id] = nil
        restIfDone()
    }

    func exchangeHasDeadline(_ exchange: Exchange) { wake(at: exchange.deadline) }
}

extension Engine: ConnectionOwner {
    func connection(_ connection: any ExchangeConnection, canTake count: Int) {
        guard let id = identities[ObjectIdentifier(connection)], let origin = connections[id]?.origin else {
            earlyReport?.capacity = count
            return
        }
        withPool(origin) { $0.connection(id, canTake: count, ids: &$1) }
        keepIfIdle(id, origin)
    }

    /// Gives the connection to an exchange that waits, but only when this turn of the loop has read all that is there.
    ///
    /// A server may close the connection with its response. If both have arrived, the next request must not be sent, since
    /// it would be lost: a POST could not be sent again.
    func connectionDidFinish(_ connection: any ExchangeConnection) {
        guard let id = identities[ObjectIdentifier(connection)], let origin = connections[id]?.origin,
            pools[origin]?.hasWaiting == true
        else { return self.connection(connection, canTake: 1) }
        finished.append(connection)
        // The delivery of the response that has just ended begins with this, so that it costs no task of its own.
        guard dirty.isEmpty, finished.count == 1 else { return }
        loop.assumeIsolated().execute { self.reuseFinished() }
    }

    /// Gives the connections that have finished an exchange, and are still open, to those that wait.
    func reuseFinished() {
        guard !finished.isEmpty else { return }
        let due = finished
        finished = []
        for connection in due { self.connection(connection, canTake: 1) }
    }

    func connectionTakesNoMore(_ connection: any ExchangeConnection) {
        guard let id = identities[ObjectIdentifier(connection)], let origin = connections[id]?.origin else { return }
        withPool(origin) { $0.drains(id, ids: &$1) }
    }

    func connectionRequiresHTTP1(_ connection: any ExchangeConnection) -> Bool {
        let id = identities[ObjectIdentifier(connection)]
        guard let id, let origin = connections[id]?.origin else { return false }
        return requireHTTP1(of: origin)
    }

    func connectionDidClose(_ connection: any ExchangeConnection) {
        guard let id = identities.removeValue(forKey: ObjectIdentifier(connection)) else {
            earlyReport?.isClosed = true
            return
        }
        idle.remove(id)
        guard let open = connections.removeValue(forKey: id) else { return }
        withPool(open.origin) { $0.closed(id, ids: &$1) }
        feedStarved()
        restIfDone()
    }

    /// Keeps a connection without exchanges for a while, or closes it.
    func keepIfIdle(_ id: ConnectionID, _ origin: Origin) {
        guard pools[origin]?.isIdle(id) == true else { return }
        guard !isRetired, starved.isEmpty else { return close(id) }
        if let surplus = idle.add(id, now: .now()) { close(surplus) }
        wake(at: idle.deadline)
    }

    func connect(_ id: ConnectionID, to origin: Origin) {
        if let make = parts.makeClientConnection {
            let report = EarlyReport(capacity: Self.unlimitedCapacity)
            let made = MadeConnection(connection: make(origin, self, loop), isMultiplexed: true, report: report)
            return connected(id, made, origin)
        }
        connect(id, to: origin, before: .now() + settings.connectTimeout)
    }

    private func connect(
        _ id: ConnectionID,
        to origin: Origin,
        before deadline: NIODeadline,
        sparesReserve: Bool = true
    ) {
        let attempt = connector.connect(
            to: origin,
            offersOnlyHTTP1: http1Origins.contains(origin),
            sparing: sparesReserve ? parts.isReserved : nil,
            deadline: deadline
        ) { channel, version in
            try self.makeConnection(on: channel, version)
        } completion: { result in
            guard self.connects.removeValue(forKey: id) != nil else { return }
            switch result {
            case .success(let made): self.connected(id, made, origin)
            case .failure(let failure):
                let connect = StarvedConnect(id: id, origin: origin, deadline: deadline, failure: failure)
                guard failure.lacksDescriptors else {
                    self.fail(connect)
                    return self.feedStarved()
                }
                guard !self.awaitDescriptor(connect) else { return }
                // No other connection will leave its descriptor, so the last ones are used.
                guard sparesReserve, deadline > .now() else { return self.fail(connect) }
                self.connect(id, to: origin, before: deadline, sparesReserve: false)
            }
        }
        connects[id] = attempt
        wake(at: attempt.deadline)
    }

    // MARK: Descriptors

    /// A connect that found no descriptor.
    struct StarvedConnect {
        var id: ConnectionID
        var origin: Origin
        var deadline: NIODeadline
        var failure: TransportFailure
    }

    /// Lets a connect wait for the descriptor of another connection: of an idle one, which is closed for it, or else of the
    /// next one that is of no more use.
    ///
    /// - Returns: False if there is no other connection.
    private func awaitDescriptor(_ connect: StarvedConnect) -> Bool {
        guard connect.deadline > .now(), !connections.isEmpty || !connects.isEmpty else { return false }
        starved.append(connect)
        wake(at: connect.deadline)
        if let surplus = idle.removeOldest() { close(surplus) }
        return true
    }

    /// A descriptor is free: the connect that has waited longest tries again.
    func feedStarved() {
        guard !starved.isEmpty else { return }
        let connect = starved.removeFirst()
        self.connect(connect.id, to: connect.origin, before: connect.deadline)
    }

    func fail(_ connect: StarvedConnect) {
        withPool(connect.origin) { pool, _ in pool.connectFailed(connect.id, connect.failure) }
    }

    /// A connection that was just made, and what it has reported so far.
    struct MadeConnection {
        var connection: any ExchangeConnection
        var isMultiplexed: Bool
        var report: EarlyReport
    }

    private func makeConnection(on channel: any Channel, _ version: Connector.Version) throws -> MadeConnection {
        earlyReport = EarlyReport()
        defer { earlyReport = nil }
        let connection: any ExchangeConnection
        if version == .http2, let make = parts.makeHTTP2Connection {
            connection = try make(channel, self, settings.limits)
        } else {
            connection = try HTTP1Connection.make(
                channel: channel,
                owner: self,
                limits: settings.limits,
                continueTimeout: settings.continueTimeout
            )
        }
        return MadeConnection(
            connection: connection,
            isMultiplexed: version == .http2,
            report: earlyReport ?? EarlyReport()
        )
    }

    private func connected(_ id: ConnectionID, _ made: MadeConnection, _ origin: Origin) {
        guard !made.report.isClosed else {
            let failure = TransportFailure(
                .networkConnectionLost,
                "The server closed a new connection at once. Try again."
            )
            withPool(origin) { pool, _ in pool.connectFailed(id, failure) }
            return feedStarved()
        }
        connections[id] = OpenConnection(connection: made.connection, origin: origin)
        identities[ObjectIdentifier(made.connection)] = id
        withPool(origin) { pool, ids in
            pool.connected(id, isMultiplexed: made.isMultiplexed)
                + pool.connection(id, canTake: made.report.capacity ?? 0, ids: &ids)
        }
        keepIfIdle(id, origin)
    }
}
#endif

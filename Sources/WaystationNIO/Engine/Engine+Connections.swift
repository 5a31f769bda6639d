#if NIO
import NIOCore

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

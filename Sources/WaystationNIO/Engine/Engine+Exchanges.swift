#if NIO
import NIOCore
import WaystationTransport

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
#endif

#if NIO
import NIOCore

/// The connections to one origin and the exchanges that wait for one, as a state machine without side effects.
///
/// At most `limit` connections exist or are being made, as many as `httpMaximumConnectionsPerHost` allows. Exchanges
/// wait in the order in which they came. The connection that was used last is used next, so that the others can grow
/// old. Once a connection turns out to be HTTP/2, the waiting exchanges move to it, the connects in flight are given
/// up, and a second connection is made only when the first one is full.
struct ConnectionPool {
    enum Action: Equatable {
        case connect(ConnectionID)
        /// The connect in flight is not needed any more.
        case abandon(ConnectionID)
        case begin(ExchangeID, on: ConnectionID, isReused: Bool)
        case fail(ExchangeID, TransportFailure)
    }

    private struct Connection {
        /// The number of exchanges that it can take in addition to those promised to it.
        var free = 0
        /// The number of exchanges that were given to it, whose `begin` has not been carried out.
        var promised = 0
        /// The number of exchanges given to it that have not ended.
        var running = 0
        var hasServed = false
        var isRetired = false
    }

    private let limit: Int
    private var waiting = CircularBuffer<ExchangeID>()
    private var connecting: Set<ConnectionID> = []
    private var open: [ConnectionID: Connection] = [:]
    /// Connections that can take an exchange; the one that was used last is at the end.
    private var available: [ConnectionID] = []
    /// Whether the origin's last connection was HTTP/2.
    private var isMultiplexed = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// Whether there is nothing to remember.
    var isEmpty: Bool { waiting.isEmpty && connecting.isEmpty && open.isEmpty }

    /// Whether a connection carries no exchange and may be kept for the next one.
    func isIdle(_ connection: ConnectionID) -> Bool {
        guard let entry = open[connection] else { return false }
        return entry.running == 0 && !entry.isRetired
    }

    /// An exchange needs a connection.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - isFirst: Whether it goes ahead of the others, because it has waited before.
    ///   - ids: Yields identities for new connections.
    /// - Returns: The actions to carry out.
    mutating func add(_ exchange: ExchangeID, isFirst: Bool, ids: inout ConnectionID.Source) -> [Action] {
        if isFirst { waiting.prepend(exchange) } else { waiting.append(exchange) }
        return assign() + connectIfNeeded(&ids)
    }

    /// A waiting exchange was cancelled or has failed.
    mutating func remove(_ exchange: ExchangeID) -> [Action] {
        guard let index = waiting.firstIndex(of: exchange) else { return [] }
        waiting.remove(at: index)
        // No exchange waits for the surplus connects, and a cancelled load must not continue to connect.
        var actions: [Action] = []
        while connecting.count > waiting.count, let connection = connecting.first {
            connecting.remove(connection)
            actions.append(.abandon(connection))
        }
        return actions
    }

    /// A connect succeeded.
    ///
    /// The connection reports what it can take itself.
    mutating func connected(_ connection: ConnectionID, isMultiplexed: Bool) -> [Action] {
        connecting.remove(connection)
        open[connection] = Connection()
        self.isMultiplexed = isMultiplexed
        guard isMultiplexed else { return [] }
        defer { connecting = [] }
        return connecting.map { .abandon($0) }
    }

    /// A connect failed.
    ///
    /// The waiting exchanges fail only if no other connection can serve them.
    mutating func connectFailed(_ connection: ConnectionID, _ failure: TransportFailure) -> [Action] {
        guard connecting.remove(connection) != nil, connecting.isEmpty, open.values.allSatisfy(\.isRetired) else {
            return []
        }
        defer { waiting.removeAll() }
        return waiting.map { .fail($0, failure) }
    }

    /// A connection reports the number of further exchanges that it can take now.
    mutating func connection(
        _ connection: ConnectionID,
        canTake count: Int,
        ids: inout ConnectionID.Source
    ) -> [Action] {
        guard var entry = open[connection], !entry.isRetired else { return [] }
        entry.free = max(0, count - entry.promised)
        open[connection] = entry
        available.removeAll { $0 == connection }
        if entry.free > 0 { available.append(connection) }
        return assign() + connectIfNeeded(&ids)
    }

    /// The `begin` of an exchange is carried out next.
    mutating func begins(on connection: ConnectionID) {
        guard let promised = open[connection]?.promised else { return }
        open[connection]?.promised = max(0, promised - 1)
    }

    /// The exchange of a `begin` is gone; its place is free again.
    mutating func giveBack(_ connection: ConnectionID, ids: inout ConnectionID.Source) -> [Action] {
        guard let entry = open[connection] else { return [] }
        ended(on: connection)
        begins(on: connection)
        return self.connection(connection, canTake: entry.free + entry.promised, ids: &ids)
    }

    /// An exchange has left its connection.
    mutating func ended(on connection: ConnectionID) {
        guard let running = open[connection]?.running else { return }
        open[connection]?.running = max(0, running - 1)
    }

    /// A connection is given no exchanges any more.
    mutating func retire(_ connection: ConnectionID) {
        open[connection]?.isRetired = true
        available.removeAll { $0 == connection }
    }

    /// A connection is given no exchanges any more; another one takes its place.
    mutating func drains(_ connection: ConnectionID, ids: inout ConnectionID.Source) -> [Action] {
        retire(connection)
        return connectIfNeeded(&ids)
    }

    /// A connection was closed.
    mutating func closed(_ connection: ConnectionID, ids: inout ConnectionID.Source) -> [Action] {
        open[connection] = nil
        available.removeAll { $0 == connection }
        return connectIfNeeded(&ids)
    }

    private mutating func assign() -> [Action] {
        var actions: [Action] = []
        while let connection = available.last, var entry = open[connection], let exchange = waiting.popFirst() {
            actions.append(.begin(exchange, on: connection, isReused: entry.hasServed))
            entry.hasServed = true
            entry.free -= 1
            entry.promised += 1
            entry.running += 1
            open[connection] = entry
            if entry.free <= 0 { available.removeLast() }
        }
        return actions
    }

    private mutating func connectIfNeeded(_ ids: inout ConnectionID.Source) -> [Action] {
        let room = limit - open.values.count { !$0.isRetired } - connecting.count
        let wanted = isMultiplexed ? min(waiting.count, 1) - connecting.count : waiting.count - connecting.count
        guard room > 0, wanted > 0 else { return [] }
        return (0..<min(room, wanted)).map { _ in
            let connection = ids.next()
            connecting.insert(connection)
            return .connect(connection)
        }
    }
}
#endif

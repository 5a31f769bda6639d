#if NIO
import NIOCore

/// The connections to one origin and the exchanges that wait for one, as a state machine without side effects.
///
/// At most `limit` connections exist or are being made, as many as `httpMaximumConnectionsPerHost` allows. Exchanges
/// wait in the order in which they came. The connection that was used last is used next, so that the others can grow
/// old. Once a connection turns out to be HTTP/2, the waiting exchanges move to it, the connects in flight are given up,
/// and a second connection is made only when the first one is full.
///
/// An exchange whose HTTP/1.1 connection was dropped before an answer is sent again on a new one, because a server that
/// closes each connection after its response would drop it on each that has served. So it also waits for a connect
/// while others are idle.
struct ConnectionPool {
    enum Action: Equatable {
        case connect(ConnectionID)
        /// The connect in flight is not needed any more.
        case abandon(ConnectionID)
        /// The connection is of no more use after the exchanges that it carries.
        case close(ConnectionID)
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
        var isMultiplexed = false

        /// Whether it can carry an exchange whose HTTP/1.1 connection was dropped.
        var takesDropped: Bool { isMultiplexed || !hasServed }
    }

    private let limit: Int
    private var waiting = CircularBuffer<ExchangeID>()
    /// Exchanges that wait for a new connection, ahead of the others, because theirs was dropped before an answer.
    private var dropped = CircularBuffer<ExchangeID>()
    private var connecting: Set<ConnectionID> = []
    private var open: [ConnectionID: Connection] = [:]
    /// Connections that can take an exchange; the one that was used last is at the end.
    private var available: [ConnectionID] = []
    /// Whether the origin's last connection was HTTP/2.
    private var isMultiplexed = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// Whether there is nothing to remember.
    var isEmpty: Bool { !hasWaiting && connecting.isEmpty && open.isEmpty }

    /// Whether exchanges wait for a connection.
    var hasWaiting: Bool { !waiting.isEmpty || !dropped.isEmpty }

    private var waitingCount: Int { waiting.count + dropped.count }

    /// The number of connections that may be made.
    private var room: Int { limit - open.values.count { !$0.isRetired } - connecting.count }

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

    /// An exchange must be sent again, because its connection was lost before an answer.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - connection: The connection that was lost. Of an HTTP/2 connection that is still there, only the stream was.
    ///   - ids: Yields identities for new connections.
    /// - Returns: The actions to carry out.
    mutating func add(
        _ exchange: ExchangeID,
        lostOn connection: ConnectionID,
        ids: inout ConnectionID.Source
    ) -> [Action] {
        guard open[connection]?.isMultiplexed != true else { return add(exchange, isFirst: true, ids: &ids) }
        retire(connection)
        dropped.append(exchange)
        return assign() + connectIfNeeded(&ids)
    }

    /// A waiting exchange was cancelled or has failed.
    mutating func remove(_ exchange: ExchangeID) -> [Action] {
        if let index = waiting.firstIndex(of: exchange) {
            waiting.remove(at: index)
        } else if let index = dropped.firstIndex(of: exchange) {
            dropped.remove(at: index)
        } else {
            return []
        }
        // No exchange waits for the surplus connects, and a cancelled load must not continue to connect.
        var actions: [Action] = []
        while connecting.count > waitingCount, let connection = connecting.first {
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
        open[connection] = Connection(isMultiplexed: isMultiplexed)
        self.isMultiplexed = isMultiplexed
        guard isMultiplexed else { return [] }
        defer { connecting = [] }
        return connecting.map { .abandon($0) }
    }

    /// A connect failed.
    ///
    /// The waiting exchanges fail only if no other connection can serve them.
    mutating func connectFailed(_ connection: ConnectionID, _ failure: TransportFailure) -> [Action] {
        guard connecting.remove(connection) != nil, connecting.isEmpty else { return [] }
        allowAnyConnection()
        guard open.values.allSatisfy(\.isRetired) else { return assign() }
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

    /// The server takes requests over HTTP/1.1 only, and new connections use HTTP/1.1: they take the place of all others.
    mutating func requiresHTTP1(ids: inout ConnectionID.Source) -> [Action] {
        isMultiplexed = false
        var actions = connecting.map { Action.abandon($0) }
        connecting = []
        for (connection, entry) in open where entry.isMultiplexed && !entry.isRetired {
            retire(connection)
            actions.append(.close(connection))
        }
        return actions + connectIfNeeded(&ids)
    }

    /// A connection was closed.
    mutating func closed(_ connection: ConnectionID, ids: inout ConnectionID.Source) -> [Action] {
        open[connection] = nil
        available.removeAll { $0 == connection }
        return connectIfNeeded(&ids)
    }

    private mutating func assign() -> [Action] {
        var actions = dropped.isEmpty ? [] : assignDropped()
        while let connection = available.last, let entry = open[connection], let exchange = waiting.popFirst() {
            begin(exchange, on: connection, entry, &actions)
        }
        return actions
    }

    private mutating func assignDropped() -> [Action] {
        var actions: [Action] = []
        for connection in available.reversed() {
            while let entry = open[connection], entry.takesDropped, entry.free > 0, let exchange = dropped.popFirst() {
                begin(exchange, on: connection, entry, &actions)
            }
        }
        if connecting.isEmpty, room <= 0 { allowAnyConnection() }
        return actions
    }

    /// No new connection can be made for the exchanges whose connection was dropped: they take any.
    private mutating func allowAnyConnection() {
        while let exchange = dropped.popLast() { waiting.prepend(exchange) }
    }

    private mutating func begin(
        _ exchange: ExchangeID,
        on connection: ConnectionID,
        _ entry: Connection,
        _ actions: inout [Action]
    ) {
        var entry = entry
        actions.append(.begin(exchange, on: connection, isReused: entry.hasServed))
        entry.hasServed = true
        entry.free -= 1
        entry.promised += 1
        entry.running += 1
        open[connection] = entry
        if entry.free <= 0 { available.removeAll { $0 == connection } }
    }

    private mutating func connectIfNeeded(_ ids: inout ConnectionID.Source) -> [Action] {
        let room = room
        let wanted = (isMultiplexed ? min(waitingCount, 1) : waitingCount) - connecting.count
        guard room > 0, wanted > 0 else { return [] }
        return (0..<min(room, wanted)).map { _ in
            let connection = ids.next()
            connecting.insert(connection)
            return .connect(connection)
        }
    }
}

/// The idle connections of a transport, oldest first.
struct IdleConnections {
    private let limit: Int
    private let lifetime: TimeAmount
    private var entries: [(connection: ConnectionID, since: NIODeadline)] = []

    init(limit: Int, lifetime: TimeAmount) {
        self.limit = max(0, limit)
        self.lifetime = lifetime
    }

    /// Records that a connection became idle.
    ///
    /// - Returns: The connection to close, because more are idle than may be kept.
    mutating func add(_ connection: ConnectionID, now: NIODeadline) -> ConnectionID? {
        remove(connection)
        entries.append((connection, now))
        return entries.count > limit ? entries.removeFirst().connection : nil
    }

    /// Records that a connection is used or closed.
    mutating func remove(_ connection: ConnectionID) {
        entries.removeAll { $0.connection == connection }
    }

    /// Takes out the one that has been idle for longest.
    mutating func removeOldest() -> ConnectionID? { entries.isEmpty ? nil : entries.removeFirst().connection }

    /// Takes out the connections that have been idle for too long.
    mutating func removeExpired(_ now: NIODeadline) -> [ConnectionID] {
        let count = entries.prefix { $0.since + lifetime <= now }.count
        defer { entries.removeFirst(count) }
        return entries.prefix(count).map(\.connection)
    }

    /// Takes out all.
    mutating func removeAll() -> [ConnectionID] {
        defer { entries = [] }
        return entries.map(\.connection)
    }

    /// The time at which the next one has been idle for too long.
    var deadline: NIODeadline? { entries.first.map { $0.since + lifetime } }
}
#endif

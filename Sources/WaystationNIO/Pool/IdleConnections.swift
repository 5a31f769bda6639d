#if NIO
import NIOCore

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

#if Redis
/// The connections of channels to one server, as long as their readers keep them.
struct ChannelConnections {
    private struct Place {
        weak var connection: RedisConnection?
    }

    private var places: [Place] = []

    mutating func add(_ connection: RedisConnection) {
        places.removeAll { $0.connection == nil }
        places.append(Place(connection: connection))
    }

    /// Takes out all connections.
    mutating func takeAll() -> [RedisConnection] {
        defer { places = [] }
        return places.compactMap(\.connection)
    }
}
#endif

#if Redis
/// The servers of a cluster, and the slots that each of them has.
struct ClusterTopology: Equatable, Sendable {
    /// A run of slots, and its servers.
    struct Shard: Equatable, Sendable {
        let slots: ClosedRange<Int>
        let primary: RedisEndpoint
        let replicas: [RedisEndpoint]
    }

    private static let unowned = UInt16.max

    /// All primaries, each once.
    private(set) var primaries: [RedisEndpoint] = []
    /// All replicas.
    let replicas: [RedisEndpoint]
    /// The host names of servers whose addresses are used, for their certificates.
    let names: [RedisEndpoint: String]
    /// The index of each slot's primary in ``primaries``.
    private var owners = [UInt16](repeating: unowned, count: HashSlot.count)

    init(_ shards: [Shard], names: [RedisEndpoint: String] = [:]) {
        replicas = shards.flatMap(\.replicas)
        self.names = names
        for shard in shards {
            let index = index(of: shard.primary)
            for slot in shard.slots { owners[slot] = index }
        }
    }

    /// The primary of a slot; nil if the slot has none.
    func owner(of slot: HashSlot) -> RedisEndpoint? {
        let index = owners[slot.number]
        return index == Self.unowned ? nil : primaries[Int(index)]
    }

    /// All servers, the primaries first.
    var servers: [RedisEndpoint] { primaries + replicas }

    /// Gives a slot to a server, as a server has reported.
    mutating func move(_ slot: HashSlot, to endpoint: RedisEndpoint) { owners[slot.number] = index(of: endpoint) }

    private mutating func index(of endpoint: RedisEndpoint) -> UInt16 {
        if let index = primaries.firstIndex(of: endpoint) { return UInt16(index) }
        // A cluster has at most as many primaries as slots; a server that names more of them has no further slots.
        guard primaries.count < HashSlot.count else { return Self.unowned }
        primaries.append(endpoint)
        return UInt16(primaries.count - 1)
    }
}
#endif

#if Redis
import WaystationStorage

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

extension ClusterTopology {
    /// Reads the reply to `CLUSTER SLOTS`: for each run of slots the first and the last one, the primary, and the
    /// replicas.
    ///
    /// A server is its preferred endpoint, its port and its identifier, and since Redis 7 further addresses. The endpoint
    /// is null or empty if the server that was asked does not know it: then it is the address that was used. It is `?`
    /// if the server has no host name and should have one: then the further addresses count.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - sender: The host of the server that sent it.
    /// - Throws: A ``TierError`` when the reply is another one.
    init(_ reply: RESPValue, from sender: String) throws(TierError) {
        if case .error(let text) = reply { throw TierError(refusal: text) }
        guard let runs = reply.elements, runs.count <= HashSlot.count else { throw Self.malformed }
        var shards: [Shard] = []
        var names: [RedisEndpoint: String] = [:]
        for run in runs {
            guard let parts = run.elements, parts.count >= 3,
                let first = parts[0].integer.flatMap(HashSlot.init), let last = parts[1].integer.flatMap(HashSlot.init),
                first.number <= last.number
            else { throw Self.malformed }
            var servers: [RedisEndpoint?] = []
            for part in parts.dropFirst(2) {
                let server = try Server(part, from: sender)
                servers.append(server.endpoint)
                if let endpoint = server.endpoint, let name = server.name { names[endpoint] = name }
            }
            // Without an address of its primary, a slot has no owner.
            guard let primary = servers[0] else { continue }
            shards.append(
                Shard(
                    slots: first.number...last.number,
                    primary: primary,
                    replicas: servers.dropFirst().compactMap(\.self)
                )
            )
        }
        self.init(shards, names: names)
    }

    private static var malformed: TierError {
        TierError(.malformed, "Redis sent something else than the slots of a cluster")
    }

    /// One server of a reply.
    private struct Server {
        /// Nil if it has no address.
        let endpoint: RedisEndpoint?
        /// The host name, if it is not the endpoint's host.
        let name: String?

        init(_ reply: RESPValue, from sender: String) throws(TierError) {
            guard let parts = reply.elements, parts.count >= 2, let port = parts[1].integer,
                (0...65_535).contains(port)
            else { throw ClusterTopology.malformed }
            let further = parts.count > 3 ? parts[3].elements ?? [] : []
            let addresses = stride(from: 0, to: further.count - 1, by: 2).reduce(into: [String: String]()) {
                if let key = further[$1].string, let value = further[$1 + 1].string, !value.isEmpty { $0[key] = value }
            }
            let host: String?
            switch parts[0].string {
            case nil, "": host = sender
            case "?": host = addresses["ip"]
            case let preferred: host = preferred
            }
            // The port is 0 if the server does not listen for this kind of connection.
            endpoint = port == 0 ? nil : host.map { RedisEndpoint(host: $0, port: port) }
            name = addresses["hostname"].flatMap { $0 == host ? nil : $0 }
        }
    }
}

/// One of the slots among which a cluster divides its keys
/// (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/).
struct HashSlot: Hashable, Sendable {
    /// The number of slots of every cluster.
    static let count = 16_384

    /// The number of the slot, less than ``count``.
    let number: Int

    /// Nil if there is no slot with this number.
    init?(_ number: Int) {
        guard (0..<Self.count).contains(number) else { return nil }
        self.number = number
    }

    /// The slot of a key: the checksum of its hash tag, or of the whole key if it has none.
    init(of key: String) {
        number = Int(Self.checksum(Self.hashed(Array(key.utf8)[...]))) % Self.count
    }

    /// The part between the first `{` and the first `}` after it; the whole key if either is missing, or nothing
    /// stands between them.
    private static func hashed(_ key: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")) else { return key }
        let rest = key[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return key }
        return rest[..<close]
    }

    /// CRC-16/XMODEM: the polynomial 0x1021, the highest bit first, beginning with 0.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { $0 << 8 ^ table[Int($0 >> 8 ^ UInt16($1))] }
    }

    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { rest, _ in rest & 0x8000 == 0 ? rest << 1 : rest << 1 ^ 0x1021 }
    }
}
#endif

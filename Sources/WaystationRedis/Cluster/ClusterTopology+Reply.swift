#if Redis
import WaystationSharing

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
#endif

import Foundation

/// A private Redis Cluster on loopback: three primaries, and a replica for each of them.
public struct RedisCluster: Sendable {
    /// The first slot of each primary, and the number of all slots.
    private static let bounds = [0, 5_461, 10_923, 16_384]

    /// The primaries, which have a third of the slots each.
    public let primaries: [RedisServer]
    /// The replicas, in the order of their primaries.
    public let replicas: [RedisServer]

    /// Starts the servers, and waits until they know each other and the replicas have connected.
    ///
    /// A server that does not answer for a minute is replaced by its replica; ``failOver(after:)`` makes that sooner.
    ///
    /// - Parameters:
    ///   - certificates: If it is not nil, the servers speak TLS only.
    ///   - name: The name of the certificate.
    ///   - directives: Further lines of each configuration.
    /// - Throws: ``ServerProcess/Failure`` when a server does not start, or the cluster is not complete in time.
    public init(certificates: Certificates? = nil, named name: String = "address", directives: String = "") throws {
        var started: [RedisServer] = []
        do {
            for _ in 0..<6 {
                let timing = """
                    cluster-node-timeout 1000
                    cluster-replica-no-failover yes
                    cluster-replica-validity-factor 0
                    repl-ping-replica-period 1
                    """
                started.append(
                    try RedisServer(
                        .cluster,
                        certificates: certificates,
                        named: name,
                        directives: timing + "\n" + directives
                    )
                )
            }
            primaries = Array(started[..<3])
            replicas = Array(started[3...])
            try join()
        } catch {
            for server in started { server.stop() }
            throw error
        }
    }

    /// All servers.
    public var servers: [RedisServer] { primaries + replicas }

    /// The URLs of all servers.
    public var urls: [String] { servers.map { "redis://127.0.0.1:\($0.port)" } }

    /// The primary that had a slot at first.
    public func primary(of slot: Int) -> RedisServer? {
        zip(primaries, Self.bounds.dropFirst()).first { slot < $1 }?.0
    }

    /// Stops all servers.
    public func stop() { for server in servers { server.stop() } }

    /// Sets the time after which a server that does not answer is replaced by its replica.
    public func failOver(after milliseconds: Int) throws {
        for server in servers { try server.run("CONFIG", "SET", "cluster-node-timeout", "\(milliseconds)") }
    }

    /// Begins to move a slot between two primaries: values that the first one does not have are now asked for at the
    /// second one.
    public func beginMove(of slot: Int, from source: RedisServer, to target: RedisServer) throws {
        try target.run("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", source.run("CLUSTER", "MYID"))
        try source.run("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", target.run("CLUSTER", "MYID"))
    }

    /// Moves the values of a slot.
    public func moveValues(of slot: Int, from source: RedisServer, to target: RedisServer) throws {
        while true {
            let keys = try source.run("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(separator: "\n").map(
                String.init
            )
            if keys.isEmpty { return }
            try source.run(["MIGRATE", "127.0.0.1", "\(target.port)", "", "0", "60000", "KEYS"] + keys)
        }
    }

    /// Gives a slot whose values were moved to its new primary.
    public func endMove(of slot: Int, from source: RedisServer, to target: RedisServer) throws {
        let identifier = try target.run("CLUSTER", "MYID")
        for server in [target, source] { try server.run("CLUSTER", "SETSLOT", "\(slot)", "NODE", identifier) }
    }

    private func join() throws {
        for (index, server) in servers.enumerated() {
            try server.run("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
            if index < 3 {
                try server.run("CLUSTER", "ADDSLOTSRANGE", "\(Self.bounds[index])", "\(Self.bounds[index + 1] - 1)")
            }
        }
        let first = servers[0]
        for server in servers.dropFirst() {
            let bus = try server.run("CONFIG", "GET", "cluster-port").split(separator: "\n").last.map(String.init) ?? ""
            try first.run("CLUSTER", "MEET", "127.0.0.1", "\(server.port)", bus)
        }
        try wait("the servers know each other") {
            try servers.allSatisfy { server in
                let nodes = try server.run("CLUSTER", "NODES").split(separator: "\n")
                return nodes.count == servers.count && !nodes.contains { $0.contains("handshake") }
            }
        }
        for (primary, replica) in zip(primaries, replicas) {
            try replica.run("CLUSTER", "REPLICATE", primary.run("CLUSTER", "MYID"))
        }
        try wait("the replicas follow their primaries") {
            try primaries.allSatisfy { try $0.run("INFO", "replication").contains("state=online") }
                && servers.allSatisfy { server in
                    try server.run("CLUSTER", "INFO").contains("cluster_state:ok")
                        && server.run("CLUSTER", "NODES").split(separator: "\n").count { $0.contains("slave") } == 3
                }
        }
        // Servers that are seldom asked whether they still live are not given up on a busy machine.
        for server in servers {
            try server.run("CONFIG", "SET", "cluster-node-timeout", "60000", "cluster-replica-no-failover", "no")
        }
    }

    private func wait(_ state: String, until condition: () throws -> Bool) throws {
        for _ in 0..<3_000 {
            if try condition() { return }
            usleep(20_000)
        }
        throw ServerProcess.Failure(description: "a Redis Cluster did not get ready: not \(state)")
    }
}

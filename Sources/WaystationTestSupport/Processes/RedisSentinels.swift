import Foundation

/// A private Redis server with a replica, and three sentinels that watch over them by the name `cache`, on loopback.
public struct RedisSentinels: Sendable {
    /// The name by which the sentinels know the primary.
    public static let name = "cache"

    /// The first primary.
    public let primary: RedisServer
    /// Its replica.
    public let replica: RedisServer
    /// The sentinels.
    public let sentinels: [RedisServer]

    /// Starts the servers, and waits until the sentinels know each other and the replica.
    ///
    /// A primary that does not answer for ten minutes is replaced; ``failOver(after:)`` makes that sooner.
    ///
    /// - Throws: ``ServerProcess/Failure`` when a server does not start, or the servers do not find each other in time.
    public init() throws {
        var started: [RedisServer] = []
        do {
            let primary = try RedisServer()
            started.append(primary)
            replica = try RedisServer(directives: "replicaof 127.0.0.1 \(primary.port)")
            started.append(replica)
            self.primary = primary
            // The sentinels look for replicas when they start, and then seldom.
            try Self.wait { try primary.run("INFO", "replication").contains("state=online") }
            for _ in 0..<3 {
                let sentinel = try RedisServer(
                    .sentinel,
                    directives: """
                        sentinel monitor \(Self.name) 127.0.0.1 \(primary.port) 2
                        sentinel down-after-milliseconds \(Self.name) 600000
                        sentinel failover-timeout \(Self.name) 2000
                        """
                )
                started.append(sentinel)
            }
            sentinels = Array(started[2...])
            try waitForAcquaintance()
        } catch {
            for server in started { server.stop() }
            throw error
        }
    }

    /// The URLs of the sentinels.
    public var urls: [String] { sentinels.map { "redis://127.0.0.1:\($0.port)" } }

    /// Stops all servers.
    public func stop() { for server in [primary, replica] + sentinels { server.stop() } }

    /// Sets the time after which a primary that does not answer is replaced.
    public func failOver(after milliseconds: Int) throws {
        for sentinel in sentinels {
            try sentinel.run("SENTINEL", "SET", Self.name, "down-after-milliseconds", "\(milliseconds)")
        }
    }

    private func waitForAcquaintance() throws {
        try Self.wait {
            try sentinels.allSatisfy { sentinel in
                try sentinel.run("SENTINEL", "MASTER", Self.name).contains("num-other-sentinels\n2")
                    && sentinel.run("SENTINEL", "REPLICAS", Self.name).contains("master-link-status\nok")
            }
        }
    }

    private static func wait(until condition: () throws -> Bool) throws {
        for _ in 0..<3_000 {
            if try condition() { return }
            usleep(20_000)
        }
        throw ServerProcess.Failure(description: "sentinels, primary and replica did not find each other")
    }
}

import Foundation

/// A private Redis server on loopback: Debian's, or the program that the variable `REDIS_SERVER` names, such as
/// that of Valkey.
public struct RedisServer: Sendable {
    /// The part of a server among others.
    public enum Part: Sendable {
        /// A server that holds values, by itself or as a replica of another one.
        case server
        /// A server of a cluster.
        case cluster
        /// A sentinel, which holds no values.
        case sentinel
    }

    private let process: ServerProcess
    private let certificates: Certificates?

    /// Starts Redis without persistence, with a configuration of its own in a scratch directory.
    ///
    /// - Parameters:
    ///   - part: The server's part; one by itself by default.
    ///   - certificates: If it is not nil, the server speaks TLS only.
    ///   - name: The name of the certificate; that for `127.0.0.1` by default.
    ///   - directives: Further lines of the configuration.
    /// - Throws: ``ServerProcess/Failure`` when Redis is not installed, or does not start.
    public init(
        _ part: Part = .server,
        certificates: Certificates? = nil,
        named name: String = "address",
        directives: String = ""
    ) throws {
        self.certificates = certificates
        let bus = try part == .cluster ? "cluster-enabled yes\ncluster-port \(ServerProcess.freePort())" : ""
        process = try ServerProcess(Self.program(part)) { port, scratch in
            let listen =
                certificates.map { certificates in
                    """
                    port 0
                    tls-port \(port)
                    tls-cert-file \(certificates.path("\(name).pem"))
                    tls-key-file \(certificates.path("\(name).key"))
                    tls-ca-cert-file \(certificates.path("ca.pem"))
                    tls-auth-clients no
                    tls-replication yes
                    tls-cluster yes
                    """
                } ?? "port \(port)"
            let values = part == .sentinel ? "" : "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0"
            return """
                bind 127.0.0.1
                \(listen)
                dir \(scratch)
                pidfile \(scratch)/root/redis.pid
                logfile \(scratch)/error.log
                \(values)
                \(bus)
                \(directives)

                """
        }
    }

    private static func program(_ part: Part) throws -> ServerProcess.Program {
        let named = ProcessInfo.processInfo.environment["REDIS_SERVER"]
        if let named, !FileManager.default.isExecutableFile(atPath: named) {
            throw ServerProcess.Failure(description: "REDIS_SERVER names \(named), which is not a program")
        }
        return ServerProcess.Program(
            name: "redis-server",
            package: "redis-server",
            paths: named.map { [$0] } ?? ["/usr/bin/redis-server", "/usr/local/bin/redis-server"]
        ) { _, configuration in [configuration] + (part == .sentinel ? ["--sentinel"] : []) }
    }

    /// The port on `127.0.0.1`.
    public var port: Int { Int(process.port) }

    /// Runs a command by Redis' own client.
    ///
    /// - Parameter words: The command.
    /// - Returns: The reply as the client writes it: a line for each element.
    /// - Throws: ``ServerProcess/Failure`` when the server does not answer, or replies with an error.
    @discardableResult
    public func run(_ words: String...) throws -> String { try run(words) }

    /// Runs a command by Redis' own client.
    @discardableResult
    public func run(_ words: [String]) throws -> String {
        let encryption = certificates.map { ["--tls", "--cacert", $0.path("ca.pem")] } ?? []
        let outcome = try SpawnedProcess.run(
            "/usr/bin/redis-cli",
            ["-h", "127.0.0.1", "-p", "\(port)", "-e"] + encryption + words
        )
        let text = String(decoding: outcome.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard outcome.ending == .exited(0) else {
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            throw ServerProcess.Failure(description: "redis-cli \(words.prefix(3)) failed: \(text) \(errors)")
        }
        return text
    }

    /// Whether the server says that it is a primary.
    ///
    /// A server that changes its role closes the connections of its clients, so that a client may get no answer.
    public var isPrimary: Bool { (try? run("ROLE"))?.hasPrefix("master") ?? false }

    /// Stops the server for good; calling this again does nothing.
    public func stop() {
        resume()
        process.stop()
    }

    /// Ends the server's process at once, as a failure of its machine would.
    public func kill() { signal(SIGKILL) }

    /// Stops the server's process without ending it: it accepts connections, and answers nothing.
    public func pause() { signal(SIGSTOP) }

    /// Lets a stopped process go on.
    public func resume() { signal(SIGCONT) }

    private func signal(_ number: CInt) {
        let file = process.root.appendingPathComponent("redis.pid")
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return }
        Glibc.kill(identifier, number)
    }
}

import Foundation
import Glibc

/// A private Redis server on loopback.
public struct RedisServer: Sendable {
    private let process: ServerProcess

    /// Starts Redis without persistence, with a configuration of its own in a scratch directory.
    ///
    /// - Parameters:
    ///   - certificates: If it is not nil, the server speaks TLS only, with the certificate for `127.0.0.1`.
    ///   - directives: Further lines of the configuration.
    /// - Throws: ``ServerProcess/Failure`` when Redis is not installed, or does not start.
    public init(certificates: Certificates? = nil, directives: String = "") throws {
        process = try ServerProcess(Self.program) { port, scratch in
            let listen =
                certificates.map { certificates in
                    """
                    port 0
                    tls-port \(port)
                    tls-cert-file \(certificates.path("address.pem"))
                    tls-key-file \(certificates.path("address.key"))
                    tls-ca-cert-file \(certificates.path("ca.pem"))
                    tls-auth-clients no
                    """
                } ?? "port \(port)"
            return """
                bind 127.0.0.1
                \(listen)
                dir \(scratch)
                pidfile \(scratch)/root/redis.pid
                logfile \(scratch)/error.log
                save ""
                appendonly no
                \(directives)

                """
        }
    }

    private static let program = ServerProcess.Program(
        name: "redis-server",
        package: "redis-server",
        paths: ["/usr/bin/redis-server", "/usr/local/bin/redis-server"]
    ) { _, configuration in [configuration] }

    /// The port on `127.0.0.1`.
    public var port: Int { Int(process.port) }

    /// Stops the server for good; calling this again does nothing.
    public func stop() {
        resume()
        process.stop()
    }

    /// Stops the server's process without ending it: it accepts connections, and answers nothing.
    public func pause() { signal(SIGSTOP) }

    /// Lets a stopped process go on.
    public func resume() { signal(SIGCONT) }

    private func signal(_ number: CInt) {
        let file = process.root.appendingPathComponent("redis.pid")
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return }
        kill(identifier, number)
    }
}

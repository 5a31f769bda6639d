import Foundation
import WaystationTestSupport

/// Commands to a Redis server by hand: counts, and the faults that the server can cause itself.
struct RedisConsole: Sendable {
    let port: Int

    /// Cuts all connections, those of subscriptions too.
    func dropConnections() { run(["CLIENT KILL TYPE normal SKIPME yes", "CLIENT KILL TYPE pubsub"]) }

    /// Removes all values.
    func empty() { run(["FLUSHALL"]) }

    /// The server's counts, by their names in `INFO`.
    func counts() -> [String: Int] {
        run(["INFO everything"]).split(whereSeparator: \.isNewline).reduce(into: [:]) { counts, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, let count = Int(parts[1]) { counts[String(parts[0])] = count }
        }
    }

    /// Sends lines to the server, and returns all replies as text; empty if the server does not accept the connection.
    @discardableResult
    private func run(_ lines: [String]) -> String {
        guard let port = UInt16(exactly: port), let client = try? RawClient(port: port) else { return "" }
        // The reply to QUIT is the last one before the server closes the connection.
        client.send((lines + ["QUIT"]).joined(separator: "\r\n") + "\r\n")
        return client.receiveAll().bytes
    }
}

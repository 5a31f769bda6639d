import Foundation
@_spi(Processes) import Measuring
import Synchronization
import WaystationProcesses
import WaystationTestSupport

/// The hostile server in a process of its own.
final class ServerProcess: Sendable {
    struct NoPorts: Error {}

    private let process: SpawnedProcess
    private let ports: [Int]
    private let closed = Mutex<[String: ContinuousClock.Instant]>([:])

    init(seed: UInt64) throws {
        process = try SpawnedProcess(ChildProcess.program, ["--serve", "\(seed)"], output: .lines)
        ports = (process.readLine() ?? "").split(separator: " ").compactMap { Int($0) }
        guard ports.count == 2 * Version.allCases.count else { throw NoPorts() }
    }

    deinit { process.endInput() }

    /// Whether the server still runs; a server that ends would make all loads fail.
    var isRunning: Bool { process.isRunning }

    /// The URL of a path below `hostile`, `sound` or `endless`.
    func url(_ version: Version, _ path: String) -> URL {
        let index = (version == .http1 ? 0 : 2) + (path.hasPrefix("sound") ? 1 : 0)
        return URL(string: "http://127.0.0.1:\(ports[index])/\(path)") ?? URL(fileURLWithPath: "/")
    }

    /// Notes when the connections of endless bodies close, until the server ends.
    func watchClosing() {
        let server = self
        Thread.detachNewThread { [weak server, process] in
            while let line = process.readLine() {
                let now = ContinuousClock.now
                let path = String(line.drop { $0 != " " }.dropFirst())
                server?.closed.withLock { $0[path] = now }
            }
        }
    }

    /// When the connection or the stream of an endless body was closed.
    func closing(of path: String) -> ContinuousClock.Instant? { closed.withLock { $0["/\(path)"] } }
}

public import Foundation

/// A web server's process, with a configuration of its own in a scratch directory.
public final class ServerProcess: Sendable {
    /// An error that says why a server does not run.
    public struct Failure: Error, CustomStringConvertible {
        /// A sentence that says what went wrong, and what to do.
        public let description: String
    }

    /// The program that is started.
    struct Program {
        let name: String
        /// The package of Debian that has the program.
        let package: String
        /// The places where systems install the program.
        let paths: [String]
        /// How often the port is tried, every 20 ms, before a start counts as failed.
        var attempts = 200
        /// Returns the arguments that make the program stay in the foreground, log to `error.log` in the scratch
        /// directory, and read a configuration.
        let arguments: @Sendable (_ scratch: String, _ configuration: String) -> [String]
    }

    /// The port on `127.0.0.1` where the server listens.
    public let port: UInt16
    /// The directory whose files the server serves, `root` in the scratch directory.
    public let root: URL

    private let scratch: URL
    private let process: SpawnedProcess

    /// Starts a server, and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - configuration: Returns the text of the configuration.
    /// - Throws: ``Failure`` when the program is not installed, or does not start.
    init(_ program: Program, configuration: (_ port: UInt16, _ scratch: String) -> String) throws {
        guard let path = program.paths.first(where: FileManager.default.isExecutableFile) else {
            throw Failure(description: "\(program.name) is not installed: apt-get install \(program.package)")
        }
        scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("waystation-\(program.name)-\(UUID().uuidString)")
        root = scratch.appendingPathComponent("root")
        // A server that root starts reads files as another user.
        let open: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true, attributes: open)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true, attributes: open)
        port = try Self.freePort()
        let file = scratch.appendingPathComponent("\(program.name).conf")
        try configuration(port, scratch.path).write(to: file, atomically: true, encoding: .utf8)
        // A shell ends the server when the other end of its input closes, which also happens when this process is
        // killed. A server that was stopped by a signal must go on before it can end.
        process = try SpawnedProcess(
            "/bin/sh",
            ["-c", "\"$0\" \"$@\" & read -r _; kill $!; kill -CONT $!; wait", path]
                + program.arguments(scratch.path, file.path)
        )
        for _ in 0..<program.attempts where !Self.accepts(port) {
            guard process.isRunning else { break }
            usleep(20_000)
        }
        guard Self.accepts(port) else {
            let log = try? String(contentsOf: scratch.appendingPathComponent("error.log"), encoding: .utf8)
            throw Failure(description: "\(program.name) did not start: \(log ?? "no log")")
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: scratch)
    }

    /// Stops the server; calling this again does nothing.
    public func stop() {
        process.endInput()
        process.wait()
    }

    /// A port that was free a moment ago.
    ///
    /// It is below the ports that the system gives to outgoing connections, so that none of these takes it meanwhile.
    static func freePort() throws -> UInt16 {
        for _ in 0..<1_000 {
            guard let origin = try? ScriptedOrigin(port: .random(in: 12_000..<32_000), script: { _ in .closed }) else {
                continue
            }
            origin.stop()
            return origin.port
        }
        throw Failure(description: "there is no free port between 12000 and 32000")
    }

    private static func accepts(_ port: UInt16) -> Bool { (try? RawClient(port: port)) != nil }
}

/// A web server of the system's packages, which serves the files of a directory on loopback until it is stopped.
public protocol WebServer: Sendable {
    /// The server's process.
    var process: ServerProcess { get }
}

extension WebServer {
    /// The port on `127.0.0.1` where the server listens.
    public var port: UInt16 { process.port }

    /// The directory whose files the server serves.
    public var root: URL { process.root }

    /// Stops the server; calling this again does nothing.
    public func stop() { process.stop() }

    /// The URL of a file below ``root``.
    public func url(_ path: String) -> URL { URL(string: "http://127.0.0.1:\(port)/\(path)") ?? root }

    /// Writes a file that the server serves.
    ///
    /// - Parameters:
    ///   - data: The file's bytes.
    ///   - path: The file's path below ``root``.
    /// - Returns: The file's URL.
    /// - Throws: The error of writing the file.
    @discardableResult
    public func serve(_ data: Data, at path: String) throws -> URL {
        let file = root.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        try data.write(to: file)
        return url(path)
    }
}

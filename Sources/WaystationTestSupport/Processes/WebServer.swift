public import Foundation

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

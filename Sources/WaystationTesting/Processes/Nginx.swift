public import Foundation
import Glibc

/// A private nginx on loopback, which serves the files of a directory until it is stopped.
@_spi(Processes)
public final class Nginx: Sendable {
    /// An error that says why nginx does not run.
    public struct Failure: Error, CustomStringConvertible {
        /// A sentence that says what went wrong, and what to do.
        public let description: String
    }

    /// The port on `127.0.0.1` where nginx listens.
    public let port: UInt16
    /// The directory whose files nginx serves.
    public let root: URL

    private let scratch: URL
    private let process: SpawnedProcess

    /// Starts nginx with a configuration of its own in a scratch directory.
    ///
    /// Responses for files in `fresh` may be used for a day, and those for files in `asked` only after validation;
    /// other responses have no caching fields.
    ///
    /// - Parameters:
    ///   - listen: Parameters of the directive `listen`, such as `ssl http2`.
    ///   - directives: Further directives of the server.
    /// - Throws: ``Failure`` when nginx is not installed, or does not start.
    public init(listen: String = "", directives: String = "") throws {
        let paths = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw Failure(description: "nginx is not installed: apt-get install nginx-light")
        }
        scratch = FileManager.default.temporaryDirectory.appendingPathComponent("waystation-nginx-\(UUID().uuidString)")
        root = scratch.appendingPathComponent("root")
        // When root starts nginx, nginx reads files as another user.
        let open: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true, attributes: open)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true, attributes: open)
        port = try Self.freePort()
        let configuration = scratch.appendingPathComponent("nginx.conf")
        try Self.configuration(port: port, scratch: scratch.path, listen, directives)
            .write(to: configuration, atomically: true, encoding: .utf8)
        // A shell ends nginx when the other end of its input closes, which also happens when this process is killed.
        process = try SpawnedProcess(
            "/bin/sh",
            [
                "-c", "\"$0\" \"$@\" & read -r _; kill $!; wait", path,
                "-p", scratch.path, "-c", configuration.path, "-e", "error.log",
            ]
        )
        for _ in 0..<200 where !Self.accepts(port) {
            guard process.isRunning else { break }
            usleep(20_000)
        }
        guard Self.accepts(port) else {
            let log = try? String(contentsOf: scratch.appendingPathComponent("error.log"), encoding: .utf8)
            throw Failure(description: "nginx did not start: \(log ?? "no log")")
        }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: scratch)
    }

    /// Stops nginx; calling this again does nothing.
    public func stop() {
        process.endInput()
        process.wait()
    }

    /// Writes a file that nginx serves.
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

    /// The URL of a file below ``root``.
    public func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)/\(path)") ?? root
    }

    private static func configuration(
        port: UInt16,
        scratch: String,
        _ listen: String,
        _ directives: String
    ) -> String {
        """
        daemon off;
        master_process off;
        worker_processes 1;
        pid \(scratch)/nginx.pid;
        error_log \(scratch)/error.log;
        events { worker_connections 1024; }
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            keepalive_timeout 600s;
            keepalive_requests 100000000;
            open_file_cache max=1000;
            types { text/plain txt; application/octet-stream bin; }
            client_body_temp_path \(scratch)/client;
            proxy_temp_path \(scratch)/proxy;
            fastcgi_temp_path \(scratch)/fastcgi;
            uwsgi_temp_path \(scratch)/uwsgi;
            scgi_temp_path \(scratch)/scgi;
            server {
                listen 127.0.0.1:\(port) \(listen);
                \(directives)
                root \(scratch)/root;
                location /fresh/ { add_header Cache-Control "max-age=86400"; }
                location /asked/ { add_header Cache-Control "no-cache"; }
            }
        }
        """
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> UInt16 {
        let origin = try ScriptedOrigin { _ in .closed }
        defer { origin.stop() }
        return origin.port
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

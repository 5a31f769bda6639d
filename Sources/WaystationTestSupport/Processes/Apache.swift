/// A private Apache HTTP server on loopback, which serves the files of a directory until it is stopped.
public struct Apache: WebServer {
    /// The server's process.
    public let process: ServerProcess

    /// Starts Apache with a configuration of its own in a scratch directory.
    ///
    /// - Parameters:
    ///   - modules: The names of further modules, such as `deflate`.
    ///   - directives: Further directives of the server.
    /// - Throws: ``ServerProcess/Failure`` when Apache is not installed, or does not start.
    public init(modules: [String] = [], directives: String = "") throws {
        process = try ServerProcess(Self.program) { port, scratch in
            Self.configuration(port: port, scratch: scratch, modules, directives)
        }
    }

    private static let program = ServerProcess.Program(
        name: "apache2",
        package: "apache2-bin",
        paths: ["/usr/sbin/apache2"]
    ) { scratch, configuration in
        ["-D", "FOREGROUND", "-d", scratch, "-f", configuration, "-E", scratch + "/error.log"]
    }

    private static func configuration(
        port: UInt16,
        scratch: String,
        _ modules: [String],
        _ directives: String
    ) -> String {
        let loads = (["mpm_event", "authz_core", "mime"] + modules).map {
            "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
        }
        return """
            \(loads.joined(separator: "\n"))
            ServerName localhost
            Listen 127.0.0.1:\(port)
            DefaultRuntimeDir \(scratch)
            PidFile \(scratch)/apache2.pid
            ErrorLog \(scratch)/error.log
            # The user for a server that root starts; others ignore it.
            User www-data
            Group www-data
            ServerLimit 1
            StartServers 1
            ThreadsPerChild 64
            MaxRequestWorkers 64
            DocumentRoot \(scratch)/root
            TypesConfig /dev/null
            AddType text/plain .txt
            \(directives)

            """
    }
}

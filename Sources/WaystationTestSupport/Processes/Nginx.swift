/// A private nginx on loopback, which serves the files of a directory until it is stopped.
public struct Nginx: WebServer {
    /// The server's process.
    public let process: ServerProcess

    /// Starts nginx with a configuration of its own in a scratch directory.
    ///
    /// Responses for files in `fresh` may be used for a day, and those for files in `asked` only after validation;
    /// other responses have no caching fields.
    ///
    /// - Parameters:
    ///   - listen: Parameters of the directive `listen`, such as `ssl http2`.
    ///   - directives: Further directives of the server.
    ///   - upstream: Directives beside the server, such as the addresses of an origin.
    /// - Throws: ``ServerProcess/Failure`` when nginx is not installed, or does not start.
    public init(listen: String = "", directives: String = "", upstream: String = "") throws {
        process = try ServerProcess(Self.program) { port, scratch in
            Self.configuration(port: port, scratch: scratch, listen, directives, upstream)
        }
    }

    private static let program = ServerProcess.Program(
        name: "nginx",
        package: "nginx-light",
        paths: ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
    ) { scratch, configuration in
        ["-p", scratch, "-c", configuration, "-e", "error.log"]
    }

    private static func configuration(
        port: UInt16,
        scratch: String,
        _ listen: String,
        _ directives: String,
        _ upstream: String
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
            \(upstream)
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
}

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

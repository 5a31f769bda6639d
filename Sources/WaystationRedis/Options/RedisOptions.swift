#if Redis
import Foundation
import WaystationHTTP
public import WaystationStorage

/// The servers of a ``RedisTier``, and how to connect to them.
///
/// They are one server (``init(host:port:)``, ``server(_:)``), a Redis Cluster (``cluster(_:)``), or a primary that Redis
/// Sentinel watches over (``sentinel(master:_:)``).
///
/// A URL is `redis://user:password@host:port/database`, or `rediss://` for TLS. All parts but the host may be missing;
/// special characters in user and password are percent-encoded. The URLs of one list differ in host and port only.
public struct RedisOptions: Sendable {
    /// How connections are encrypted.
    public struct TLS: Sendable {
        /// A PEM file with the certificates of authorities that are trusted in place of the system's; nil, the default,
        /// for the system's.
        public var trustedRootsPath: String?
        /// A PEM file with the client's certificate, for servers that ask for one; nil, the default, for none.
        public var certificatePath: String?
        /// A PEM file with the private key of that certificate.
        public var privateKeyPath: String?
        /// The name for which the certificates of all servers must be; nil, the default, for the name of each server.
        ///
        /// The name of a cluster's server is the host name that it announces, or else the address.
        public var serverName: String?

        /// Makes the default settings.
        public init() {}
    }

    /// The servers, and how they work together.
    enum Deployment: Equatable {
        case server(RedisEndpoint)
        /// A cluster, and those of its servers that are asked for the others.
        case cluster([RedisEndpoint])
        /// A primary that these sentinels know by a name.
        case sentinel(master: String, [RedisEndpoint])
    }

    let deployment: Deployment
    /// The user, as ACLs name it; nil, the default, for the server's default user.
    public var user: String?
    /// The password; nil, the default, for none.
    public var password: String?
    /// The user of the sentinels; nil, the default, for their default user.
    public var sentinelUser: String?
    /// The password of the sentinels; nil, the default, for none.
    public var sentinelPassword: String?
    /// The number of the database; 0 by default, and always in a cluster.
    public var database = 0
    /// How connections to servers and sentinels are encrypted; nil, the default, for plain connections.
    ///
    /// The certificate of a server must be valid, and for the server's name.
    public var tls: TLS?
    /// How long making a connection may take; 2 s by default.
    public var connectTimeout = Duration.seconds(2)
    /// The time between two checks whether a connection that waits for messages still works, and is still to the right
    /// server; 15 s by default.
    public var keepaliveInterval = Duration.seconds(15)
    /// The number of bytes of the largest reply that is accepted; 64 MiB by default.
    ///
    /// Caches with a smaller largest entry accept less: that entry's body, and 1 MiB for its fields.
    public var maximumReplySize = 64 << 20

    /// Names one server.
    public init(host: String, port: Int = 6379) {
        deployment = .server(RedisEndpoint(host: host, port: port))
    }

    private init(_ deployment: Deployment) { self.deployment = deployment }

    /// Names one server, with user, password and database.
    ///
    /// - Parameter url: The URL; the port is 6379 if the URL names none.
    /// - Returns: The options, the others of which have their defaults.
    /// - Throws: A ``WaystationStorage/TierError`` when the URL has a mistake.
    public static func server(_ url: String) throws(TierError) -> RedisOptions {
        let url = try RedisURL(url, defaultPort: 6379)
        var options = RedisOptions(.server(url.endpoint))
        options.takeLogin(of: url)
        options.database = url.database ?? 0
        return options
    }

    /// Names a Redis Cluster.
    ///
    /// The tier learns the other servers from any of those named that answers; name two at least, so that it also
    /// starts while one of them is down.
    ///
    /// - Parameter urls: The URLs of some of the cluster's servers; the port is 6379 if a URL names none.
    /// - Returns: The options, the others of which have their defaults.
    /// - Throws: A ``WaystationStorage/TierError`` when a URL has a mistake, or names a database other than 0.
    public static func cluster(_ urls: [String]) throws(TierError) -> RedisOptions {
        let (first, endpoints) = try RedisURL.all(urls, defaultPort: 6379)
        var options = RedisOptions(.cluster(endpoints))
        options.takeLogin(of: first)
        options.database = first.database ?? 0
        try options.check()
        return options
    }

    /// Names a primary that Redis Sentinel watches over.
    ///
    /// User and password of the URLs are those of the sentinels; set ``user``, ``password`` and ``database`` for the
    /// primary. Name all sentinels: the tier believes the one whose knowledge is the newest.
    ///
    /// - Parameters:
    ///   - master: The name by which the sentinels know the primary, as in `sentinel monitor NAME …`.
    ///   - urls: The URLs of the sentinels; the port is 26379 if a URL names none.
    /// - Returns: The options, the others of which have their defaults.
    /// - Throws: A ``WaystationStorage/TierError`` when a URL has a mistake, or names a database.
    public static func sentinel(master: String, _ urls: [String]) throws(TierError) -> RedisOptions {
        let (first, endpoints) = try RedisURL.all(urls, defaultPort: 26_379)
        guard first.database == nil else {
            throw TierError(.misconfigured, "the URL of a sentinel names a database: set `database` instead")
        }
        var options = RedisOptions(.sentinel(master: master, endpoints))
        options.takeLogin(of: first)
        (options.sentinelUser, options.sentinelPassword) = (options.user, options.password)
        (options.user, options.password) = (nil, nil)
        return options
    }

    /// - Throws: A ``WaystationStorage/TierError`` when options exclude each other, or when a host or a port cannot
    ///   exist.
    func check() throws(TierError) {
        if case .server(let server) = deployment {
            guard !server.host.isEmpty else {
                throw TierError(.misconfigured, "the Redis server has no host: give its name or address")
            }
            guard (1...65_535).contains(server.port) else {
                throw TierError(.misconfigured, "\(server.port) is not the port of a Redis server: give 1 to 65535")
            }
        }
        for (user, password) in [(user, password), (sentinelUser, sentinelPassword)] where password == nil {
            guard let user else { continue }
            throw TierError(.misconfigured, "the Redis user \(user) has no password: set it, or leave out the user")
        }
        if case .cluster = deployment, database != 0 {
            throw TierError(.misconfigured, "a Redis Cluster has the database 0 only, not \(database)")
        }
    }

    private mutating func takeLogin(of url: RedisURL) {
        (user, password) = (url.user, url.password)
        if url.isEncrypted { tls = TLS() }
    }
}

/// The parts of a URL that names a server: `redis://user:password@host:port/database`, or `rediss://` for TLS.
///
/// All parts but the host may be missing. Special characters in user and password are percent-encoded.
struct RedisURL: Equatable {
    let endpoint: RedisEndpoint
    let user: String?
    let password: String?
    let database: Int?
    let isEncrypted: Bool

    /// - Parameters:
    ///   - text: The URL.
    ///   - defaultPort: The port of a URL that names none.
    /// - Throws: An error that repeats no password.
    init(_ text: String, defaultPort: Int) throws(TierError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw Self.mistake("has no host, or characters that must be percent-encoded")
        }
        switch parts.scheme?.lowercased() {
        case "redis": isEncrypted = false
        case "rediss": isEncrypted = true
        default: throw Self.mistake("begins with neither redis:// nor rediss://")
        }
        guard parts.query == nil, parts.fragment == nil else { throw Self.mistake("has a query or a fragment") }
        let port = parts.port ?? defaultPort
        guard (1...65_535).contains(port) else { throw Self.mistake("has the port \(port)") }
        endpoint = RedisEndpoint(host: host.trimmingCharacters(in: ["[", "]"]), port: port)
        password = parts.password
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        guard user == nil || password != nil else { throw Self.mistake("has a user without a password") }
        let path = parts.path.drop(while: { $0 == "/" })
        database = path.isEmpty ? nil : Int(path)
        guard path.isEmpty || database.map({ $0 >= 0 }) ?? false else {
            throw Self.mistake("has a path that is not the number of a database")
        }
    }

    /// Reads the URLs of servers that belong together.
    ///
    /// - Throws: An error if there is no URL, or if URLs have different users, passwords, databases or schemes.
    static func all(_ texts: [String], defaultPort: Int) throws(TierError) -> (first: RedisURL, all: [RedisEndpoint]) {
        var first: RedisURL?
        var endpoints: [RedisEndpoint] = []
        for text in texts {
            let url = try RedisURL(text, defaultPort: defaultPort)
            let model = first ?? url
            first = model
            guard url.user == model.user, url.password == model.password, url.database == model.database,
                url.isEncrypted == model.isEncrypted
            else { throw mistake("and another one differ in more than host and port") }
            if !endpoints.contains(url.endpoint) { endpoints.append(url.endpoint) }
        }
        guard let first else { throw TierError(.misconfigured, "there is no URL of a Redis server: name at least one") }
        return (first, endpoints)
    }

    private static func mistake(_ problem: String) -> TierError {
        TierError(
            .misconfigured,
            "a URL of a Redis server \(problem): write it as redis://user:password@host:port/database"
        )
    }
}

/// The place where a server listens.
struct RedisEndpoint: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port` as servers write it: an IPv6 address has no brackets.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - sender: The host of the server that sent the text; it stands for an empty host.
    init?(_ text: Substring, from sender: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let host = text[..<colon]
        // A server whose preferred kind of address is a host name, and which has none, writes a question mark.
        guard host != "?" else { return nil }
        self.init(host: host.isEmpty ? sender : String(host), port: port)
    }

    var description: String { String(host: host, port: port) }
}
#endif

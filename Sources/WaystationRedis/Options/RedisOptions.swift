#if Redis
/// The server of a ``RedisTier``, and how to connect to it.
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

        /// Makes the default settings.
        public init() {}
    }

    /// The name or address of the server.
    public var host: String
    /// The port of the server; 6379 by default.
    public var port: Int
    /// The user, as ACLs name it; nil, the default, for the server's default user.
    public var user: String?
    /// The password; nil, the default, for none.
    public var password: String?
    /// The number of the database; 0 by default.
    public var database = 0
    /// How connections are encrypted; nil, the default, for plain connections.
    ///
    /// The certificate must be valid, and for ``host``.
    public var tls: TLS?
    /// How long making a connection may take; 2 s by default.
    public var connectTimeout = Duration.seconds(2)
    /// The time between two checks whether a connection that waits for messages still works; 15 s by default.
    public var keepaliveInterval = Duration.seconds(15)
    /// The number of bytes of the largest reply that is accepted; 64 MiB by default.
    public var maximumReplySize = 64 << 20

    /// Names a server.
    public init(host: String, port: Int = 6379) {
        self.host = host
        self.port = port
    }
}
#endif

#if Redis
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import WaystationHTTP
import WaystationStorage

/// Makes connections that are ready for commands: TCP, TLS, and the greeting.
struct RedisConnector: Sendable {
    let options: RedisOptions
    /// The size of the largest reply.
    let replyLimit: ReplyLimit
    private let tls: NIOSSLContext?
    private let greeting: Greeting

    /// Makes a connector to servers that answer commands of the tier.
    ///
    /// - Throws: The error of reading certificates.
    init(_ options: RedisOptions) throws {
        self.options = options
        replyLimit = ReplyLimit(options.maximumReplySize)
        tls = try options.tls.map { try NIOSSLContext(configuration: $0.configuration) }
        var greeting = Greeting(user: options.user, password: options.password, database: options.database)
        if case .sentinel = options.deployment { greeting.requiresPrimary = true }
        self.greeting = greeting
    }

    private init(_ other: RedisConnector, greeting: Greeting) {
        (options, replyLimit, tls) = (other.options, other.replyLimit, other.tls)
        self.greeting = greeting
    }

    /// The connector to the sentinels of the same options.
    var toSentinels: RedisConnector {
        RedisConnector(self, greeting: Greeting(user: options.sentinelUser, password: options.sentinelPassword))
    }

    /// Makes a connection.
    ///
    /// Call it on the loop.
    ///
    /// - Parameters:
    ///   - endpoint: The server's address.
    ///   - name: The name for which the server's certificate is; nil for the host of the address.
    ///   - loop: The loop of the connection.
    ///   - completion: Called once on the loop, never within this call.
    func connect(
        to endpoint: RedisEndpoint,
        named name: String? = nil,
        on loop: any EventLoop,
        _ completion: @escaping (Result<RedisConnection, TierError>) -> Void
    ) {
        let attempt = ConnectAttempt(completion)
        let timeout = TimeAmount(options.connectTimeout)
        let (limits, tls, greeting) = (limits, tls, greeting)
        let certified = options.tls?.serverName ?? name ?? endpoint.host
        loop.assumeIsolated().scheduleTask(in: timeout) {
            attempt.fail(TierError(.late, "\(endpoint) did not greet within \(timeout)"))
        }
        ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(Self.encryption(tls, host: certified)) }
                    try pipeline.addHandler(RedisConnection(limits: limits))
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
            .assumeIsolated()
            .whenComplete { result in
                do {
                    let connection = try result.get().pipeline.syncOperations.handler(type: RedisConnection.self)
                    attempt.greet(connection, greeting)
                } catch {
                    attempt.fail(TierError(.unreachable, "cannot connect to \(endpoint): \(error)"))
                }
            }
    }

    /// The limits of replies on a new connection.
    var limits: RESPParser.Limits {
        var limits = RESPParser.Limits(bytes: replyLimit.bytes)
        // Each of the 16,384 slots may be a run of its own, with 24 elements if it has three servers with host names.
        if case .cluster = options.deployment { limits.elements = 1 << 20 }
        return limits
    }

    private static func encryption(_ tls: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        do {
            return try NIOSSLClientHandler(context: tls, serverHostname: host)
        } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI {
            // The certificate is then checked against the address.
            return try NIOSSLClientHandler(context: tls, serverHostname: nil)
        }
    }
}

/// The first commands on a connection, and their condition.
private struct Greeting {
    var user: String?
    var password: String?
    var database = 0
    /// Whether a server that is a replica is refused.
    var requiresPrimary = false

    /// Whether an error in reply to `HELLO` means that the server does not know this command, or has only RESP2.
    ///
    /// Valkey replies `NOAUTH` to a command that it does not know, as long as the client has not logged in. That does not
    /// mean a wrong password: the reply to one is `WRONGPASS`.
    func isUnknown(by error: String) -> Bool {
        error.hasPrefix("NOPROTO") || error.hasPrefix("ERR unknown command")
            || (password != nil && error.hasPrefix("NOAUTH"))
    }
}

/// One attempt to connect, which ends once.
///
/// It is confined to its event loop.
private final class ConnectAttempt {
    private var completion: ((Result<RedisConnection, TierError>) -> Void)?
    private var connection: RedisConnection?

    init(_ completion: @escaping (Result<RedisConnection, TierError>) -> Void) { self.completion = completion }

    func fail(_ error: TierError) {
        let completion = self.completion.take()
        completion?(.failure(error))
        if completion != nil { connection?.close(error) }
    }

    /// Logs in and chooses protocol and database.
    func greet(_ connection: RedisConnection, _ greeting: Greeting) {
        guard completion != nil else {
            return connection.close(TierError(.late, "the connection came too late"))
        }
        self.connection = connection
        var hello = RedisCommand("HELLO", "3")
        if let password = greeting.password { hello = hello.with("AUTH", greeting.user ?? "default", password) }
        connection.send(hello) { [self] reply in
            switch reply {
            case .success(.error(let text)) where greeting.isUnknown(by: text): greetPlainly(connection, greeting)
            case let reply: check(reply) { self.select(connection, greeting) }
            }
        }
    }

    private func greetPlainly(_ connection: RedisConnection, _ greeting: Greeting) {
        guard let password = greeting.password else { return select(connection, greeting) }
        let login = greeting.user.map { RedisCommand("AUTH", $0, password) } ?? RedisCommand("AUTH", password)
        connection.send(login) { [self] reply in check(reply) { self.select(connection, greeting) } }
    }

    private func select(_ connection: RedisConnection, _ greeting: Greeting) {
        guard greeting.database != 0 else { return examine(connection, greeting) }
        connection.send(RedisCommand("SELECT", "\(greeting.database)")) { [self] reply in
            check(reply) { self.examine(connection, greeting) }
        }
    }

    /// Refuses a server that has become a replica: it would return values that are out of date.
    private func examine(_ connection: RedisConnection, _ greeting: Greeting) {
        guard greeting.requiresPrimary else { return succeed(connection) }
        connection.send(RedisCommand("ROLE")) { [self] reply in
            check(reply) {
                guard case .success(let value) = reply, case .primary = ServerRole(value) else {
                    return self.fail(TierError(.unreachable, "the server is not the primary any more"))
                }
                self.succeed(connection)
            }
        }
    }

    private func check(_ reply: Result<RESPValue, TierError>, _ next: () -> Void) {
        switch reply {
        case .success(.error(let text)): fail(TierError(refusal: text))
        case .success: next()
        case .failure(let error): fail(error)
        }
    }

    private func succeed(_ connection: RedisConnection) {
        self.connection = nil
        completion.take()?(.success(connection))
    }
}

extension TierError {
    /// The error of a call that meets the end of the tier.
    static let tierWasClosed = TierError(.unreachable, "the tier was closed")

    /// The error that a server's refusal is.
    ///
    /// After the comma, a refusal of an unknown command repeats its arguments, such as a password.
    init(refusal text: String) {
        self.init(.refused, "Redis refuses: \(text.prefix(while: { $0 != "," }).shown(upTo: 120))")
    }
}

extension RedisOptions.TLS {
    fileprivate var configuration: TLSConfiguration {
        get throws {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.certificateVerification = .fullVerification
            configuration.shutdownTimeout = .milliseconds(10)
            if let trustedRootsPath {
                let roots = try NIOSSLCertificate.fromPEMBytes(Array(pemFile: trustedRootsPath))
                configuration.trustRoots = .certificates(roots)
            }
            if let certificatePath {
                let chain = try NIOSSLCertificate.fromPEMBytes(Array(pemFile: certificatePath))
                configuration.certificateChain = chain.map { .certificate($0) }
            }
            if let privateKeyPath {
                configuration.privateKey = .privateKey(
                    try NIOSSLPrivateKey(bytes: Array(pemFile: privateKeyPath), format: .pem)
                )
            }
            return configuration
        }
    }
}

/// The size of the largest reply of a tier: that of the options, or less if no cache expects larger values.
final class ReplyLimit: Sendable {
    private let maximum: Int
    private let expected = Mutex<Int?>(nil)

    init(_ maximum: Int) { self.maximum = maximum }

    /// The number of bytes, for connections that are made from now on.
    var bytes: Int { expected.withLock { min($0 ?? maximum, maximum) } }

    /// Expects values up to a size.
    func expect(_ size: Int) { expected.withLock { $0 = max($0 ?? 0, size) } }
}
#endif

#if NIO
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization
import Waystation
import WaystationStorage
public import WaystationFoundation
public import WaystationNIO
public import WaystationOrigin

/// A ``WaystationOrigin/ScriptedOrigin`` behind TLS, with HTTP/2 for clients that choose it; needs the trait `NIO`.
///
/// ```swift
/// let origin = try await SecuredOrigin { request in
///     .json(["path": request.path])
/// }
/// let session = try origin.makeSession()
/// let (data, _) = try await session.data(from: origin.url("/orders"))
/// #expect(origin.connectionVersions == ["h2"])
/// ```
///
/// Its certificate, for `localhost` and `127.0.0.1`, is signed by an authority that the origin makes for itself.
/// ``makeSession(_:)`` makes sessions that trust it, by the engine on SwiftNIO. Foundation's own loader on Linux trusts
/// the system's certificates only, and no setting of a session or of the environment changes that: code under test that
/// makes its own sessions reaches the origin by stubs, or after the system was made to trust ``authority``.
///
/// Each exchange of HTTP/2 reaches the script as an HTTP/1.1 request on a connection of its own; a connection that the
/// script cuts or resets becomes a stream that is reset. Web sockets need HTTP/1.1. The server stops when ``stop()`` is
/// called, or when the last reference to it is released.
public final class SecuredOrigin: Sendable {
    /// The versions of HTTP that a client may choose from, by ALPN (RFC 7301).
    public enum Versions: Sendable, Hashable {
        /// HTTP/2 and HTTP/1.1.
        case http2
        /// HTTP/1.1 only.
        case http1
    }

    /// The server that the script answers for, with its requests; its port and its URLs are those without TLS.
    public let origin: ScriptedOrigin
    /// The port of TLS, on `127.0.0.1`.
    public let port: Int
    /// The certificate of the authority, in PEM form.
    public let authority: String
    /// Options of the engine with which it trusts the authority.
    public let options: NIOOptions

    private let channel: any Channel
    private let log: ConnectionVersions

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - versions: The versions of HTTP that a client may choose from; both by default.
    ///   - script: Returns the answer to each request; see ``WaystationOrigin/ScriptedOrigin``.
    /// - Throws: ``WaystationOrigin/SocketFailure`` or an error of SwiftNIO if no port can be opened.
    public init(versions: Versions = .http2, script: @escaping ScriptedOrigin.Script) async throws {
        let authority = try TestAuthority()
        let protocols = versions == .http2 ? ["h2", "http/1.1"] : ["http/1.1"]
        let context = try authority.makeContext(protocols: protocols)
        let origin = try ScriptedOrigin(script: script)
        let log = ConnectionVersions()
        let behind = Int(origin.port)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap {
                    channel.configureHTTP2SecureUpgrade(
                        h2ChannelConfigurator: { channel in
                            log.add("h2")
                            return channel.configureHTTP2Pipeline(mode: .server) { StreamRelay.begin($0, to: behind) }
                                .map { _ in }
                        },
                        http1ChannelConfigurator: { channel in
                            log.add("http/1.1")
                            return ByteRelay.begin(channel, to: behind)
                        }
                    )
                }
            }
        channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        var options = NIOOptions()
        options.additionalTrustedRoots = [.der(authority.der)]
        self.authority = authority.pem
        self.options = options
        self.origin = origin
        self.log = log
    }

    deinit { stop() }

    /// Stops listening, and cuts the open exchanges.
    public func stop() {
        channel.close(promise: nil)
        origin.stop()
    }

    /// The URL of a target on this server, as on the request line: `/a?b=c`.
    ///
    /// For a target that gives no valid URL, the server's root is returned.
    public func url(_ target: String = "/") -> URL {
        var root = URLComponents()
        (root.scheme, root.host, root.port, root.path) = ("https", "localhost", port, "/")
        let text = "https://localhost:\(port)\(target)"
        // The root always gives a URL; the last fallback only avoids a trap.
        return URL(string: text) ?? root.url ?? URL(fileURLWithPath: "/")
    }

    /// The requests received so far, in the order in which their last byte arrived.
    public var requests: [ScriptedOrigin.Request] { origin.requests }

    /// The version that the client of each connection chose, `h2` or `http/1.1`, in the order of their handshakes.
    public var connectionVersions: [String] { log.versions }

    /// Makes a session that trusts the server, for its data tasks and uploads to it.
    ///
    /// Requests to other servers are made as without it.
    ///
    /// - Parameter configuration: The configuration that the session would otherwise have; `.ephemeral` by default.
    /// - Returns: The session.
    /// - Throws: ``Waystation/WaystationError`` if the interceptor cannot be made.
    public func makeSession(_ configuration: URLSessionConfiguration = .ephemeral) throws -> URLSession {
        let engine = NIOTransport(configuration: configuration, options: options)
        let interceptor = try Interceptor {
            $0.rules = ["localhost", "127.0.0.1"].map { host in
                .allow("https://\(host):\(port)/**", via: .carried(by: engine, as: "secured origin"))
            }
        }
        return URLSession(configuration: configuration.intercepted(by: interceptor))
    }
}

/// The version of HTTP of each connection.
private final class ConnectionVersions: Sendable {
    private let state = Mutex<[String]>([])

    var versions: [String] { state.withLock { $0 } }

    func add(_ version: String) { state.withLock { $0.append(version) } }
}

/// Passes the bytes of one connection to another one on the same event loop, and ends with it.
final class ByteRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    private init(to other: any Channel) { self.other = other }

    /// Connects a channel to a port on loopback.
    static func begin(_ channel: any Channel, to port: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: channel.eventLoop).connect(host: "127.0.0.1", port: port).flatMapThrowing { behind in
            try channel.pipeline.syncOperations.addHandler(ByteRelay(to: behind))
            try behind.pipeline.syncOperations.addHandler(ByteRelay(to: channel))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    /// Nothing more is read from the other channel while this one cannot take it.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        other.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// An authority for the origins of tests, which lives as long as the process and is stored nowhere.
struct TestAuthority {
    private let key: CertificateKey
    private let certificate: Certificate

    /// A test may set its clock back, and a process may run for long.
    private static let validity = (Date.now - 86_400)...(Date.now + 30 * 86_400)

    init() throws {
        key = try CertificateKey()
        certificate = try Certificate(
            .authority(below: 0),
            subject: "Waystation test authority",
            key: key,
            validity: Self.validity
        )
    }

    /// The certificate in PEM form.
    var pem: String { certificate.pem }

    /// The certificate in DER form.
    var der: Data { certificate.der }

    /// The settings of TLS of a server for `localhost` and `127.0.0.1`.
    func makeContext(protocols: [String]) throws -> NIOSSLContext {
        let key = try CertificateKey()
        let leaf = try Certificate(
            .server(names: ["localhost"], addresses: ["127.0.0.1"]),
            subject: "localhost",
            key: key,
            validity: Self.validity,
            issuer: (certificate, self.key)
        )
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(leaf.pem.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pem.utf8), format: .pem))
        )
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}

/// Sends the request of a stream of HTTP/2 as one of HTTP/1.1, on a connection of its own.
final class StreamRelay: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let behind: any Channel

    private init(_ behind: any Channel) { self.behind = behind }

    /// Connects a stream to a port on loopback.
    static func begin(_ stream: any Channel, to port: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: stream.eventLoop)
            .channelInitializer { $0.pipeline.addHTTPClientHandlers() }
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { behind in
                try stream.pipeline.syncOperations.addHandlers([
                    HTTP2FramePayloadToHTTP1ServerCodec(), StreamRelay(behind),
                ])
                try behind.pipeline.syncOperations.addHandler(ResponseRelay(to: stream))
            }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            head.version = .http1_1
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            behind.write(HTTPClientRequestPart.head(head), promise: nil)
        case .body(let part): behind.write(HTTPClientRequestPart.body(.byteBuffer(part)), promise: nil)
        case .end(let trailers): behind.write(HTTPClientRequestPart.end(trailers), promise: nil)
        }
        behind.flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        behind.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Passes the response back to the stream; a response that breaks off resets the stream.
private final class ResponseRelay: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let stream: any Channel
    private var isWhole = false

    init(to stream: any Channel) { self.stream = stream }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            guard head.status.code >= 200 else { return }
            // RFC 9113, section 8.2.2: fields of a connection do not belong to a stream.
            for name in ["Connection", "Keep-Alive", "Transfer-Encoding"] { head.headers.remove(name: name) }
            stream.writeAndFlush(HTTPServerResponsePart.head(head), promise: nil)
        case .body(let part): stream.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(part)), promise: nil)
        case .end(let trailers):
            isWhole = true
            stream.writeAndFlush(HTTPServerResponsePart.end(trailers), promise: nil)
        }
    }

    /// Nothing more is read of the request while its connection cannot take it.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        stream.setOption(.autoRead, value: isWritable).whenFailure { _ in }
        // A stream of HTTP/2 does not begin to read again by the option alone.
        if isWritable { stream.read() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isWhole { stream.close(promise: nil) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif

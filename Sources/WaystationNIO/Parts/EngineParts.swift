#if NIO
import NIOCore
package import NIOPosix
import WaystationArchive
import WaystationFoundation

/// The parts of the engine that can be exchanged or left out.
struct EngineParts: Sendable {
    /// Makes an HTTP/2 connection on a channel whose TLS handshake, if any, is complete.
    typealias MakeHTTP2Connection =
        @Sendable (any Channel, any ConnectionOwner, NIOOptions.Limits) throws -> any ExchangeConnection
    /// Makes a connection that a client of another library opens and keeps, and that takes any number of exchanges.
    ///
    /// It is called on the engine's event loop.
    typealias MakeClientConnection = @Sendable (Origin, any ConnectionOwner, any EventLoop) -> any ExchangeConnection
    /// Opens a tunnel to `authority` through the proxy that a channel is connected to (CONNECT).
    ///
    /// When the future succeeds, the channel carries the bytes of the tunnel, and has no handler left from opening it.
    /// The channel does not read by itself.
    typealias OpenTunnel =
        @Sendable (any Channel, _ authority: String, Route.Proxy, NIOOptions.Limits) -> EventLoopFuture<Void>
    /// Yields the way to an origin.
    typealias FindRoute = @Sendable (_ host: String, _ port: Int, _ isSecure: Bool) -> Route
    /// Calls work after a pause, on an event loop; it is called on the same loop.
    typealias AfterPause = @Sendable (TimeAmount, any EventLoop, @escaping () -> Void) -> Void

    /// Tells whether a descriptor is one of the last that the process can have.
    typealias IsReserved = @Sendable (_ descriptor: CInt) -> Bool

    /// Without it, bodies are delivered as they arrive.
    var makeDecoder: MakeContentDecoder?
    /// The codings that `makeDecoder` knows, for `Accept-Encoding`.
    var codings: [String] = []
    /// Without it, only HTTP/1.1 is spoken.
    var makeHTTP2Connection: MakeHTTP2Connection?
    /// Without it, the engine opens and keeps its own connections.
    var makeClientConnection: MakeClientConnection?
    /// Without it, tunnels fail.
    var openTunnel: OpenTunnel?
    /// Makes the function that yields routes from the environment of the options.
    ///
    /// Without it, all routes are direct.
    var makeRoutes: (@Sendable (_ environment: [String: String]) -> FindRoute)?
    /// The event loops of the transport, each of which carries the requests that come from it; all others are carried on
    /// one of them.
    ///
    /// Without it, the transport has a loop of all transports, and only requests from a server's loop are carried on that.
    var loops: (any EventLoopGroup)?
    /// Tells which sockets are given back while there are other connections; tests decide which.
    var isReserved: IsReserved = DescriptorReserve.contains
    /// Calls the work on the event loop after a pause that the engine has decided on; tests decide when.
    var afterPause: AfterPause = { pause, loop, work in
        guard pause > .zero else { return work() }
        loop.assumeIsolated().scheduleTask(in: pause, work)
    }
}

extension EngineParts {
    /// The parts of a transport that an app makes.
    static let standard = EngineParts(
        makeDecoder: { ContentDecoding.make(for: $0, limits: $1) },
        codings: ContentCodecs.available,
        makeHTTP2Connection: { channel, owner, limits in
            var own = HTTP2Limits()
            own.headBytes = limits.headBytes
            own.fields = limits.fields
            own.interimResponses = limits.interimResponses
            return try HTTP2Connection.make(channel: channel, owner: owner, limits: own)
        },
        openTunnel: { channel, authority, proxy, _ in ConnectHandler.open(on: channel, to: authority, proxy) },
        makeRoutes: { environment in
            let settings = ProxySettings(environment: environment)
            return { host, _, isSecure in settings.route(toHost: host, isSecure: isSecure) }
        }
    )
}

/// The settings of an engine, made from a session configuration and the transport's options.
struct EngineSettings: Sendable {
    var connectionsPerHost = 6
    var idleLifetime = TimeAmount.seconds(60)
    var connectTimeout = TimeAmount.seconds(15)
    /// How long a body waits for a 100 response (RFC 9110 §10.1.1); libcurl waits as long.
    var continueTimeout = TimeAmount.seconds(1)
    var limits = NIOOptions.Limits()
    var httpVersions = NIOOptions.HTTPVersions.automatic

    init() {}

    init(_ configuration: URLSessionConfiguration, _ options: NIOOptions) {
        connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        idleLifetime = Self.amount(options.idleConnectionLifetime)
        connectTimeout = Self.amount(options.connectTimeout)
        limits = options.limits
        httpVersions = options.httpVersions
    }

    /// A time between 0 and a day.
    private static func amount(_ seconds: TimeInterval) -> TimeAmount {
        .milliseconds(Int64(min(max(seconds.isFinite ? seconds : 86_400, 0), 86_400) * 1000))
    }
}

/// The event loops of servers whose requests are carried on the loop that has got them.
///
/// They are not those of the transports: loads of a server run the app's code on its loops, and an app's load that this
/// code waits for is carried elsewhere.
package enum ServerLoops {
    package static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    static let identities = EventLoopIdentities(group)
}

/// The event loops of a group, by which a thread of the group is recognised.
struct EventLoopIdentities: Sendable {
    private let identities: Set<ObjectIdentifier>

    init(_ group: any EventLoopGroup) { identities = Set(group.makeIterator().map { ObjectIdentifier($0) }) }

    /// The loop of the calling thread; nil if the thread has no loop of the group.
    var current: (any EventLoop)? {
        MultiThreadedEventLoopGroup.currentEventLoop.flatMap { identities.contains(ObjectIdentifier($0)) ? $0 : nil }
    }
}
#endif

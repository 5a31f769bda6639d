#if NIO
import NIOCore

/// The parts of the engine that can be exchanged or left out.
struct EngineParts: Sendable {
    /// Makes an HTTP/2 connection on a channel whose TLS handshake, if any, is complete.
    typealias MakeHTTP2Connection =
        @Sendable (any Channel, any ConnectionOwner, NIOOptions.Limits) throws -> any ExchangeConnection
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
    /// Without it, tunnels fail.
    var openTunnel: OpenTunnel?
    /// Makes the function that yields routes from the environment of the options.
    ///
    /// Without it, all routes are direct.
    var makeRoutes: (@Sendable (_ environment: [String: String]) -> FindRoute)?
    /// Tells which sockets are given back while there are other connections; tests decide which.
    var isReserved: IsReserved = DescriptorReserve.contains
    /// Calls the work on the event loop after a pause that the engine has decided on; tests decide when.
    var afterPause: AfterPause = { pause, loop, work in
        guard pause > .zero else { return work() }
        loop.assumeIsolated().scheduleTask(in: pause, work)
    }
}
#endif

#if NIO
package import NIOCore
package import NIOHTTP1
package import WaystationFoundation

/// Opens connections to origins for protocols that begin with a request of HTTP/1.1, such as web sockets (RFC 6455), and
/// for tunnels, whose bytes the transport does not read.
///
/// They use the proxies, the certificates and the limits of a transport, but not its pool.
package final class ConnectionOpener: Sendable {
    /// A connection on which nothing was sent yet, and the request to send.
    ///
    /// The channel does not read by itself, and has no handlers that speak HTTP.
    package typealias Opened = (channel: any Channel, head: HTTPRequestHead)

    private let composer: RequestComposer
    private let contexts: TLSContexts
    private let openTunnel: EngineParts.OpenTunnel?
    private let settings: EngineSettings

    init(_ composer: RequestComposer, _ options: NIOOptions, _ settings: EngineSettings, _ parts: EngineParts) {
        var composer = composer
        let route = composer.route
        // RFC 6455 §4.1: a web socket passes a proxy by CONNECT, also without TLS.
        composer.route = { host, port, isSecure in
            let route = route(host, port, isSecure)
            if case .absoluteForm(let proxy) = route { return .tunnel(proxy) }
            return route
        }
        composer.codings = []
        self.composer = composer
        self.settings = settings
        openTunnel = parts.openTunnel
        contexts = TLSContexts(options, protocols: ["http/1.1"])
    }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - request: The first request, without a body.
    ///   - loop: The event loop of the channel.
    ///   - completion: Called once on the event loop, and not before this method returns: the connection, or the
    ///     `URLError` that describes the failure. A client that no longer wants the connection closes it then.
    package func open(
        _ request: URLRequest,
        on loop: any EventLoop,
        _ completion: @escaping @Sendable (Result<Opened, any Error>) -> Void
    ) {
        loop.execute { [self] in
            do {
                let composed = try composer.compose(request)
                connect(to: composed.origin, on: loop) { result in
                    completion(
                        result.map { ($0, HTTPRequestHead(composed.head)) }
                            .mapError { $0.error(for: request.url) }
                    )
                }
            } catch {
                let failure = error as? TransportFailure ?? TransportFailure(.unknown, "\(error)")
                completion(.failure(failure.error(for: request.url)))
            }
        }
    }

    /// Opens a connection whose bytes the client chooses, such as those of TLS.
    ///
    /// If the environment names a proxy for `https` that is not the caller, the connection leads through it.
    ///
    /// - Parameters:
    ///   - host: A name or an IP address, without brackets.
    ///   - port: The port.
    ///   - proxyPort: The port at which the caller itself is a proxy.
    ///   - via: The value of `Via` by which the caller recognises its own requests. Only a proxy at the caller's port
    ///     gets it, because its name may be one of this machine that only a resolver knows.
    ///   - loop: The event loop of the channel.
    ///   - completion: Called once on the event loop, and not before this method returns: the channel, which does not
    ///     read by itself, or the `URLError` that describes the failure.
    package func open(
        to host: String,
        port: Int,
        proxyPort: Int,
        via: String,
        on loop: any EventLoop,
        _ completion: @escaping @Sendable (Result<any Channel, any Error>) -> Void
    ) {
        loop.execute { [self] in
            let host = host.lowercased()
            var route = composer.route(host, port, true).avoiding(loopbackPort: proxyPort)
            if route.leads(throughPort: proxyPort) { route = route.marked(via) }
            if case .unsupported(let reason) = route {
                return completion(.failure(TransportFailure.unsupported(reason).error(for: nil)))
            }
            connect(to: Origin(isSecure: false, host: host, port: port, route: route), on: loop) { result in
                completion(result.mapError { $0.error(for: nil) })
            }
        }
    }

    /// Whether the environment names a proxy for an origin that may be the caller.
    ///
    /// The port alone decides: the proxy's host may be a name of this machine that only a resolver knows.
    ///
    /// - Parameters:
    ///   - host: A name or an IP address, with or without brackets.
    ///   - port: The port.
    ///   - isSecure: Whether the scheme is `https`.
    ///   - proxyPort: The port at which the caller itself is a proxy.
    /// - Returns: Whether a request to the origin might reach the caller.
    package func mayBeProxied(_ host: String, port: Int, isSecure: Bool, byPort proxyPort: Int) -> Bool {
        composer.route(host, port, isSecure).leads(throughPort: proxyPort)
    }

    /// Whether the environment names a proxy for any origin that may be the caller: a check without the parts of a URL.
    ///
    /// - Parameter proxyPort: The port at which the caller itself is a proxy.
    /// - Returns: False if ``mayBeProxied(_:port:isSecure:byPort:)`` is false for every origin.
    package func mayBeProxied(byPort proxyPort: Int) -> Bool {
        mayBeProxied("", port: 80, isSecure: false, byPort: proxyPort)
            || mayBeProxied("", port: 443, isSecure: true, byPort: proxyPort)
    }

    /// Connects to an origin within the time that this may take; call it on the event loop.
    private func connect(
        to origin: Origin,
        on loop: any EventLoop,
        _ completion: @escaping (Result<any Channel, TransportFailure>) -> Void
    ) {
        let connector = Connector(
            loop: loop,
            contexts: contexts,
            http1Contexts: contexts,
            choice: HTTPVersionChoice(versions: .http1, canSpeakHTTP2: false),
            openTunnel: openTunnel,
            limits: settings.limits
        )
        let attempt = connector.connect(
            to: origin,
            deadline: .now() + settings.connectTimeout,
            make: { channel, _ in channel },
            completion: completion
        )
        let bound = NIOLoopBound(attempt, eventLoop: loop)
        loop.scheduleTask(deadline: attempt.deadline) {
            if !bound.value.isOver { bound.value.timeOut() }
        }
    }
}
#endif

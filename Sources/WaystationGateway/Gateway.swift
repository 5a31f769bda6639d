#if Gateway
import Logging
public import ServiceLifecycle
import Synchronization
public import Waystation
public import WaystationFoundation

/// A server on the loopback interface that answers browsers by the rules of an interceptor.
///
/// ```swift
/// let gateway = Gateway(interceptor)
/// try await gateway.start()
/// show(gateway.url(for: start))  // for https://shop.example/app/: http://shop-example.localhost:43121/app/
/// ```
///
/// The name `shop-example.localhost` stands for `https://shop.example`: a request for it passes the same rules, files,
/// packs, cache and login as a load of the app's own sessions. Requests that no rule takes are
/// refused.
///
/// A gateway that is released while it listens takes no more connections. All members may be called from any thread.
public final class Gateway: Service {
    private enum State {
        case idle
        case starting
        case running(GatewayServer)
        case stopped(GatewayServer?)
    }

    private let interceptor: Interceptor
    private let options: GatewayOptions
    /// Nil unless ``GatewayOptions/inspector`` is set.
    private let inspection: Inspection?
    private let state = Mutex(State.idle)
    private let stopped = AsyncStream<Never>.makeStream()

    /// Makes a gateway, which begins to listen with ``start()`` or ``run()``.
    ///
    /// - Parameters:
    ///   - interceptor: The rules, and everything that they use.
    ///   - configure: Changes the options.
    public init(_ interceptor: Interceptor, _ configure: (inout GatewayOptions) -> Void = { _ in }) {
        var options = GatewayOptions()
        configure(&options)
        self.options = options
        self.interceptor = interceptor
        inspection = options.inspector ? Inspection() : nil
    }

    /// Begins to listen, and returns when browsers can connect.
    ///
    /// - Throws: ``GatewayError`` if the port cannot be used, or if the gateway was started before.
    public func start() async throws(GatewayError) {
        let mayStart = state.withLock { state in
            guard case .idle = state else { return false }
            state = .starting
            return true
        }
        guard mayStart else { throw GatewayError(.startedBefore, "the gateway was started before: make another one") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        if interceptor.cookies == nil {
            // The browser keeps the cookies.
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
        }
        configuration.urlCache = nil
        inspection?.begin(interceptor)
        let loads = ClientLoads(interceptor, configuration)
        let shared = Mutex<GatewayServing?>(nil)
        do {
            let server = try await GatewayServer.start(options) { [options, interceptor, inspection] port in
                shared.withLock { shared in
                    // An attempt on another port may have failed before.
                    if let shared, shared.names.port == port { return shared }
                    let made = GatewayServing(loads, cookies: interceptor.cookies, options, port: port) { names in
                        inspection.map { Inspector(interceptor, loads, names, $0) }
                    }
                    shared = made
                    return made
                }
            }
            let wasStopped = state.withLock { state in
                if case .stopped = state {
                    state = .stopped(server)
                    return true
                }
                state = .running(server)
                return false
            }
            if wasStopped {
                inspection?.end()
                return await server.stop(within: .zero)
            }
            options.logger.trace("listening at http://127.0.0.1:\(server.port)/", metadata: ["port": "\(server.port)"])
        } catch {
            inspection?.end()
            state.withLock { state in
                if case .starting = state { state = .idle }
            }
            throw error
        }
    }

    /// Listens until the task is cancelled, ``stop(within:)`` is called, or the group of services that runs the gateway
    /// is shut down.
    ///
    /// ```swift
    /// let services = ServiceGroup(services: [gateway], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// try await services.run()
    /// ```
    ///
    /// - Throws: ``GatewayError`` if the port cannot be used.
    public func run() async throws {
        if port == nil { try await start() }
        await withGracefulShutdownHandler {
            for await _ in stopped.stream {}
        } onGracefulShutdown: {
            self.stopped.continuation.finish()
        }
        await stop()
    }

    /// Ends the gateway: it takes no more connections, and returns when the present requests have ended.
    ///
    /// - Parameter grace: The longest time to wait for requests that are under way; their connections are then closed.
    public func stop(within grace: Duration = .seconds(5)) async {
        let server: GatewayServer? = state.withLock { state in
            let server: GatewayServer? =
                switch state {
                case .running(let server): server
                case .stopped(let server): server
                case .idle, .starting: nil
                }
            state = .stopped(server)
            return server
        }
        stopped.continuation.finish()
        await server?.stop(within: grace)
        inspection?.end()
    }

    /// The port at which the gateway listens; nil before ``start()`` and after ``stop(within:)``.
    public var port: Int? {
        state.withLock { state in
            if case .running(let server) = state { server.port } else { nil }
        }
    }

    /// The URL under which a browser finds a page.
    ///
    /// - Parameter url: An `http` or `https` URL with a host name or an IPv4 address.
    /// - Returns: The URL; nil for other URLs, and while the gateway does not listen.
    public func url(for url: URL) -> URL? {
        port.flatMap { LocalNames(port: $0, hasInspector: options.inspector).local(url.absoluteString) }
            .flatMap { URL(string: $0) }
    }

    /// The URL that opens the inspector in a browser; nil without ``GatewayOptions/inspector``, and while the gateway
    /// does not listen.
    ///
    /// The URL contains a secret, which each gateway makes anew. A program on this machine that has the URL can see the
    /// loads, and can change the cache and the packs: show the URL to the developer only.
    public var inspectorURL: URL? {
        guard let port, let inspection else { return nil }
        return InspectorGate(port: port, inspection.secret).url
    }
}
#endif

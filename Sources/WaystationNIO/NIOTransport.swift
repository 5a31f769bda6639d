#if NIO
import NIOCore
import NIOPosix
import Synchronization
public import Waystation
public import WaystationFoundation

/// HTTP on SwiftNIO: one exchange for each request, over connections that are kept and shared.
///
/// A transport follows no redirects, answers no challenges and keeps neither a cache nor cookies. It removes content
/// codings, and reads a body only as fast as its receiver takes it. All its work is done on one event loop, where the
/// receivers are called as well: a receiver must return quickly. Only the requests that a gateway's connections send are
/// carried on the event loops of these connections, each with connections of its own, and a transport over an `HTTPClient`
/// works on the loops of that client.
///
/// When the transport is released, idle connections are closed; exchanges that are running continue.
public final class NIOTransport: Transport, BodyAwaitingTransport {
    /// The event loops of all transports but those over an `HTTPClient`.
    ///
    /// They are not those that the app may use itself: receivers run code of the app, and a load that waits for its own
    /// event loop would wait for ever.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private let composer: RequestComposer
    /// The engine for requests from threads that have no event loop.
    private let inbox: Inbox
    /// The engines on other event loops, which the first request from a loop makes.
    private let served = Mutex<[ObjectIdentifier: Inbox]>([:])
    private let makeInbox: @Sendable (any EventLoop) -> Inbox
    /// The event loops that carry the requests which come from them.
    private let ownCarriers: EventLoopIdentities
    /// Opens connections for protocols other than HTTP.
    package let opener: ConnectionOpener

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - configuration: Its `httpAdditionalHeaders`, its `httpMaximumConnectionsPerHost` and its
    ///     `timeoutIntervalForRequest` are used.
    ///   - options: Settings that a configuration lacks.
    public convenience init(configuration: URLSessionConfiguration, options: NIOOptions = .init()) {
        self.init(configuration: configuration, options: options, parts: .standard)
    }

    /// Makes a transport with parts and settings that apps cannot choose.
    init(
        configuration: URLSessionConfiguration,
        options: NIOOptions,
        parts: EngineParts,
        adjust: (inout EngineSettings) -> Void = { _ in }
    ) {
        var composer = RequestComposer()
        composer.codings = parts.makeDecoder == nil ? [] : parts.codings
        composer.additionalFields = configuration.additionalFields.map { ($0.key, $0.value) }
        composer.sessionTimeout = configuration.timeoutIntervalForRequest
        if let makeRoutes = parts.makeRoutes { composer.route = makeRoutes(options.environment) }
        self.composer = composer

        var settings = EngineSettings(configuration, options)
        adjust(&settings)
        let choice = HTTPVersionChoice(
            versions: options.httpVersions,
            canSpeakHTTP2: parts.makeHTTP2Connection != nil
        )
        let contexts = TLSContexts(options, protocols: choice.offeredProtocols)
        let http1Contexts = TLSContexts(options, protocols: ["http/1.1"])
        makeInbox = { [settings] loop in
            let connector = Connector(
                loop: loop,
                contexts: contexts,
                http1Contexts: http1Contexts,
                choice: choice,
                openTunnel: parts.openTunnel,
                limits: settings.limits
            )
            let engine = NIOLoopBoundBox.makeBoxSendingValue(
                Engine(loop: loop, settings: settings, parts: parts, connector: connector),
                as: Engine.self,
                eventLoop: loop
            )
            return Inbox(engine, loop: loop)
        }
        inbox = makeInbox((parts.loops ?? Self.loops).next())
        ownCarriers = parts.loops.map { EventLoopIdentities($0) } ?? ServerLoops.identities
        opener = ConnectionOpener(composer, options, settings, parts)
    }

    deinit {
        inbox.post(.retire)
        for inbox in served.withLock({ $0.values.map { $0 } }) { inbox.post(.retire) }
    }

    /// The inbox of the event loop that carries the requests of the calling thread.
    ///
    /// A request of a server, or from a loop of the transport's `HTTPClient`, is carried on the event loop that has got it, so
    /// that neither it nor its response changes the thread.
    private var present: Inbox {
        guard let loop = ownCarriers.current else { return inbox }
        return served.withLock { served in
            if let inbox = served[ObjectIdentifier(loop)] { return inbox }
            let inbox = makeInbox(loop)
            served[ObjectIdentifier(loop)] = inbox
            return inbox
        }
    }

    /// True, because a start only puts the request into a list.
    public var startsOnAnyQueue: Bool { true }

    /// Whether the transport can perform a request.
    ///
    /// It can for `http` and `https` URLs, unless their host has a zone identifier, or the environment names a proxy of
    /// an unknown kind for it.
    public func canCarry(_ request: URLRequest) -> Bool { composer.canCarry(request.url) }

    /// Starts an exchange and returns at once.
    ///
    /// A request that cannot be sent as it is, such as one with a line break in a field, ends with an error.
    public func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let inbox = present
        let id = inbox.nextExchange()
        do {
            let composed = try composer.compose(request)
            inbox.post(.start(ExchangeOrder(id: id, request: composed, receiver: receiver)))
        } catch {
            let failure = error as? TransportFailure ?? TransportFailure(.unknown, "\(error)")
            inbox.post(.refuse(receiver, failure.error(for: request.url)))
        }
        return ExchangeHandle(id: id, inbox: inbox)
    }
}

extension Interceptor.Carrier {
    /// The engine on SwiftNIO, with its default options.
    public static let nio = nio(NIOOptions())

    /// The engine on SwiftNIO, with options that a session configuration lacks.
    public static func nio(_ options: NIOOptions) -> Interceptor.Carrier {
        Interceptor.Carrier { NIOTransport(configuration: $0, options: options) }
    }
}
#endif

#if NIO
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import WaystationHTTP

/// Makes connections: name look-up, TCP, tunnel and TLS.
///
/// It is confined to its event loop.
final class Connector {
    typealias Version = HTTPVersionChoice.Version

    private let loop: any EventLoop
    private let contexts: TLSContexts
    /// The contexts for servers that take HTTP/1.1 only.
    private let http1Contexts: TLSContexts
    private let choice: HTTPVersionChoice
    private let openTunnel: EngineParts.OpenTunnel?
    private let limits: NIOOptions.Limits

    init(
        loop: any EventLoop,
        contexts: TLSContexts,
        http1Contexts: TLSContexts,
        choice: HTTPVersionChoice,
        openTunnel: EngineParts.OpenTunnel?,
        limits: NIOOptions.Limits
    ) {
        self.loop = loop
        self.contexts = contexts
        self.http1Contexts = http1Contexts
        self.choice = choice
        self.openTunnel = openTunnel
        self.limits = limits
    }

    /// Makes a connection.
    ///
    /// - Parameters:
    ///   - origin: The server, and the way to it.
    ///   - offersOnlyHTTP1: Whether HTTP/1.1 is spoken, whatever the transport could offer.
    ///   - isReserved: Tells with which descriptors the attempt fails, as it would without a free one.
    ///   - deadline: The time at which the connection must be complete.
    ///   - make: Makes the connection of HTTP on a channel that is ready for it. It is called in the same step in which
    ///     the handshake ends, because an HTTP/2 server may send at once.
    ///   - completion: Gets what `make` returned, or the failure; it is not called after the attempt was abandoned, and
    ///     never before this method returns.
    /// - Returns: The attempt, which can be given up.
    func connect<Made>(
        to origin: Origin,
        offersOnlyHTTP1: Bool = false,
        sparing isReserved: EngineParts.IsReserved? = nil,
        deadline: NIODeadline,
        make: @escaping (any Channel, Version) throws -> Made,
        completion: @escaping (Result<Made, TransportFailure>) -> Void
    ) -> ConnectAttempt {
        let attempt = ConnectAttempt(deadline: deadline)
        // A proxy that gets whole URLs speaks HTTP/1.1: a path of HTTP/2 begins with a slash (RFC 9113 §8.3.1).
        let speaksOnlyHTTP1 = if case .absoluteForm = origin.route { true } else { offersOnlyHTTP1 }
        let choice = speaksOnlyHTTP1 ? HTTPVersionChoice(versions: .http1, canSpeakHTTP2: false) : self.choice
        let contexts = offersOnlyHTTP1 ? http1Contexts : self.contexts
        var negotiated: String?
        attempt.whenOver { result in
            switch result {
            case .failure(let failure): completion(.failure(failure))
            case .success(let channel):
                do {
                    completion(.success(try make(channel, try choice.version(negotiated: negotiated))))
                } catch let failure as TransportFailure {
                    channel.close(promise: nil)
                    completion(.failure(failure))
                } catch {
                    channel.close(promise: nil)
                    completion(.failure(TransportFailure(.unknown, "The connection cannot be set up: \(error).")))
                }
            }
        }
        // A connect to an address can fail within the call: the caller must have the attempt by then.
        loop.assumeIsolated().execute {
            guard !attempt.isOver else { return }
            self.openSocket(for: origin, sparing: isReserved, attempt) { channel in
                self.tunnel(channel, to: origin, attempt) {
                    guard origin.isSecure else { return attempt.succeed(channel) }
                    self.encrypt(channel, to: origin, contexts, attempt) {
                        negotiated = $0
                        attempt.succeed(channel)
                    }
                }
            }
        }
        return attempt
    }

    private func openSocket(
        for origin: Origin,
        sparing isReserved: EngineParts.IsReserved?,
        _ attempt: ConnectAttempt,
        _ next: @escaping (any Channel) -> Void
    ) {
        let (host, port) = origin.endpoint
        let bound = NIOLoopBound(attempt, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.autoRead, value: false)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 32 << 10))
            .connectTimeout(max(.milliseconds(1), attempt.deadline - .now()))
            .channelInitializer { channel in
                bound.value.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    try Inheritance.prevent(of: channel)
                    if let isReserved { try DescriptorReserve.spare(channel, isReserved) }
                }
            }
        let connected: EventLoopFuture<any Channel>
        if let address = try? SocketAddress(ipAddress: host, port: port) {
            connected = bootstrap.connect(to: address)
        } else {
            connected = bootstrap.resolver(NameResolver(loop: loop)).connect(host: host, port: port)
        }
        connected.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel):
                // The server can close the channel while it has no handlers that would notice, such as during the time
                // in which the TLS context is made.
                channel.closeFuture.assumeIsolated().whenComplete { _ in
                    attempt.fail(TransportFailure(handshake: ChannelError.eof, host: host))
                }
                next(channel)
            case .failure(let error): attempt.fail(TransportFailure(connecting: error, host: host, port: port))
            }
        }
    }

    private func tunnel(
        _ channel: any Channel,
        to origin: Origin,
        _ attempt: ConnectAttempt,
        _ next: @escaping () -> Void
    ) {
        guard !attempt.isOver else { return }
        guard case .tunnel(let proxy) = origin.route else { return next() }
        guard let openTunnel else {
            return attempt.fail(
                TransportFailure(.unknown, "This build cannot open tunnels. Connect without the proxy.")
            )
        }
        openTunnel(channel, origin.authorityWithPort, proxy, limits).hop(to: loop).assumeIsolated().whenComplete {
            result in
            switch result {
            case .success: next()
            case .failure(let failure as TransportFailure): attempt.fail(failure)
            case .failure(let error):
                attempt.fail(
                    TransportFailure(.unknown, "The proxy \(proxy.host) opened no tunnel: \(error). Check the proxy.")
                )
            }
        }
    }

    private func encrypt(
        _ channel: any Channel,
        to origin: Origin,
        _ contexts: TLSContexts,
        _ attempt: ConnectAttempt,
        _ next: @escaping (String?) -> Void
    ) {
        let bound = NIOLoopBound((self, attempt, next), eventLoop: loop)
        contexts.source(for: origin).context(on: loop) { answer in
            let (connector, attempt, next) = bound.value
            switch answer {
            case .success(let context): connector.startHandshake(context, channel, origin, attempt, next)
            case .failure(let failure): attempt.fail(failure)
            }
        }
    }

    private func startHandshake(
        _ context: NIOSSLContext,
        _ channel: any Channel,
        _ origin: Origin,
        _ attempt: ConnectAttempt,
        _ next: @escaping (String?) -> Void
    ) {
        guard !attempt.isOver else { return }
        do {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: origin.serverName)
            let observer = HandshakeObserver { result in
                do {
                    let negotiated = try result.get()
                    try ServerIdentity(handler.peerCertificate).check(isFor: origin.host)
                    next(negotiated)
                } catch {
                    attempt.fail(TransportFailure(handshake: error, host: origin.host))
                }
            }
            // The observer comes first, because the handshake begins as soon as its handler is added.
            try channel.pipeline.syncOperations.addHandler(observer)
            try channel.pipeline.syncOperations.addHandler(handler, position: .before(observer))
        } catch {
            attempt.fail(TransportFailure(handshake: error, host: origin.host))
        }
    }
}

extension Origin {
    /// The host and port that a socket connects to.
    fileprivate var endpoint: (host: String, port: Int) {
        switch route {
        case .direct, .unsupported: (host, port)
        case .absoluteForm(let proxy), .tunnel(let proxy): (proxy.host, proxy.port)
        }
    }

    /// Host and port as CONNECT names them (RFC 9110 §9.3.6).
    fileprivate var authorityWithPort: String { String(host: host, port: port) }
}

/// Reports the end of a TLS handshake, and reads until then.
final class HandshakeObserver: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var completion: ((Result<String?, any Error>) -> Void)?

    /// - Parameter completion: Gets the protocol that the server chose, or the error, once.
    init(_ completion: @escaping (Result<String?, any Error>) -> Void) { self.completion = completion }

    func handlerAdded(context: ChannelHandlerContext) { context.read() }

    func channelReadComplete(context: ChannelHandlerContext) {
        if completion != nil { context.read() }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            finish(.success(negotiated))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard completion != nil else { return context.fireErrorCaught(error) }
        finish(.failure(error))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(ChannelError.eof))
        context.fireChannelInactive()
    }

    private func finish(_ result: Result<String?, any Error>) {
        let completion = self.completion
        self.completion = nil
        completion?(result)
    }
}

/// A connection that is being made.
///
/// It is confined to the event loop.
final class ConnectAttempt {
    /// The time at which it must be complete.
    let deadline: NIODeadline
    private var channels: [any Channel] = []
    private var complete: ((Result<any Channel, TransportFailure>) -> Void)?
    /// Whether it has been completed or given up.
    private(set) var isOver = false

    init(deadline: NIODeadline) { self.deadline = deadline }

    /// Sets the closure that gets the channel, when it is ready for HTTP, or the failure.
    func whenOver(_ complete: @escaping (Result<any Channel, TransportFailure>) -> Void) { self.complete = complete }

    /// Records a channel that tries one of the host's addresses, so that giving up can close it.
    func add(_ channel: any Channel) {
        guard !isOver else { return channel.close(promise: nil) }
        channels.append(channel)
    }

    /// A step failed; the first failure counts.
    func fail(_ failure: TransportFailure) {
        guard let complete = finish() else { return }
        closeAll()
        complete(.failure(failure))
    }

    /// The channel is ready for HTTP.
    func succeed(_ channel: any Channel) {
        guard let complete = finish() else { return channel.close(promise: nil) }
        channels = []
        complete(.success(channel))
    }

    /// Gives the attempt up without reporting it.
    func abandon() {
        _ = finish()
        closeAll()
    }

    /// Fails because the deadline has passed.
    func timeOut() {
        fail(
            TransportFailure(.timedOut, "Making a connection took too long. Raise connectTimeout, or try again later.")
        )
    }

    private func finish() -> ((Result<any Channel, TransportFailure>) -> Void)? {
        isOver = true
        defer { complete = nil }
        return complete
    }

    private func closeAll() {
        for channel in channels { channel.close(promise: nil) }
        channels = []
    }
}
#endif

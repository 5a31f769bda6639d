#if Gateway
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import WaystationHTTP
import WaystationNIO

/// The listening sockets of a gateway, and its connections.
final class GatewayServer: Sendable {
    let port: Int
    private let listeners: [any Channel]
    private let connections: Connections

    private init(port: Int, _ listeners: [any Channel], _ connections: Connections) {
        self.port = port
        self.listeners = listeners
        self.connections = connections
    }

    /// Listens on the loopback addresses of IPv4 and, if the machine has it, IPv6.
    ///
    /// A browser may ask for `localhost` at either address; the gateway takes both, so that no other program can.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - makeServing: Makes the parts that the connections share, for the port that was found.
    /// - Returns: The server, which listens.
    /// - Throws: ``GatewayError`` if the port cannot be used.
    static func start(
        _ options: GatewayOptions,
        _ makeServing: @escaping @Sendable (_ port: Int) -> GatewayServing
    ) async throws(GatewayError) -> GatewayServer {
        guard (0...65_535).contains(options.port) else {
            throw GatewayError(
                .invalidPort,
                "\(options.port) is not a port: give a number from 1 to 65535, or 0 for any"
            )
        }
        let connections = Connections(limit: options.maximumConnections)
        var attempts = options.port == 0 ? 8 : 1
        while true {
            let four = try await bind("127.0.0.1", options.port, connections, makeServing)
            guard let port = four.localAddress?.port else {
                throw GatewayError(.notListening, "the gateway's socket has no port")
            }
            do {
                let six = try await bind("::1", port, connections, makeServing)
                return GatewayServer(port: port, [four, six], connections)
            } catch  where error.isAddressMissing {
                return GatewayServer(port: port, [four], connections)
            } catch {
                try? await four.close()
                attempts -= 1
                guard attempts > 0 else { throw error }
            }
        }
    }

    private static func bind(
        _ host: String,
        _ port: Int,
        _ connections: Connections,
        _ makeServing: @escaping @Sendable (Int) -> GatewayServing
    ) async throws(GatewayError) -> any Channel {
        do {
            return try await ServerBootstrap(group: ServerLoops.group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.maxMessagesPerRead, value: 4)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try Inheritance.prevent(of: channel) }
                }
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Inheritance.prevent(of: channel)
                        guard connections.add(channel), let port = channel.localAddress?.port else {
                            channel.close(promise: nil)
                            return
                        }
                        try configure(channel, makeServing(port))
                    }
                }
                .bind(host: host, port: port)
                .get()
        } catch { throw GatewayError(listening: host, port, error) }
    }

    private static func configure(_ channel: any Channel, _ serving: GatewayServing) throws {
        let watch = DeliveryWatch(limit: TimeAmount(serving.options.deliveryTimeout))
        try channel.pipeline.syncOperations.addHandler(watch)
        try speakHTTP(on: channel, serving)
    }

    /// Adds the handlers of HTTP to the end of a connection's pipeline.
    private static func speakHTTP(on channel: any Channel, _ serving: GatewayServing) throws {
        let decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: .gateway),
            // After a request that offers another protocol, the decoder keeps all bytes that follow.
            maximumBufferSize: 1 << 20
        )
        let repeating = RepeatingHandler(serving)
        let fieldBytes = FieldBytes()
        var handlers: [any RemovableChannelHandler] = [repeating, fieldBytes, decoder]
        let takeOver = {
            defer { handlers = [] }
            return handlers
        }
        let idle = TimeAmount(serving.options.tunnelTimeout)
        let connection = ConnectionHandler(serving, repeating, fieldBytes) {
            Tunnel(handlers: takeOver(), idle: idle)
        } connect: { host, port, channel in
            let refuse = { (refusal: Refusal) in
                let authority = String(host: host, port: port)
                let head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: authority)
                serving.didRefuse(head, because: refusal)
                ResponseWriter(channel).writeLast(refusal, to: head)
            }
            do throws(Refusal) {
                if let secured = try serving.securing(host, port: port, now: Date()) {
                    let connection = SecuredConnection(handlers: takeOver(), context: secured.context)
                    connection.begin(on: channel) { try speakHTTP(on: $0, secured.serving) }
                } else {
                    Tunnel(handlers: takeOver(), idle: idle)
                        .open(to: host, port: port, for: channel, serving, refuse)
                }
            } catch { refuse(error) }
        }
        repeating.connection = connection
        handlers.insert(connection, at: 0)
        try channel.pipeline.syncOperations.addHandlers([repeating, fieldBytes, decoder, connection])
    }

    deinit { for listener in listeners { listener.close(promise: nil) } }

    /// Closes the listening sockets, and then the connections when their requests have ended.
    ///
    /// - Parameter grace: The longest time to wait for requests that are under way.
    func stop(within grace: Duration) async {
        for listener in listeners { try? await listener.close() }
        await connections.end(within: TimeAmount(grace), on: ServerLoops.group.next())
    }
}

/// Turns a connection of a proxy's client into one over TLS, with the certificate of the host that the client asked for.
struct SecuredConnection {
    /// The handlers that speak HTTP on the connection, in the order in which they leave it.
    ///
    /// The parser, which may hold bytes, leaves after the handler of the requests.
    let handlers: [any RemovableChannelHandler]
    /// The settings of TLS, with the certificate.
    let context: NIOSSLContext

    /// Answers the client's `CONNECT`, and begins TLS and HTTP within it.
    ///
    /// Call it on the channel's event loop.
    ///
    /// - Parameters:
    ///   - client: The connection.
    ///   - configure: Adds the handlers of HTTP to the end of the pipeline.
    func begin(on client: any Channel, _ configure: @escaping @Sendable (any Channel) throws -> Void) {
        let bound = NIOLoopBound(self, eventLoop: client.eventLoop)
        // In the next turn: the decoder has not passed on the end of this request yet.
        client.eventLoop.execute { bound.value.secure(client, configure) }
    }

    private func secure(_ client: any Channel, _ configure: (any Channel) throws -> Void) {
        guard client.isActive else { return }
        let pipeline = client.pipeline.syncOperations
        do {
            // The answer to CONNECT is written before the client's first bytes of TLS are answered.
            let answer = ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n\r\n")
            client.writeAndFlush(IOData.byteBuffer(answer), promise: nil)
            // TLS is added before the decoder is removed, so that bytes that the decoder still holds reach TLS.
            try pipeline.addHandler(NIOSSLServerHandler(context: context))
            try configure(client)
        } catch { return client.close(promise: nil) }
        // The parser is the last that leaves: no other one is left then that would take bytes of TLS for HTTP.
        for handler in handlers { pipeline.removeHandler(handler, promise: nil) }
    }
}

/// Tells a connection to close after its present request.
struct GatewayStop: Sendable {}

/// The open connections of a gateway.
final class Connections: Sendable {
    private let limit: Int
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var hasEnded = false
    }

    private let open = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Adds a connection until it is closed.
    ///
    /// - Returns: False if there are too many, or if the gateway has ended.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isAdded = open.withLock { open in
            guard open.channels.count < limit, !open.hasEnded else { return false }
            open.channels[id] = channel
            return true
        }
        guard isAdded else { return false }
        channel.closeFuture.whenComplete { [weak self] _ in
            _ = self?.open.withLock { $0.channels.removeValue(forKey: id) }
        }
        return true
    }

    /// Asks all connections to end after their present requests, and closes the rest when the time is over.
    func end(within grace: TimeAmount, on loop: any EventLoop) async {
        let channels = open.withLock { open in
            open.hasEnded = true
            return Array(open.channels.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(GatewayStop()) }
        let timer = loop.scheduleTask(in: grace) { for channel in channels { channel.close(promise: nil) } }
        for channel in channels { try? await channel.closeFuture.get() }
        timer.cancel()
    }
}

/// Answers requests whose bytes have arrived before, without parsing them.
///
/// Equal bytes at the beginning of a request are the same request, which passed all checks when it was parsed. The
/// stations of its load are asked each time. The handler is in front of the parser, and passes on what it does not
/// answer. So that it never takes bytes within a request for a request, it answers only when the connection waits for
/// one, and when everything that the parser has got so far were requests without a body, each of which ended with its
/// read from the socket.
final class RepeatingHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The connection, which holds this handler.
    weak var connection: ConnectionHandler?

    private let serving: GatewayServing
    /// Whether the parser waits for the first byte of a request.
    private var isBetween = true
    /// The bytes that the parser has just got, if they have the form of one request without a body.
    private var arrived: ByteBuffer?
    /// Whether all bytes of the present read were answered here.
    private var hasAnswered = false

    init(_ serving: GatewayServing) { self.serving = serving }

    /// The parser has passed on the head of a request without a body.
    ///
    /// - Parameter head: The head.
    /// - Returns: The bytes of the request, if the same bytes may be answered without the parser; otherwise nil.
    func hasRead(_ head: HTTPRequestHead) -> ByteBuffer? {
        defer { arrived = nil }
        guard let arrived, head.version == .http1_1, head.staysOpen else { return nil }
        isBetween = true
        return arrived
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if isBetween, let connection, connection.isIdle, context.channel.isWritable,
            let response = serving.repeatedResponse(to: bytes)
        {
            hasAnswered = true
            connection.didAnswer(context.channel)
            return context.writeAndFlush(NIOAny(IOData.byteBuffer(response)), promise: nil)
        }
        arrived = isBetween && connection?.isIdle == true && bytes.isWholeRequestHead ? bytes : nil
        isBetween = false
        hasAnswered = false
        context.fireChannelRead(data)
        arrived = nil
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard hasAnswered else { return context.fireChannelReadComplete() }
        hasAnswered = false
        context.read()
    }
}

extension ByteBuffer {
    /// Whether the bytes are the lines of one head, and nothing else.
    ///
    /// The only empty line is the last one, and no control character stands within a line: so no parser of HTTP finds the
    /// end of the head elsewhere.
    fileprivate var isWholeRequestHead: Bool {
        withUnsafeReadableBytes { bytes in
            guard bytes.count > 4, bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return false }
            var lineLength = 0
            var position = 0
            while position < bytes.count {
                switch bytes[position] {
                case 0x0d:
                    guard position + 1 < bytes.count, bytes[position + 1] == 0x0a else { return false }
                    position += 2
                    if lineLength == 0 { return position == bytes.count && position > 4 }
                    lineLength = 0
                case 0x09, 0x20...0x7e, 0x80...:
                    lineLength += 1
                    position += 1
                default: return false
                }
            }
            return false
        }
    }
}
#endif

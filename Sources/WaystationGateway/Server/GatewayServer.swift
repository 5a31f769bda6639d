#if Gateway
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import WaystationNIO
import Synchronization

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
            throw GatewayError("\(options.port) is not a port: give a number from 1 to 65535, or 0 for any")
        }
        let connections = Connections(limit: options.maximumConnections)
        var attempts = options.port == 0 ? 8 : 1
        while true {
            let four = try await bind("127.0.0.1", options.port, connections, makeServing)
            guard let port = four.localAddress?.port else { throw GatewayError("the gateway's socket has no port") }
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
                let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
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
#endif

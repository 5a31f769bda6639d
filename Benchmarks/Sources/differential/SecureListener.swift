import NIOCore
import NIOPosix
import NIOSSL

/// A TLS server on `127.0.0.1`.
final class SecureListener: Sendable {
    /// A loop of its own, so that a busy server does not hold up the loads.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let port: UInt16
    private let channel: any Channel

    /// Starts a server that chooses one of the protocols (ALPN, RFC 7301).
    ///
    /// `certificate` is the path of the certificate and its key, without `.pem` and `.key`; `serve` adds to a new
    /// connection the handlers of its decrypted bytes.
    init(
        certificate: String,
        protocols: [String],
        serve: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate + ".pem").map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate + ".key", format: .pem))
        )
        configuration.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: configuration)
        channel = try ServerBootstrap(group: Self.group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                serve(channel).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLServerHandler(context: context),
                        position: .first
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        port = UInt16(channel.localAddress?.port ?? 0)
    }

    deinit { channel.close(promise: nil) }

    /// Starts a server that passes the decrypted bytes on to a server without TLS.
    convenience init(certificate: String, passingTo port: UInt16) throws {
        try self.init(certificate: certificate, protocols: ["http/1.1"]) { client in
            ClientBootstrap(group: client.eventLoop)
                .channelInitializer { server in
                    server.eventLoop.makeCompletedFuture {
                        try server.pipeline.syncOperations.addHandler(Passing(to: client))
                    }
                }
                .connect(host: "127.0.0.1", port: Int(port))
                .flatMapThrowing { try client.pipeline.syncOperations.addHandler(Passing(to: $0)) }
        }
    }

    /// Passes the bytes of one connection to another.
    private final class Passing: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let peer: any Channel

        init(to peer: any Channel) { self.peer = peer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { peer.close(promise: nil) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

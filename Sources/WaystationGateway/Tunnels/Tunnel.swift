#if Gateway
import NIOCore
import NIOHTTP1
import NIOPosix

/// Turns a connection into a tunnel to a host (RFC 9110 §9.3.6).
struct Tunnel {
    /// The handlers that speak HTTP on the connection, from the last to the first.
    let handlers: [any RemovableChannelHandler]

    /// Connects, and answers the client.
    ///
    /// Call it on the channel's event loop.
    func open(to host: String, port: Int, for client: any Channel) {
        let handlers = NIOLoopBound(handlers, eventLoop: client.eventLoop)
        let (near, far) = Relay.pair()
        let ends = NIOLoopBound((near: near, far: far), eventLoop: client.eventLoop)
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connectTimeout(.seconds(30))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(ends.value.far) }
            }
            .connect(host: host, port: port)
            .whenComplete { result in
                switch result {
                case .success(let server):
                    guard client.isActive else { return server.close(promise: nil) }
                    Self.join(client, without: handlers.value, ends.value)
                case .failure(let error):
                    RefusalResponse.write(
                        .tunnelFailed("\(host):\(port)", error),
                        to: .CONNECT,
                        .http1_1,
                        isKeptAlive: false,
                        on: client
                    )
                }
            }
    }

    private static func join(
        _ client: any Channel,
        without handlers: [any RemovableChannelHandler],
        _ ends: (near: Relay, far: Relay)
    ) {
        let pipeline = client.pipeline.syncOperations
        do {
            // First, so that bytes that the decoder still holds reach it.
            try pipeline.addHandler(ends.near)
        } catch { return client.close(promise: nil) }
        _ = client.setOption(.allowRemoteHalfClosure, value: true)
        let removals = handlers.map { pipeline.removeHandler($0) }
        let bound = NIOLoopBound(ends, eventLoop: client.eventLoop)
        EventLoopFuture.andAllSucceed(removals, on: client.eventLoop).whenComplete { _ in
            client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n\r\n"), promise: nil)
            bound.value.near.start()
            bound.value.far.start()
        }
    }
}
#endif

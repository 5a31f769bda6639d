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
        let bound = NIOLoopBound(self, eventLoop: client.eventLoop)
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connectTimeout(.seconds(30))
            .connect(host: host, port: port)
            .whenComplete { result in
                switch result {
                case .success(let server):
                    guard client.isActive else { return server.close(promise: nil) }
                    bound.value.join(client, server)
                case .failure(let error): Self.refuse(.tunnelFailed("\(host):\(port)", error), client)
                }
            }
    }

    private static func refuse(_ refusal: Refusal, _ client: any Channel) {
        let head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: "")
        RefusalResponse.write(refusal, to: head, closes: true, on: client)
        client.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in client.close(promise: nil) }
    }

    private func join(_ client: any Channel, _ server: any Channel) {
        let (near, far) = Relay.pair()
        let pipeline = client.pipeline.syncOperations
        do {
            try Inheritance.prevent(of: server)
            try server.pipeline.syncOperations.addHandler(far)
            // Before the decoder is removed, so that bytes that it still holds reach the relay.
            try pipeline.addHandler(near)
        } catch {
            server.close(promise: nil)
            return client.close(promise: nil)
        }
        client.setOption(.allowRemoteHalfClosure, value: true).whenComplete { _ in }
        let ends = NIOLoopBound((near: near, far: far), eventLoop: client.eventLoop)
        EventLoopFuture.andAllComplete(handlers.map { pipeline.removeHandler($0) }, on: client.eventLoop)
            .whenComplete { _ in
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n\r\n"), promise: nil)
                ends.value.near.start()
                ends.value.far.start()
            }
    }
}
#endif

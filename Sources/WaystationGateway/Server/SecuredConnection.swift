#if Gateway
import NIOCore
import NIOHTTP1
import NIOSSL

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
#endif

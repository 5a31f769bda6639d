#if Gateway
import Foundation
import NIOCore
import NIOHTTP1
import WaystationNIO

/// Turns a client's connection into one that passes bytes between the client and a server.
struct Tunnel {
    /// The handlers that speak HTTP on the connection, in the order in which they leave it.
    ///
    /// The parser, which may hold bytes, leaves after the handler of the requests.
    let handlers: [any RemovableChannelHandler]
    /// The longest time in which no byte passes through the tunnel.
    let idle: TimeAmount

    /// Connects to a host, and answers the client (CONNECT, RFC 9110 §9.3.6).
    ///
    /// Call it on the channel's event loop.
    ///
    /// - Parameters:
    ///   - host: The name or the address of the host.
    ///   - port: The port.
    ///   - client: The client's connection.
    ///   - serving: Makes the connection to the host, through a proxy if the environment names one.
    ///   - refuse: Called on the event loop if there is no connection to the host.
    func open(
        to host: String,
        port: Int,
        for client: any Channel,
        _ serving: GatewayServing,
        _ refuse: @escaping (Refusal) -> Void
    ) {
        let bound = NIOLoopBound((tunnel: self, refuse: refuse), eventLoop: client.eventLoop)
        serving.opener.open(
            to: host,
            port: port,
            proxyPort: serving.names.port,
            via: serving.targets.loopMark.field,
            on: client.eventLoop
        ) { result in
            switch result {
            case .success(let server):
                guard client.isActive else { return server.close(promise: nil) }
                // When one side stops sending, the other may still send.
                try? server.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                let answer = ByteBuffer(string: "HTTP/1.1 200 Connection Established\r\n\r\n")
                bound.value.tunnel.join(client, server, answer: answer)
            case .failure(let error):
                bound.value.refuse(.tunnelFailed("\(host):\(port)", error.localizedDescription))
            }
        }
    }

    /// Passes bytes between a client and a server, in both directions.
    ///
    /// Call it on the event loop of both channels.
    ///
    /// - Parameters:
    ///   - client: The channel of the client, without reads of its own.
    ///   - server: The channel of the server, on the same event loop, without reads of its own.
    ///   - serverHandlers: The handlers that speak HTTP with the server, from the last to the first, which is the encoder.
    ///   - answer: The first bytes for the client.
    ///   - joined: Called on the event loop when bytes pass.
    func join(
        _ client: any Channel,
        _ server: any Channel,
        _ serverHandlers: [any RemovableChannelHandler] = [],
        answer: ByteBuffer,
        _ joined: @escaping () -> Void = {}
    ) {
        let (near, far) = Relay.pair(idle: idle)
        let (clients, servers) = (client.pipeline.syncOperations, server.pipeline.syncOperations)
        do {
            // The relay is added before the decoders are removed, so that bytes that the decoders still hold reach the
            // relay.
            try servers.addHandler(far)
            try clients.addHandler(near)
            client.write(IOData.byteBuffer(answer), promise: nil)
            // The encoder goes first: it does not know the bytes of the relays.
            if let encoder = serverHandlers.last { servers.removeHandler(encoder, promise: nil) }
        } catch {
            server.close(promise: nil)
            return client.close(promise: nil)
        }
        client.setOption(.allowRemoteHalfClosure, value: true).whenComplete { _ in }
        let ends = NIOLoopBound((near: near, far: far, joined: joined), eventLoop: client.eventLoop)
        let removals =
            serverHandlers.dropLast().map { servers.removeHandler($0) }
            + handlers.map { clients.removeHandler($0) }
        EventLoopFuture.andAllComplete(removals, on: client.eventLoop)
            .whenComplete { _ in
                client.flush()
                ends.value.near.start()
                ends.value.far.start()
                ends.value.joined()
            }
    }
}
#endif

import Foundation

/// A proxy's side of a tunnel: all bytes pass between a client and a port on `127.0.0.1` until either of them closes.
struct Tunnel {
    let client: LoopbackSocket
    let port: UInt16

    /// Connects, answers the client, and passes bytes until the connections end.
    func serve(_ reader: inout RequestReader) {
        guard let server = try? LoopbackSocket.connected(to: port) else {
            _ = client.send(Data("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
            return
        }
        guard client.send(Data("HTTP/1.1 200 Connection Established\r\n\r\n".utf8)),
            server.send(Data(reader.takeRest()))
        else { return server.shutdown() }
        Thread.detachNewThread { [client] in Self.pass(from: server, to: client) }
        Self.pass(from: client, to: server)
    }

    /// Passes bytes in one direction; its end ends the other direction too.
    private static func pass(from source: LoopbackSocket, to target: LoopbackSocket) {
        while let bytes = source.receive(upTo: 1 << 16), target.send(Data(bytes)) {}
        source.shutdown()
        target.shutdown()
    }
}

import Foundation
import WaystationCryptography

/// The server's side of a web socket (RFC 6455).
struct WebSocketServer {
    let socket: LoopbackSocket

    /// Answers the handshake.
    ///
    /// - Returns: Whether it was one.
    func accept(_ request: ScriptedOrigin.Request, subprotocol: String? = nil) -> Bool {
        guard request.value(of: "Upgrade")?.lowercased() == "websocket",
            let key = request.value(of: "Sec-WebSocket-Key")
        else {
            let refusal = "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: close\r\n"
            _ = socket.send(Data("\(refusal)Content-Length: 0\r\n\r\n".utf8))
            return false
        }
        let chosen = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
        let handshake =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\(chosen)"
            + "Sec-WebSocket-Accept: \(Self.accept(for: key))\r\n\r\n"
        return socket.send(Data(handshake.utf8))
    }

    /// The value that proves that the server understood the handshake (RFC 6455, section 4.2.2, step 5.4).
    static func accept(for key: String) -> String {
        let digest = MessageDigest.of(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8), .sha1)
        return Data(digest).base64EncodedString()
    }

    /// Returns every message to the client, until the client closes.
    func echo(_ reader: RequestReader) {
        var frames = WebSocketFrames(socket: socket, reader: reader)
        // A client that leaves without a closing frame ends the stream; then there is no client to answer.
        while let (flags, payload) = try? frames.read() {
            switch flags & 0x0F {
            case WebSocketFrames.Opcode.continuation, WebSocketFrames.Opcode.text, WebSocketFrames.Opcode.binary:
                // The flags are sent back too, so a fragmented message comes back in the same fragments.
                guard frames.send(flags, payload) else { return }
            case WebSocketFrames.Opcode.ping:
                guard frames.send(0x80 | WebSocketFrames.Opcode.pong, payload) else { return }
            case WebSocketFrames.Opcode.close:
                _ = frames.send(0x80 | WebSocketFrames.Opcode.close, payload)
                return
            default: break
            }
        }
    }
}

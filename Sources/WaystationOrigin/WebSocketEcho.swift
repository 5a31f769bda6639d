import Crypto
import Foundation

/// The server's side of a web socket that returns every message to its client (RFC 6455).
struct WebSocketEcho {
    let socket: LoopbackSocket

    private enum Opcode {
        static let continuation: UInt8 = 0x0, text: UInt8 = 0x1, binary: UInt8 = 0x2
        static let close: UInt8 = 0x8, ping: UInt8 = 0x9, pong: UInt8 = 0xA
    }

    /// Answers the handshake, then echoes until the client closes.
    func serve(_ request: ScriptedOrigin.Request, reader: inout RequestReader) {
        guard request.value(of: "Upgrade")?.lowercased() == "websocket",
            let key = request.value(of: "Sec-WebSocket-Key")
        else {
            let refusal = "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: close\r\n"
            _ = socket.send(Data("\(refusal)Content-Length: 0\r\n\r\n".utf8))
            return
        }
        let handshake =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Self.accept(for: key))\r\n\r\n"
        guard socket.send(Data(handshake.utf8)) else { return }
        // A client that leaves without a closing frame ends the stream; then there is no client to answer.
        try? echoFrames(&reader)
    }

    /// The value that proves that the server understood the handshake (RFC 6455, section 4.2.2, step 5.4).
    static func accept(for key: String) -> String {
        let digest = Insecure.SHA1.hash(data: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        return Data(digest).base64EncodedString()
    }

    private func echoFrames(_ reader: inout RequestReader) throws(RequestReader.Failure) {
        while true {
            let (flags, payload) = try readFrame(&reader)
            switch flags & 0x0F {
            case Opcode.continuation, Opcode.text, Opcode.binary:
                // The flags are sent back too, so a fragmented message comes back in the same fragments.
                guard send(flags, payload) else { return }
            case Opcode.ping:
                guard send(0x80 | Opcode.pong, payload) else { return }
            case Opcode.close:
                _ = send(0x80 | Opcode.close, payload)
                return
            default: break
            }
        }
    }

    /// Reads one frame and removes the client's mask (RFC 6455, sections 5.2 and 5.3).
    private func readFrame(
        _ reader: inout RequestReader
    ) throws(RequestReader.Failure) -> (flags: UInt8, payload: [UInt8]) {
        let head = try reader.read(2)
        // RFC 6455, section 5.1: a client's frame is masked.
        guard head[1] & 0x80 != 0 else { throw .malformed }
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            length = try reader.read(length == 126 ? 2 : 8).reduce(0) { ($0 & (Int.max >> 8)) << 8 | Int($1) }
        }
        guard length <= 1 << 26 else { throw .malformed }
        let mask = try reader.read(4)
        let masked = try reader.read(length)
        return (head[0], masked.enumerated().map { $1 ^ mask[$0 & 3] })
    }

    private func send(_ flags: UInt8, _ payload: [UInt8]) -> Bool {
        var frame = [flags]
        switch payload.count {
        case ..<126: frame.append(UInt8(payload.count))
        case ..<65536:
            frame.append(126)
            withUnsafeBytes(of: UInt16(payload.count).bigEndian) { frame += $0 }
        default:
            frame.append(127)
            withUnsafeBytes(of: UInt64(payload.count).bigEndian) { frame += $0 }
        }
        return socket.send(Data(frame + payload))
    }
}

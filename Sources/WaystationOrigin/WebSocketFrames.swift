import Foundation

/// The frames of the server's side of a web socket (RFC 6455, section 5).
struct WebSocketFrames {
    enum Opcode {
        static let continuation: UInt8 = 0x0, text: UInt8 = 0x1, binary: UInt8 = 0x2
        static let close: UInt8 = 0x8, ping: UInt8 = 0x9, pong: UInt8 = 0xA
    }

    let socket: LoopbackSocket
    var reader: RequestReader

    /// Reads one frame and removes the client's mask (RFC 6455, sections 5.2 and 5.3).
    mutating func read() throws(RequestReader.Failure) -> (flags: UInt8, payload: [UInt8]) {
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

    /// Sends a frame.
    ///
    /// - Returns: Whether the client was still there.
    func send(_ flags: UInt8, _ payload: [UInt8]) -> Bool {
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

    /// Sends a closing frame; a reason that is too long for it is cut (RFC 6455, section 5.5).
    func sendClose(_ code: UInt16, _ reason: String) -> Bool {
        var text = reason
        while text.utf8.count > 123 { text.removeLast() }
        return send(0x80 | Opcode.close, withUnsafeBytes(of: code.bigEndian) { Array($0) } + text.utf8)
    }
}

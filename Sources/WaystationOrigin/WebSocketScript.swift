import Foundation

/// Follows the script of a web socket.
struct WebSocketScript {
    /// The reason why a script ended before its end.
    struct Failure: Error {
        let reason: String
    }

    private typealias Opcode = WebSocketFrames.Opcode

    /// The next act of the client.
    private enum Event {
        case message(ScriptedOrigin.WebSocketMessage)
        case pong
        case close(UInt16)
    }

    private let socket: LoopbackSocket
    private var frames: WebSocketFrames
    private var hasSentClose = false
    /// The fragments of a message that is not complete, with the opcode of the first one.
    private var fragments: (opcode: UInt8, bytes: [UInt8])?

    init(socket: LoopbackSocket, reader: RequestReader) {
        self.socket = socket
        frames = WebSocketFrames(socket: socket, reader: reader)
    }

    /// Follows the steps, and closes after the last one.
    ///
    /// - Throws: The first difference between the script and what the client did.
    mutating func run(_ steps: [ScriptedOrigin.WebSocketStep]) throws(Failure) {
        for (number, step) in steps.enumerated() {
            do throws(Failure) {
                guard try follow(step) else { return }
            } catch {
                if !hasSentClose { _ = frames.sendClose(1008, error.reason) }
                throw Failure(reason: "step \(number + 1): \(error.reason)")
            }
        }
        try close(1000, "")
    }

    /// - Returns: Whether the script continues.
    private mutating func follow(_ step: ScriptedOrigin.WebSocketStep) throws(Failure) -> Bool {
        switch step {
        case .send(let message): try send(message)
        case .expect(let expected):
            let message = try nextMessage("expected \(expected)")
            guard message == expected else { throw Failure(reason: "expected \(expected), received \(message)") }
        case .reply(let reply):
            if let answer = reply(try nextMessage("expected a message")) { try send(answer) }
        case .ping:
            try send(Opcode.ping, [])
            guard case .pong = try next("expected a pong") else { throw Failure(reason: "expected a pong first") }
        case .wait(let gate):
            guard gate.wait(alongside: socket.descriptor) else { throw Failure(reason: "the client left at a gate") }
        case .close(let code, let reason):
            try close(code, reason)
            return false
        case .expectClose(let code):
            switch try next("expected a closing frame") {
            case .close(let closed) where code ?? closed == closed: break
            case .close(let closed): throw Failure(reason: "expected the close code \(code ?? 0), received \(closed)")
            case .message(let message): throw Failure(reason: "expected a closing frame, received \(message)")
            case .pong: throw Failure(reason: "expected a closing frame, received a pong")
            }
            return false
        case .drop: return false
        case .reset:
            socket.reset()
            return false
        }
        return true
    }

    private func send(_ opcode: UInt8, _ payload: [UInt8]) throws(Failure) {
        guard frames.send(0x80 | opcode, payload) else { throw Failure(reason: "the client left") }
    }

    private func send(_ message: ScriptedOrigin.WebSocketMessage) throws(Failure) {
        switch message {
        case .text(let text): try send(Opcode.text, Array(text.utf8))
        case .binary(let data): try send(Opcode.binary, Array(data))
        }
    }

    /// Closes, and waits for the client's closing frame; messages that were under way are ignored.
    private mutating func close(_ code: UInt16, _ reason: String) throws(Failure) {
        hasSentClose = true
        guard frames.sendClose(code, reason) else { throw Failure(reason: "the client left") }
        while true {
            if case .close = try next("expected the answer to a closing frame") { return }
        }
    }

    private mutating func nextMessage(_ expectation: String) throws(Failure) -> ScriptedOrigin.WebSocketMessage {
        while true {
            switch try next(expectation) {
            case .message(let message): return message
            case .pong: break
            case .close(let code): throw Failure(reason: "\(expectation), but the client closed with the code \(code)")
            }
        }
    }

    /// The next event; pings are answered, and the answer to a closing frame is sent.
    private mutating func next(_ expectation: String) throws(Failure) -> Event {
        while true {
            let (flags, payload): (UInt8, [UInt8])
            do { (flags, payload) = try frames.read() } catch {
                throw Failure(reason: "\(expectation), but the client left")
            }
            switch flags & 0x0F {
            case Opcode.ping: try send(Opcode.pong, payload)
            case Opcode.pong: return .pong
            case Opcode.close:
                if !hasSentClose { _ = frames.send(0x80 | Opcode.close, payload) }
                hasSentClose = true
                // RFC 6455, section 7.1.5: 1005 stands for a closing frame without a code.
                return .close(payload.count < 2 ? 1005 : UInt16(payload[0]) << 8 | UInt16(payload[1]))
            case let opcode:
                let opening = fragments?.opcode ?? opcode
                let bytes = (fragments?.bytes ?? []) + payload
                guard flags & 0x80 != 0 else {
                    fragments = (opening, bytes)
                    continue
                }
                fragments = nil
                return .message(
                    opening == Opcode.text ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(Data(bytes))
                )
            }
        }
    }
}

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

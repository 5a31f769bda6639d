import Foundation
import WaystationStorage

/// One connection of a client: reads its requests and sends the script's answers.
struct OriginConnection {
    let socket: LoopbackSocket
    let number: Int
    let exchanges: ExchangeLog
    let digestsBodies: Bool
    let early: ScriptedOrigin.EarlyScript
    let script: ScriptedOrigin.Script

    /// Serves until the client leaves, an answer ends the connection, or the server stops.
    func serve() {
        var reader = RequestReader { [socket] in socket.receive(upTo: 1 << 16) }
        do {
            while let head = try reader.readHead() {
                if let response = earlyAnswer(to: head) { return end(with: response, to: head) }
                // RFC 9110, section 10.1.1.
                if head.value(of: "Expect")?.lowercased() == "100-continue" {
                    guard socket.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return }
                }
                var body = ReceivedBody(isDigested: digestsBodies)
                try reader.readBody(of: head) { body.append($0) }
                let request = exchanges.record(head, body: body, connection: number)
                guard answer(request, reader: &reader) else { break }
            }
        } catch RequestReader.Failure.malformed {
            _ = socket.send(Data("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
        } catch {
            // The client left in the middle of a request, so the request is not recorded.
        }
        socket.shutdown()
    }

    private func earlyAnswer(to head: RequestHead) -> ScriptedOrigin.Response? {
        let body = ReceivedBody(isDigested: digestsBodies)
        return early(ScriptedOrigin.Request(head, body: body, connection: number, order: exchanges.received))
    }

    /// Answers a request whose body is not read, and ends the connection.
    ///
    /// A socket that is closed with unread bytes resets the connection, and the client may lose the answer. The server
    /// therefore ends only the sending direction, and the client closes the connection.
    private func end(with response: ScriptedOrigin.Response, to head: RequestHead) {
        let body = ReceivedBody(isDigested: digestsBodies)
        let request = exchanges.record(head, body: body, connection: number)
        if case .unanswered = response.kind {
            waitForEnd()
            return exchanges.recordAbandoned(request)
        }
        guard waitForGate(of: response, to: request) else { return }
        _ = play(response, for: request)
        socket.endSending()
        waitForEnd()
        socket.shutdown()
    }

    /// Discards bytes until the client has left.
    private func waitForEnd() { while socket.receive(upTo: 1 << 16) != nil {} }

    /// - Returns: Whether the connection may carry another request.
    private func answer(_ request: ScriptedOrigin.Request, reader: inout RequestReader) -> Bool {
        let response = script(request)
        guard waitForGate(of: response, to: request) else { return false }
        switch response.kind {
        case .unanswered:
            waitForEnd()
            exchanges.recordAbandoned(request)
            return false
        case .webSocketEcho:
            let server = WebSocketServer(socket: socket)
            if server.accept(request) { server.echo(reader) }
            return false
        case .webSocket(let steps, let subprotocol):
            guard WebSocketServer(socket: socket).accept(request, subprotocol: subprotocol) else { return false }
            var script = WebSocketScript(socket: socket, reader: reader)
            do throws(WebSocketScript.Failure) { try script.run(steps) } catch {
                exchanges.recordFailure("\(request.target): \(error.reason)")
            }
            return false
        case .tunnel(let port):
            Tunnel(client: socket, port: port).serve(&reader)
            return false
        case .message, .raw:
            return play(response, for: request)
        }
    }

    /// Waits until a response that is held may be sent.
    ///
    /// - Returns: False if the client has left.
    private func waitForGate(of response: ScriptedOrigin.Response, to request: ScriptedOrigin.Request) -> Bool {
        guard let gate = response.gate, !gate.wait(alongside: socket.descriptor) else { return true }
        exchanges.recordAbandoned(request)
        return false
    }

    private func play(_ response: ScriptedOrigin.Response, for request: ScriptedOrigin.Request) -> Bool {
        let (steps, keepsAlive) = response.wireSteps(for: request)
        for step in steps {
            switch step {
            case .bytes(let data):
                guard socket.send(data) else {
                    exchanges.recordAbandoned(request)
                    return false
                }
            case .wait(let gate):
                guard gate.wait(alongside: socket.descriptor) else {
                    exchanges.recordAbandoned(request)
                    return false
                }
            case .close:
                return false
            case .reset:
                socket.reset()
                return false
            }
        }
        return keepsAlive
    }
}

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

import Foundation

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

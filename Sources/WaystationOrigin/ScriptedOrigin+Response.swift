public import Foundation

extension ScriptedOrigin {
    /// The server's reaction to one request: an answer, or a fault.
    ///
    /// ```swift
    /// let responses: [ScriptedOrigin.Response] = [
    ///     .ok("hello", fields: ["Set-Cookie": "a=1", "Set-Cookie": "b=2"]),
    ///     .stream([.bytes(first), .wait(gate), .bytes(second)]),  // chunked, the second half when the gate opens
    ///     .truncated(body, after: 1_000),  // closes half-way
    ///     .ok().held(at: gate),  // no byte before the gate opens
    /// ]
    /// ```
    public struct Response: Sendable {
        /// One step of sending a body.
        public enum Step: Sendable {
            /// Send these bytes; in chunked framing they are one chunk.
            case bytes(Data)
            /// Wait until the gate opens.
            case wait(Gate)
            /// Close the connection here, in an orderly way.
            case close
            /// Reset the connection here: the client gets `ECONNRESET`.
            case reset
        }

        /// The way in which the client finds the end of the body.
        public enum Framing: Sendable, Hashable {
            /// `Content-Length`, counted from the steps.
            case contentLength
            /// `Content-Length` with this number, right or wrong; the connection closes after the body.
            case declaredLength(Int)
            /// `Transfer-Encoding: chunked`.
            case chunked
            /// The body ends with the connection.
            case untilClose
        }

        enum Kind: Sendable {
            case message(status: Int, fields: [Field], framing: Framing, body: [Step])
            case raw([Step])
            case unanswered
            case webSocketEcho
            case webSocket([WebSocketStep], subprotocol: String?)
            case tunnel(UInt16)
        }

        let kind: Kind
        var gate: Gate?

        init(_ kind: Kind) { self.kind = kind }

        /// Makes an answer that is sent step by step.
        ///
        /// - Parameters:
        ///   - steps: The body, with the points at which it waits or is cut.
        ///   - status: The status code; 200 by default.
        ///   - fields: The fields, sent as they stand, in this order; a name may be repeated. The framing's own field
        ///     is added after them.
        ///   - framing: How the client finds the body's end; chunked by default.
        /// - Returns: The answer.
        public static func stream(
            _ steps: [Step],
            status: Int = 200,
            fields: KeyValuePairs<String, String> = [:],
            framing: Framing = .chunked
        ) -> Response {
            let fields = fields.map { Field($0.key, $0.value) }
            return Response(.message(status: status, fields: fields, framing: framing, body: steps))
        }

        /// Makes an answer with a status, fields and a body of known length.
        public static func status(
            _ status: Int,
            fields: KeyValuePairs<String, String> = [:],
            body: Data = Data()
        ) -> Response {
            stream([.bytes(body)], status: status, fields: fields, framing: .contentLength)
        }

        /// `200 OK` with a body of bytes.
        public static func ok(_ body: Data, fields: KeyValuePairs<String, String> = [:]) -> Response {
            status(200, fields: fields, body: body)
        }

        /// `200 OK` with a body of text, `text/plain` unless `fields` are given.
        public static func ok(
            _ text: String = "",
            fields: KeyValuePairs<String, String> = ["Content-Type": "text/plain"]
        ) -> Response {
            status(200, fields: fields, body: Data(text.utf8))
        }

        /// A redirect without a body; the location, absolute or relative, is sent as it stands.
        public static func redirect(_ status: Int = 302, to location: String) -> Response {
            self.status(status, fields: ["Location": location])
        }

        /// `200 OK` that announces the whole body, but closes the connection after `count` of its bytes.
        public static func truncated(
            _ body: Data,
            after count: Int,
            fields: KeyValuePairs<String, String> = [:]
        ) -> Response {
            stream([.bytes(body.prefix(count)), .close], fields: fields, framing: .declaredLength(body.count))
        }

        /// Sends bytes as they stand, then closes the connection.
        public static func raw(_ bytes: Data) -> Response { Response(.raw([.bytes(bytes), .close])) }

        /// Closes the connection without sending a byte.
        public static var closed: Response { Response(.raw([.close])) }

        /// Resets the connection without sending a byte.
        public static var reset: Response { Response(.raw([.reset])) }

        /// Sends nothing until the client goes away or the server stops.
        public static var unanswered: Response { Response(.unanswered) }

        /// A web-socket handshake (RFC 6455, section 4.2), after which the server returns every text and binary
        /// message.
        ///
        /// A request that is not a handshake is answered with 426.
        public static var webSocketEcho: Response { Response(.webSocketEcho) }

        /// Accepts a CONNECT request, and from then on passes all bytes to a port on `127.0.0.1` and back (RFC 9110,
        /// section 9.3.6).
        ///
        /// The host that the client asked for does not matter. If nothing listens on the port, the answer is 502.
        public static func tunnel(to port: UInt16) -> Response { Response(.tunnel(port)) }

        /// Returns this answer, held back before its first byte until the gate opens.
        public func held(at gate: Gate) -> Response {
            var held = self
            held.gate = gate
            return held
        }
    }
}

extension ScriptedOrigin.Response {
    /// The answer as bytes on the wire, with the events between them.
    ///
    /// - Returns: The steps, and whether the connection may be used again after them.
    func wireSteps(for request: ScriptedOrigin.Request) -> (steps: [Step], keepsAlive: Bool) {
        switch kind {
        case .raw(let steps): (steps, false)
        case .unanswered, .webSocketEcho, .webSocket, .tunnel: ([], false)
        case .message(let status, let fields, let framing, let body):
            message(status: status, fields: fields, framing: framing, body: body, for: request)
        }
    }

    /// The phrases of RFC 9110, section 15, that a trace of a test is likely to show; nothing depends on them.
    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        407: "Proxy Authentication Required", 410: "Gone", 412: "Precondition Failed", 416: "Range Not Satisfiable",
        429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout",
    ]

    private func message(
        status: Int,
        fields: [ScriptedOrigin.Field],
        framing: Framing,
        body: [Step],
        for request: ScriptedOrigin.Request
    ) -> (steps: [Step], keepsAlive: Bool) {
        // RFC 9110, section 6.4.1: these responses never have content. RFC 9112, section 6.3: nor do they state its
        // length.
        let hasNoContent = status == 204 || status == 304 || (100..<200).contains(status)
        var fields = fields
        var keepsAlive = request.value(of: "Connection")?.lowercased() != "close" && request.version != "HTTP/1.0"
        var isHonest = true
        switch framing {
        case _ where hasNoContent: break
        case .contentLength: fields.append(.init("Content-Length", "\(body.byteCount)"))
        case .declaredLength(let length):
            fields.append(.init("Content-Length", "\(length)"))
            // A server that cuts an answer short does not announce that it closes the connection.
            isHonest = length == body.byteCount
        case .chunked: fields.append(.init("Transfer-Encoding", "chunked"))
        case .untilClose: keepsAlive = false
        }
        if !keepsAlive { fields.append(.init("Connection", "close")) }
        let head =
            "HTTP/1.1 \(status) \(Self.reasons[status, default: "Unknown"])\r\n"
            + fields.map { "\($0)\r\n" }.joined() + "\r\n"
        var steps = [Step.bytes(Data(head.utf8))]
        if !hasNoContent, request.method != "HEAD" {
            steps += framing == .chunked ? body.chunked() : body
        }
        return (steps, keepsAlive && isHonest)
    }
}

extension [ScriptedOrigin.Response.Step] {
    fileprivate var byteCount: Int {
        reduce(0) { count, step in
            if case .bytes(let data) = step { count + data.count } else { count }
        }
    }

    /// The steps in the chunked coding of RFC 9112, section 7.1.
    fileprivate func chunked() -> Self {
        var steps = compactMap { step -> Element? in
            guard case .bytes(let data) = step else { return step }
            // An empty chunk would end the body.
            guard !data.isEmpty else { return nil }
            return .bytes(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8))
        }
        steps.append(.bytes(Data("0\r\n\r\n".utf8)))
        return steps
    }
}

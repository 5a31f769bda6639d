public import Foundation

extension ScriptedOrigin {
    /// A message of a web socket.
    public enum WebSocketMessage: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// Text.
        case text(String)
        /// Bytes.
        case binary(Data)

        /// Text.
        public init(stringLiteral value: String) { self = .text(value) }

        /// The text in quotation marks, or the number of bytes.
        public var description: String {
            switch self {
            case .text(let text): "\"\(text)\""
            case .binary(let data): "\(data.count) bytes"
            }
        }
    }

    /// One step of the server's side of a web socket.
    public enum WebSocketStep: Sendable {
        /// Send a message.
        case send(WebSocketMessage)
        /// Wait for the client's next message, which must be this one.
        ///
        /// Otherwise the server closes with the code 1008 and the difference as its reason, and reports it as
        /// ``ScriptedOrigin/webSocketFailures``.
        case expect(WebSocketMessage)
        /// Wait for the client's next message, and send what the closure returns; nil sends nothing.
        case reply(@Sendable (WebSocketMessage) -> WebSocketMessage?)
        /// Send a ping, and wait for its answer.
        case ping
        /// Wait until the gate opens.
        case wait(Gate)
        /// Close with a code and a reason, and wait for the client's closing frame.
        case close(code: UInt16 = 1000, reason: String = "")
        /// Wait until the client closes, with this code if one is given.
        case expectClose(code: UInt16? = nil)
        /// Cut the connection without a closing frame.
        case drop
        /// Reset the connection: the client gets `ECONNRESET`.
        case reset
    }
}

extension ScriptedOrigin.Response {
    /// A web-socket handshake (RFC 6455, section 4.2), after which the server follows a script.
    ///
    /// ```swift
    /// let origin = try ScriptedOrigin { _ in
    ///     .webSocket([.expect("subscribe"), .send("1"), .send("2"), .close(code: 1001, reason: "restart")])
    /// }
    /// ```
    ///
    /// Pings of the client are answered meanwhile. After the last step the server closes with the code 1000. If the client
    /// closes before, or sends another message than one that is expected, the script ends, and
    /// ``ScriptedOrigin/webSocketFailures`` has the reason. A request that is not a handshake is answered with 426.
    ///
    /// - Parameters:
    ///   - steps: The script.
    ///   - subprotocol: The value of `Sec-WebSocket-Protocol`; none by default.
    /// - Returns: The answer.
    public static func webSocket(
        _ steps: [ScriptedOrigin.WebSocketStep],
        subprotocol: String? = nil
    ) -> ScriptedOrigin.Response {
        ScriptedOrigin.Response(.webSocket(steps, subprotocol: subprotocol))
    }
}

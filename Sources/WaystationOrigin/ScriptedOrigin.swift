public import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A loopback HTTP/1.1 server whose answers a test scripts.
///
/// ```swift
/// let origin = try ScriptedOrigin { request in
///     request.path == "/hello" ? .ok("hello") : .status(404)
/// }
/// let (data, _) = try await session.data(from: origin.url("/hello"))
/// #expect(origin.requests.map(\.target) == ["/hello"])
/// ```
///
/// The server listens on `127.0.0.1`, on a port that the system picks. It keeps connections alive, reads bodies framed
/// by `Content-Length` or `chunked`, answers `Expect: 100-continue` at once, and records each request as it arrived:
/// raw field names, in their order, and the body's bytes. Faults (a connection closed or reset at any byte, an answer
/// held back, a wrong length, raw bytes) are ordinary answers of the script; see ``Response``.
///
/// Each connection has a thread of its own, so the script is called on many threads at once, and may block without
/// holding up other connections. Nothing here sleeps: a test decides with a ``Gate`` when a held answer continues.
///
/// The server stops when ``stop()`` is called, or when the last reference to it is released.
public final class ScriptedOrigin: Sendable {
    /// Returns the answer to a request; called on the thread of the request's connection.
    public typealias Script = @Sendable (Request) -> Response
    /// Returns the answer to a request whose body shall stay unread, or nil to read the body first.
    public typealias EarlyScript = @Sendable (Request) -> Response?

    /// The port that the server listens on, on `127.0.0.1`.
    public let port: UInt16

    private let listener: LoopbackSocket
    private let exchanges: ExchangeLog
    private let connections: ConnectionRegistry

    /// Starts a server that answers with `script`.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; 0, the default, lets the system pick a free one.
    ///   - keepsRequests: Whether requests are recorded; true by default. A server for a very long run turns it off,
    ///     and then ``requests`` and ``abandonedRequests`` stay empty while ``requestCount`` keeps counting.
    ///   - digestsBodies: Whether only the length and the SHA-256 of requests' bodies are kept, not their bytes; false
    ///     by default. Intended for bodies that are too large for memory.
    ///   - early: Returns the answer to a request whose body shall stay unread, or nil, the default, to read the body
    ///     first. The connection closes after such an answer; the bytes of the body that still arrive are discarded.
    ///   - script: Returns the answer to each request. It is called on the connection's thread, and may block.
    /// - Throws: ``SocketFailure`` when the port cannot be opened.
    public init(
        port: UInt16 = 0,
        keepsRequests: Bool = true,
        digestsBodies: Bool = false,
        early: @escaping EarlyScript = { _ in nil },
        script: @escaping Script
    ) throws {
        let listener = try LoopbackSocket.listening(on: port)
        let exchanges = ExchangeLog(isKeeping: keepsRequests)
        let connections = ConnectionRegistry()
        self.port = try listener.port()
        self.listener = listener
        self.exchanges = exchanges
        self.connections = connections
        // The thread must not hold a reference to the server, or releasing the last other reference would never stop
        // it.
        Thread.detachNewThread {
            while let socket = listener.accept() {
                guard let number = connections.add(socket) else { break }
                Thread.detachNewThread {
                    OriginConnection(
                        socket: socket,
                        number: number,
                        exchanges: exchanges,
                        digestsBodies: digestsBodies,
                        early: early,
                        script: script
                    ).serve()
                    connections.remove(number)
                }
            }
        }
    }

    deinit { stop() }

    /// Stops listening, and cuts the open connections; answers that are held back end at once.
    ///
    /// The recorded requests stay readable. Connections to ``port`` are refused, and no other server gets the port as
    /// long as this object exists. Calling it again does nothing.
    public func stop() {
        // The exchanges are closed first, so that connections cut by `stop()` do not count as abandoned by their
        // clients.
        exchanges.close()
        listener.shutdown()
        connections.shutdownAll()
    }

    /// The URL of a target on this server.
    ///
    /// The target is a path with its query as on the request line: `/a?b=c`.
    ///
    /// For a target that gives no valid URL, the server's root is returned.
    public func url(_ target: String = "/") -> URL {
        URL(string: "http://127.0.0.1:\(port)\(target)") ?? root
    }

    private var root: URL {
        var components = URLComponents()
        components.scheme = "http"
        components.host = "127.0.0.1"
        components.port = Int(port)
        components.path = "/"
        // The components of a loopback URL always give a URL; the fallback only avoids a trap.
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// The requests received so far, in the order in which their last byte arrived.
    public var requests: [Request] { exchanges.requests }

    /// The requests whose client went away before the whole answer was sent, in the order in which the server noticed
    /// it.
    ///
    /// A server notices this only when it waits at a ``Gate`` or sends, so hold the answer to observe a cancelled load.
    /// Faults of the script itself are not counted.
    public var abandonedRequests: [Request] { exchanges.abandonedRequests }

    /// The differences between the scripts of web sockets and what their clients did, each with the target of its request
    /// and the step: `/live: step 2: expected "subscribe", received "hello"`.
    public var webSocketFailures: [String] { exchanges.webSocketFailures }

    /// Waits until `count` web sockets have not followed their scripts.
    ///
    /// - Returns: ``webSocketFailures`` at that time; fewer than `count` only when the server was stopped meanwhile.
    @discardableResult
    public func waitForWebSocketFailures(_ count: Int) async -> [String] {
        await exchanges.wait { $0.webSocketFailures.count >= count }
        return webSocketFailures
    }

    /// The number of requests received so far.
    public var requestCount: Int { exchanges.received }

    /// The number of connections accepted so far.
    public var connectionCount: Int { connections.accepted }

    /// Waits until `count` requests have been received.
    ///
    /// - Returns: ``requests`` at that time; fewer than `count` only when the server was stopped meanwhile.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> [Request] {
        await exchanges.wait { $0.received >= count }
        return requests
    }

    /// Waits until `count` requests have been abandoned by their clients.
    ///
    /// - Returns: ``abandonedRequests`` at that time; fewer than `count` only when the server was stopped meanwhile.
    @discardableResult
    public func waitForAbandonedRequests(_ count: Int) async -> [Request] {
        await exchanges.wait { $0.abandoned.count >= count }
        return abandonedRequests
    }
}

extension ScriptedOrigin.Request {
    /// The body, decoded from JSON.
    ///
    /// - Throws: `DecodingError` if the body is not JSON of this type, which an empty body never is.
    public func json<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The decoded value of the first query item with a name; empty if the item has no value, nil without the item.
    public func query(_ name: String) -> String? {
        let items = URLComponents(string: target)?.queryItems
        return items?.first { $0.name == name }.map { $0.value ?? "" }
    }
}

extension ScriptedOrigin.Response {
    /// An answer with a value as JSON, encoded with the members of objects in alphabetical order.
    ///
    /// ```swift
    /// let origin = try ScriptedOrigin { request in
    ///     guard let order = try? request.json(as: Order.self) else { return .status(400) }
    ///     return .json(Receipt(item: order.item), status: 201)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value. If it cannot be encoded, the answer is 500 with the reason.
    ///   - status: The status code; 200 by default.
    ///   - fields: Fields besides `Content-Type`; none by default.
    /// - Returns: The answer.
    public static func json(
        _ value: some Encodable,
        status: Int = 200,
        fields: KeyValuePairs<String, String> = [:]
    ) -> ScriptedOrigin.Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return json(try encoder.encode(value), status, fields.map { .init($0.key, $0.value) })
        } catch {
            return .status(500, body: Data("the value of the script cannot be encoded: \(error)".utf8))
        }
    }

    private static func json(_ body: Data, _ status: Int, _ fields: [ScriptedOrigin.Field]) -> ScriptedOrigin.Response {
        let type = ScriptedOrigin.Field("Content-Type", "application/json")
        return ScriptedOrigin.Response(
            .message(status: status, fields: [type] + fields, framing: .contentLength, body: [.bytes(body)])
        )
    }
}

extension ScriptedOrigin {
    /// One header field, with the spelling of its name as on the wire.
    public struct Field: Sendable, Hashable, CustomStringConvertible {
        /// The name, in its own spelling.
        public var name: String
        /// The value, without the white space around it.
        public var value: String

        /// Makes a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// `name: value`.
        public var description: String { "\(name): \(value)" }
    }

    /// A request as the server received it.
    public struct Request: Sendable {
        /// The place of this request among all requests of the server, from 0.
        public let order: Int
        /// The number of the connection that it came on, from 0: requests with equal numbers shared a connection.
        public let connection: Int
        /// The method, such as `GET`.
        public let method: String
        /// The request target, raw, such as `/a%20b?c=d`.
        public let target: String
        /// The protocol version, such as `HTTP/1.1`.
        public let version: String
        /// The fields, in their order, with raw names; fields of the same name stay separate.
        public let fields: [Field]
        /// The body, with the chunked coding removed; empty when the server digests bodies.
        public let body: Data
        /// The size of the body in bytes.
        public let bodyLength: Int
        /// The SHA-256 of the body when the server digests bodies; otherwise nil.
        public let bodyDigest: Data?

        /// The part of the target before the query.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// The values of all fields of a name, in their order; names are compared without regard to case.
        public func values(of name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// The value of the first field of a name; nil if the request has no such field.
        public func value(of name: String) -> String? { values(of: name).first }
    }
}

extension ScriptedOrigin {
    /// A point at which an answer waits until the test opens the gate.
    ///
    /// ```swift
    /// let gate = try ScriptedOrigin.Gate()
    /// let origin = try ScriptedOrigin { _ in .ok("late").held(at: gate) }
    /// async let answer = session.data(from: origin.url())
    /// await origin.waitForRequests(1)  // the request is there, its answer held back
    /// gate.open()
    /// let (data, _) = try await answer
    /// ```
    ///
    /// One gate may hold several answers, and stays open once opened. An answer that waits also ends when its client
    /// goes away or the server stops, so a gate that is never opened does not hold an answer for ever.
    public final class Gate: Sendable {
        // The gate is a pipe that becomes readable when the gate opens. The pipe is never read, so from the opening on
        // `poll` returns at once for every waiting thread.
        private let readable: CInt
        private let writable: CInt

        /// Makes a closed gate.
        ///
        /// - Throws: ``SocketFailure`` when the process has no file descriptor left.
        public init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SocketFailure("open a gate", code: errno) }
            (readable, writable) = (ends[0], ends[1])
            // A child process must not inherit the gate's pipe, and opening the gate too often must not block.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(writable, F_SETFL, O_NONBLOCK)
        }

        deinit {
            close(readable)
            close(writable)
        }

        /// Lets all answers that wait at this gate continue, now and in the future.
        public func open() { _ = write(writable, "o", 1) }

        // The number is that of POLLRDHUP, which Glibc defines for GNU sources only.
        private static let peerHungUp: Int16 = 0x2000

        /// Waits for the gate to open, or for the peer of `socket` to go away.
        ///
        /// - Returns: Whether the gate opened; false when the peer went away.
        func wait(alongside socket: CInt) -> Bool {
            var watched = [
                pollfd(fd: readable, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: Self.peerHungUp, revents: 0),
            ]
            while poll(&watched, nfds_t(watched.count), -1) < 0 {
                guard errno == EINTR else { return false }
            }
            return watched[0].revents & Int16(POLLIN) != 0
        }
    }
}

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

/// The open connections, so that the server can cut them when it stops.
final class ConnectionRegistry: Sendable {
    private struct State {
        var open: [Int: LoopbackSocket] = [:]
        var accepted = 0
        var isStopped = false
    }

    private let state = Mutex(State())

    var accepted: Int { state.withLock { $0.accepted } }

    /// - Returns: The connection's number, or nil when the server has stopped.
    func add(_ socket: LoopbackSocket) -> Int? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            defer { state.accepted += 1 }
            state.open[state.accepted] = socket
            return state.accepted
        }
    }

    func remove(_ number: Int) {
        state.withLock { $0.open[number] = nil }
    }

    func shutdownAll() {
        let open = state.withLock { state in
            state.isStopped = true
            return Array(state.open.values)
        }
        for socket in open { socket.shutdown() }
    }
}

public import Foundation
import Synchronization

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

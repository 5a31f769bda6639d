#if NIO
import Dispatch
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on 127.0.0.1 that plays a script on each connection, byte by byte.
final class RawOrigin: Sendable {
    /// A step of a script.
    enum Step: Sendable {
        /// Waits for a whole request, and records it.
        case request
        /// Waits for the head of a request, and records it; the body stays unread.
        case requestHead
        /// Sends text.
        case send(String)
        /// Sends bytes.
        case sendBytes([UInt8])
        /// Sends the same bytes again and again, as fast as the client reads, so many times.
        case flood(String, times: Int)
        /// Reads nothing more, so that the client can send only what the buffers of the sockets hold.
        case stopReading
        /// Reads again.
        case startReading
        /// Waits until the test opens the gate.
        case gate(Gate)
        /// Opens a gate.
        case open(Gate)
        /// Closes the connection.
        case close
        /// Ends the connection without TLS's close_notify.
        case cut
        /// Resets the connection (RST).
        case reset
        /// Sends nothing more, and reads on until the client closes the connection.
        case endSending
        /// Repeats all steps from the start.
        case again
    }

    /// One request, as text; the head holds bytes that are not UTF-8 as `FieldText` does.
    struct Request: Sendable {
        var connection: Int
        var head: String
        var body: String

        var line: String { String(head.prefix { $0 != "\r\n" }) }

        /// The values of a field, by its lower-case name.
        func values(of name: String) -> [String] {
            head.split(separator: "\r\n").dropFirst().compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
                return String(parts[1].drop { $0 == " " })
            }
        }
    }

    struct State {
        var requests: [Request] = []
        var connections = 0
        var closed = 0
        var floodedBytes = 0
    }

    /// Loops of its own, because a busy server must not hold up the engine.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private let channel: any Channel
    let state: StateBox
    let port: Int

    /// Holds what the server has seen.
    final class StateBox: Sendable {
        let value = Mutex(State())
    }

    /// Starts a server; `script` yields the steps for a connection, by its number from 0 on.
    init(
        tls: NIOSSLContext? = nil,
        host: String = "127.0.0.1",
        readsAtOnce: Bool = true,
        _ script: @escaping @Sendable (Int) -> [Step]
    ) throws {
        let state = StateBox()
        channel = try ServerBootstrap(group: Self.group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.autoRead, value: readsAtOnce)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = state.value.withLock { state in
                        defer { state.connections += 1 }
                        return state.connections
                    }
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.addHandler(ScriptHandler(number, script(number), state))
                }
            }
            .bind(host: host, port: 0).wait()
        self.state = state
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    var requests: [Request] { state.value.withLock { $0.requests } }
    var connectionCount: Int { state.value.withLock { $0.connections } }
    var closedCount: Int { state.value.withLock { $0.closed } }
    var floodedBytes: Int { state.value.withLock { $0.floodedBytes } }

    func url(_ path: String = "/", scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }
}

/// Something that a script waits for.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation() }
    }

    func whenOpen(_ continuation: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(continuation) }
            return state.isOpen
        }
        if isOpen { continuation() }
    }
}

extension RawOrigin {
    /// A server that reads nothing until a gate opens.
    convenience init(stalled gate: Gate) throws {
        try self.init(readsAtOnce: false) { _ in [.gate(gate)] }
    }
}

extension Gate {
    /// Blocks a thread until a gate opens.
    struct Blocker {
        private let semaphore = DispatchSemaphore(value: 0)

        init(_ gate: Gate) {
            let semaphore = semaphore
            gate.whenOpen { semaphore.signal() }
        }

        func wait() { semaphore.wait() }
    }
}
#endif

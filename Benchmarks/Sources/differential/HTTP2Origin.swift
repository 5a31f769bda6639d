import Measuring
import NIOCore
import Synchronization
import WaystationTestSupport

/// A server that speaks HTTP/2 over TLS, frame by frame as a script says.
final class HTTP2Origin: Sendable {
    /// A step of the script of one connection.
    enum Step: Sendable {
        /// Sends frames.
        case frames([[UInt8]])
        /// Waits for the head of a request.
        case head
        /// Waits for the end of a request.
        case request
        /// Waits until so many bytes of requests' bodies have arrived on the connection.
        case data(Int)
        /// Waits for the acknowledgement of a PING.
        case pong
        /// Sends a body of so many bytes as the client's windows allow, and ends the stream.
        case body(UInt32, Int)
        /// Answers every request that ends from now on with its path.
        case answers
        /// Answers the requests that have ended with their paths.
        case answersEnded
        /// Closes the connection.
        case close
    }

    /// The steps for a connection, by its number from 0 on.
    typealias Script = @Sendable (Int) -> [Step]

    /// The requests that the server has received, and the connections and streams that carried them.
    struct Seen: Sendable {
        var requests: [String] = []
        var connections = 0
        /// The largest number of streams that were open on one connection.
        var mostOpenStreams = 0
    }

    private let listener: SecureListener
    private let state: State

    final class State: Sendable {
        let seen = Mutex(Seen())
        let channels = Mutex<[any Channel]>([])
    }

    var port: UInt16 { listener.port }
    var seen: Seen { state.seen.withLock { $0 } }

    /// Closes all connections; their clients can read the end of them when this returns.
    func closeConnections() async throws {
        for channel in state.channels.withLock({ $0 }) {
            try await channel.eventLoop.submit { channel.close(promise: nil) }.get()
        }
    }

    init(certificate: String, _ script: @escaping Script) throws {
        let state = State()
        self.state = state
        listener = try SecureListener(certificate: certificate, protocols: ["h2"]) { channel in
            channel.eventLoop.makeCompletedFuture {
                let number = state.seen.withLock { seen in
                    defer { seen.connections += 1 }
                    return seen.connections
                }
                state.channels.withLock { $0.append(channel) }
                try channel.pipeline.syncOperations.addHandler(HTTP2ScriptHandler(script(number), state))
            }
        }
    }
}

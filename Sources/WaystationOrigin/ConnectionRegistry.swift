import Synchronization

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

import Dispatch
import Synchronization

/// Holds up the threads that come to it for as long as it is closed: a disk that hangs.
final class Barrier: Sendable {
    private struct State {
        var isClosed = false
        var waiting: [DispatchSemaphore] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Goes through, or waits until it is open.
    func pass() {
        let semaphore = DispatchSemaphore(value: 0)
        let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard state.isClosed else { return nil }
            state.waiting.append(semaphore)
            defer { state.watchers = [] }
            return state.watchers
        }
        guard let watchers else { return }
        for watcher in watchers { watcher.resume() }
        semaphore.wait()
    }

    func close() { state.withLock { $0.isClosed = true } }

    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Returns when a thread waits here.
    func arrival() async {
        await withCheckedContinuation { continuation in
            let isHere = state.withLock { state in
                if state.waiting.isEmpty { state.watchers.append(continuation) }
                return !state.waiting.isEmpty
            }
            if isHere { continuation.resume() }
        }
    }
}

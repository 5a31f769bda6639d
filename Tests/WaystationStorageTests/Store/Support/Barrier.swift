import Dispatch
import Synchronization

/// Blocks the threads that reach it while it is closed, like a disk that hangs.
final class Barrier: Sendable {
    private struct State {
        var isClosed = false
        var waiting: [DispatchSemaphore] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Returns at once if the barrier is open, otherwise when it opens.
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

    /// Returns when a thread waits at the barrier.
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

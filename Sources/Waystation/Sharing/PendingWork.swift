import Synchronization

/// Work that goes on after the call that began it, and for whose end others can wait.
final class PendingWork: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Begins work in a task of its own.
    func begin(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { $0.count += 1 }
        Task {
            await work()
            end()
        }
    }

    /// Waits until no work is under way, also none that began meanwhile.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.count > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    private func end() {
        let ended = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in ended { continuation.resume() }
    }
}

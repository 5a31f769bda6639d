import Dispatch
import Glibc
import Synchronization

/// Keeps a process that ends normally until its stores have written what they were given.
///
/// A load ends before its response is on disk, and a command-line tool ends with its only load.
enum StoresAtExit {
    /// For how long a process waits, in seconds: as long as a write waits for another process's.
    private static let limit = 5.0

    private struct State {
        var stores: [Weak] = []
        /// The process that registered; its children have its memory and none of its threads.
        var process: pid_t?
    }

    private struct Weak: Sendable {
        weak var store: ResponseStore?
    }

    private static let state = Mutex(State())

    /// Has the end of the process wait for a store.
    static func add(_ store: ResponseStore) {
        let isFirst = state.withLock { state in
            state.stores.removeAll { $0.store == nil }
            state.stores.append(Weak(store: store))
            defer { state.process = getpid() }
            return state.process == nil
        }
        if isFirst { atexit { StoresAtExit.finish() } }
    }

    private static func finish() {
        let (stores, process) = state.withLock { ($0.stores.compactMap(\.store), $0.process) }
        guard process == getpid() else { return }
        let deadline = DispatchTime.now() + limit
        // All begin before one is waited for.
        for wait in stores.compactMap({ $0.beginFinishing() }) where wait.wait(timeout: deadline) == .timedOut {
            return
        }
    }
}

extension ResponseStore {
    /// Marks the write queue of a store.
    static let writeQueueKey = DispatchSpecificKey<ObjectIdentifier>()

    /// Begins to write everything that was handed over.
    ///
    /// - Returns: What is signalled when it is written; nil when that cannot be waited for: the disk hangs, or the
    ///   caller is on the write queue, as the handler of an event may be.
    fileprivate func beginFinishing() -> DispatchSemaphore? {
        guard !lookUps.withLock({ $0.isHanging }),
            DispatchQueue.getSpecific(key: Self.writeQueueKey) != ObjectIdentifier(self)
        else { return nil }
        let isDone = DispatchSemaphore(value: 0)
        enqueue { isDone.signal() }
        return isDone
    }
}

package import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes to disk after the call that changed it has returned.
package protocol StoreAtExit: AnyObject, Sendable {
    /// Begins to write everything that was handed over.
    ///
    /// - Returns: A semaphore that is signalled when it is written; nil when waiting is not possible.
    func beginFinishing() -> DispatchSemaphore?
}

/// Delays the normal end of a process until its stores have written all that was handed to them.
///
/// A load ends before its response and its cookies are on disk, and a command-line tool may end with its only load.
package enum StoresAtExit {
    /// How long the process waits, in seconds: as long as a write waits for another process's write.
    private static let limit = 5.0

    private struct State {
        var stores: [Weak] = []
        /// The process that registered the handler; a forked child has its memory but none of its threads.
        var process: pid_t?
    }

    private struct Weak: Sendable {
        weak var store: (any StoreAtExit)?
    }

    private static let state = Mutex(State())

    /// Makes the end of the process wait for a store.
    package static func add(_ store: any StoreAtExit) {
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
        // All stores begin to write before this waits for any of them.
        for wait in stores.compactMap({ $0.beginFinishing() }) where wait.wait(timeout: deadline) == .timedOut {
            return
        }
    }
}

extension ResponseStore: StoreAtExit {
    /// Identifies the write queue of a store.
    static let writeQueueKey = DispatchSpecificKey<ObjectIdentifier>()

    /// Begins to write everything that was handed over, and the uses of responses.
    ///
    /// - Returns: A semaphore that is signalled when it is written; nil when waiting is not possible: the disk hangs,
    ///   or the caller is on the write queue, as the handler of an event may be.
    package func beginFinishing() -> DispatchSemaphore? {
        guard !lookUps.withLock({ $0.isHanging }),
            DispatchQueue.getSpecific(key: Self.writeQueueKey) != ObjectIdentifier(self)
        else { return nil }
        let isDone = DispatchSemaphore(value: 0)
        enqueue { [self] in
            if !resident.failedRemovals.isEmpty || state.withLock({ !$0.uses.isEmpty }) {
                _ = attempt("writing before the exit") {
                    try self.writeUses(in: $0)
                    return 0
                }
            }
            isDone.signal()
        }
        return isDone
    }
}

package import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An object that writes to disk after the call that changed it has returned.
package protocol DelayedWriter: AnyObject, Sendable {
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
        var writers: [Weak] = []
        /// The process that registered the handler; a forked child has its memory but none of its threads.
        var process: pid_t?
    }

    private struct Weak: Sendable {
        weak var writer: (any DelayedWriter)?
    }

    private static let state = Mutex(State())

    /// Makes the end of the process wait for the writes of an object.
    package static func add(_ writer: any DelayedWriter) {
        let isFirst = state.withLock { state in
            state.writers.removeAll { $0.writer == nil }
            state.writers.append(Weak(writer: writer))
            defer { state.process = getpid() }
            return state.process == nil
        }
        if isFirst { atexit { StoresAtExit.finish() } }
    }

    private static func finish() {
        let (writers, process) = state.withLock { ($0.writers.compactMap(\.writer), $0.process) }
        guard process == getpid() else { return }
        let deadline = DispatchTime.now() + limit
        // All of them begin to write before this waits for any.
        for wait in writers.compactMap({ $0.beginFinishing() }) where wait.wait(timeout: deadline) == .timedOut {
            return
        }
    }
}

extension ResponseStore: DelayedWriter {
    /// Identifies the write queue of a store.
    static let writeQueueKey = DispatchSpecificKey<ObjectIdentifier>()

    /// Begins to write everything that was handed over, and the uses of responses, and then brings the directory to its
    /// size at rest.
    ///
    /// - Returns: A semaphore that is signalled when it is written; nil when waiting is not possible: the disk hangs,
    ///   or the caller is on the write queue, as the handler of an event may be.
    package func beginFinishing() -> DispatchSemaphore? {
        guard !lookUps.withLock({ $0.isHanging }),
            DispatchQueue.getSpecific(key: Self.writeQueueKey) != ObjectIdentifier(self)
        else { return nil }
        let isDone = DispatchSemaphore(value: 0)
        enqueue { [self] in
            if !resident.failedRemovals.isEmpty || state.withLock({ !$0.uses.isEmpty || $0.awaitsRest }) {
                _ = attempt("writing before the exit") {
                    try self.writeUses(in: $0)
                    while try self.rest(in: $0) {}
                    // Upkeep that goes on until the process is gone would fill the log again.
                    state.withLock { $0.upkeep.jobs = [] }
                    return 0
                }
            }
            isDone.signal()
        }
        return isDone
    }
}

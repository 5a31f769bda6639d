import Dispatch
import Foundation
import Synchronization

/// Runs work that waits for the disk or computes for long on threads of its own.
///
/// Swift runs tasks on a few shared threads, which must never block. The work is part of the calling task, except that
/// of ``uncancelled(_:)``. Long loops call `Task.checkCancellation()` at every step, so that a cancelled task stops
/// soon.
package enum BlockingWork {
    /// Runs the work, and everything that it calls, away from Swift's threads.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(BlockingThreads.shared, operation: body)
    }

    /// Runs work that must not be left half done, away from Swift's threads.
    ///
    /// The work is not part of the calling task: when that task is cancelled, it still waits until the work ends, and
    /// gets its result.
    package static func uncancelled<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            BlockingThreads.shared.perform {
                continuation.resume(returning: Result { () throws(Failure) in try body() })
            }
        }
        return try result.get()
    }

    /// Runs work for each element, on all cores; the first error, or the task's cancellation, ends it.
    static func forEach<Element: Sendable>(
        _ elements: [Element],
        _ body: @escaping @Sendable (Element) throws -> Void
    ) async throws {
        let queue = Queue(count: elements.count)
        let threads = min(elements.count, BlockingThreads.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<threads {
                group.addTask(executorPreference: BlockingThreads.shared) {
                    while let index = queue.next() {
                        try Task.checkCancellation()
                        try body(elements[index])
                    }
                }
            }
            // The first error cancels the others.
            try await group.waitForAll()
        }
    }

    /// Hands out numbers from 0 on, each once.
    private final class Queue: Sendable {
        private let count: Int
        private let taken = Atomic(0)

        init(count: Int) { self.count = count }

        func next() -> Int? {
            let index = taken.add(1, ordering: .relaxed).oldValue
            return index < count ? index : nil
        }
    }
}

/// The threads of ``BlockingWork``: as many as there are pieces of work, since each piece may block its thread.
final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()
    /// The number of threads that compute at once when work is divided.
    static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)

    private static let mark = DispatchSpecificKey<Bool>()
    // The queue for blocking work has a QoS class of its own: on Linux, concurrent queues of the default class share
    // the threads of Swift's tasks (one per core), so long computations on them would keep tasks from running.
    private let queue = DispatchQueue(label: "Waystation.blocking", qos: .utility, attributes: .concurrent)

    private init() { queue.setSpecific(key: Self.mark, value: true) }

    /// Whether the calling thread is one of these threads.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    /// Runs work on these threads that belongs to no task.
    func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs work for each element, on all cores, and blocks until it is done; the first error ends it.
///
/// For callers that are not in a task.
func inParallel<Element: Sendable>(_ elements: [Element], _ body: @escaping @Sendable (Element) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: elements.count) { index in
        guard failure.withLock({ $0 == nil }) else { return }
        do {
            try body(elements[index])
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
}

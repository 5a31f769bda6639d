import Dispatch
import Foundation
import Synchronization

/// Work that waits for the disk or computes for long, on threads of its own: Swift's few are for those who never wait.
///
/// But for ``uncancelled(_:)`` it is part of the task that asks for it. Long loops call `Task.checkCancellation()` between
/// two parts, so that a cancelled task stops soon.
package enum BlockingWork {
    /// Does the work, and what it calls, away from Swift's threads.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(BlockingThreads.shared, operation: body)
    }

    /// Does work that must not be left half done, away from Swift's threads.
    ///
    /// It is no part of the task that asks for it: a task that is cancelled meanwhile waits for its end all the same, and
    /// gets what came of it.
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

    /// Does work for each element, on all cores; the first error, or the task's cancellation, ends it.
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

/// The threads of ``BlockingWork``: as many as there is work, since each may stand still.
final class BlockingThreads: TaskExecutor {
    static let shared = BlockingThreads()
    /// How many compute at once where work is divided.
    static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)

    private static let mark = DispatchSpecificKey<Bool>()
    // Of a class of its own: on Linux concurrent queues of the default class share the threads of Swift's tasks, as many
    // as there are cores, and what computes there lets no task run.
    private let queue = DispatchQueue(label: "Waystation.blocking", qos: .utility, attributes: .concurrent)

    private init() { queue.setSpecific(key: Self.mark, value: true) }

    /// Whether the calling thread is one of them.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) == true }

    /// Does something there that is no task's.
    func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

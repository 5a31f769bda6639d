import Foundation
import Synchronization
import Testing

@testable import UpdateServer

@Suite("Work that computes or blocks")
struct BlockingWorkTests {
    @Test("leaves Swift's threads to tasks when it runs on all cores")
    func computing() async throws {
        let computation = Computation()
        let cores = ProcessInfo.processInfo.activeProcessorCount
        try await withThrowingTaskGroup { group in
            for _ in 0..<cores {
                group.addTask { try await BlockingWork.run { computation.compute() } }
            }
            await computation.proceed(on: cores)
            for try await wasInTheWay in group { #expect(!wasInTheWay) }
        }
    }

    @Test("is not stopped by the cancellation of its task")
    func cancellation() async throws {
        let work = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await BlockingWork.run { Task.isCancelled }
        }
        #expect(try await !work.value)
    }

    @Test("throws its error to the caller")
    func failure() async {
        await #expect(throws: CocoaError.self) { try await BlockingWork.run { throw CocoaError(.fileNoSuchFile) } }
    }
}

/// Computes on several threads, until a Swift task has run in the meantime.
private final class Computation: Sendable {
    private let started = AsyncStream.makeStream(of: Void.self)
    private let hasTaskRun = Atomic(false)

    /// Returns whether no task could run.
    func compute() -> Bool {
        started.continuation.yield()
        // The limit makes the test fail if no task can run, instead of hanging for ever.
        let limit = ContinuousClock.now + .seconds(600)
        while !hasTaskRun.load(ordering: .relaxed) {
            guard ContinuousClock.now < limit else { return true }
        }
        return false
    }

    /// Waits until this many threads compute; the computation ends as soon as this task runs.
    func proceed(on threads: Int) async {
        var starts = started.stream.makeAsyncIterator()
        for _ in 0..<threads { await starts.next() }
        hasTaskRun.store(true, ordering: .relaxed)
    }
}

import Foundation
import Synchronization
import Testing

@testable import UpdateServer

@Suite("Work that computes or waits")
struct BlockingWorkTests {
    @Test("on all cores it leaves Swift's threads to tasks")
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

    @Test("it is not cut short by the cancellation of its task")
    func cancellation() async throws {
        let work = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await BlockingWork.run { Task.isCancelled }
        }
        #expect(try await !work.value)
    }

    @Test("what it throws reaches who asked for it")
    func failure() async {
        await #expect(throws: CocoaError.self) { try await BlockingWork.run { throw CocoaError(.fileNoSuchFile) } }
    }
}

/// Computes on several threads, until a task of Swift's has run meanwhile.
private final class Computation: Sendable {
    private let started = AsyncStream.makeStream(of: Void.self)
    private let hasTaskRun = Atomic(false)

    /// Returns whether no task could run.
    func compute() -> Bool {
        started.continuation.yield()
        // What is in the way fails the test, and does not hold it for ever.
        let limit = ContinuousClock.now + .seconds(600)
        while !hasTaskRun.load(ordering: .relaxed) {
            guard ContinuousClock.now < limit else { return true }
        }
        return false
    }

    /// Lets it end as soon as a task runs, when so many threads compute.
    func proceed(on threads: Int) async {
        var starts = started.stream.makeAsyncIterator()
        for _ in 0..<threads { await starts.next() }
        hasTaskRun.store(true, ordering: .relaxed)
    }
}

import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

// Two of these tests need all threads of the pool. At the same time, each could get one of them and wait for the other.
@Suite("Threads for work that computes or blocks", .serialized)
struct BlockingThreadsTests {
    @Test("Work that computes on all cores leaves Swift's threads to tasks")
    func computing() async throws {
        let computation = Computation()
        async let work: Void = BlockingWork.forEach(Array(0..<BlockingThreads.count)) { _ in computation.compute() }
        await computation.proceed()
        try await work
        #expect(!computation.wasInTheWay)
    }

    @Test("Unpacking that computes on all cores leaves Swift's threads to tasks")
    func unpacking() async throws {
        let computation = Computation()
        let fixture = try LibraryFixture()
        let zip = fixture.root.appending(path: "pack.zip")
        let files = (0..<BlockingThreads.count).map { ("\($0).js", "text") }
        try PackBuilder.build(folder: fixture.folder(.init(uniqueKeysWithValues: files)), as: .shop("1.0"), to: zip)
        let library = try fixture.library(
            FaultyFileSystem { operation, path in
                if operation == .createFile, path.hasSuffix(".js") { computation.compute() }
            }
        )
        async let work = library.install(zip: zip)
        await computation.proceed()
        _ = try await work
        #expect(!computation.wasInTheWay)
    }

    @Test("Work that must be completed does not see its task's cancellation")
    func uncancelled() async throws {
        let work = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await BlockingWork.uncancelled { (BlockingThreads.isCurrent, Task.isCancelled) }
        }
        #expect(await work.value == (true, false))
    }
}

/// Computes on as many threads as there are cores, until a Swift task has run in the meantime.
private final class Computation: Sendable {
    private let started = AsyncStream.makeStream(of: Void.self)
    private let hasTaskRun = Atomic(false)
    private let hasGivenUp = Atomic(false)

    /// Whether the computation ended without a task having run.
    var wasInTheWay: Bool { hasGivenUp.load(ordering: .relaxed) }

    func compute() {
        started.continuation.yield()
        // The limit makes the test fail if no task can run, instead of hanging for ever.
        let limit = ContinuousClock.now + .seconds(600)
        while !hasTaskRun.load(ordering: .relaxed) {
            guard ContinuousClock.now < limit else { return hasGivenUp.store(true, ordering: .relaxed) }
        }
    }

    /// Waits until every core computes; the computation ends as soon as this task runs.
    func proceed() async {
        var starts = started.stream.makeAsyncIterator()
        for _ in 0..<BlockingThreads.count { await starts.next() }
        hasTaskRun.store(true, ordering: .relaxed)
    }
}

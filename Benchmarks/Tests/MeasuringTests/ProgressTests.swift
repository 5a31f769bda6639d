import Foundation
@_spi(Processes) import Measuring
import Synchronization
import Testing
import WaystationProcesses

@Suite("Waiting for progress", .timeLimit(.minutes(10)))
struct ProgressTests {
    /// A program that uses the processor for some seconds, however long that takes.
    private static func busy(_ seconds: Int) -> [String] {
        ["-c", "import time\nwhile time.process_time() < \(seconds): pass"]
    }

    @Test("a process that uses the processor is not killed, although it takes longer than its limit")
    func busyProcess() throws {
        #expect(try SpawnedProcess.run("/usr/bin/python3", Self.busy(4), limit: 2).ending == .exited(0))
    }

    @Test("a process that waits, or that uses the processor for ten times its limit, is killed")
    func stuckProcesses() throws {
        #expect(try SpawnedProcess.run("/bin/sleep", ["3600"], limit: 1).ending == .timedOut)
        #expect(try SpawnedProcess.run("/usr/bin/python3", Self.busy(3_600), limit: 0.3).ending == .timedOut)
    }

    @Test("work that counts no steps and does not use the processor has stalled, although reading the count uses it")
    func idleWork() async {
        await withCheckedContinuation { continuation in
            StallWatch.begin(patience: 0.5, work: 3_600) {
                let begin = clock()
                while Double(clock() - begin) / Double(CLOCKS_PER_SEC) < 0.005 {}
                return 7
            } stalled: {
                continuation.resume()
            }
        }
    }

    @Test("work that uses the processor longer than its limit for one step has stalled")
    func endlessStep() async {
        let isOver = Atomic(false)
        let before = clock()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { while !isOver.load(ordering: .relaxed) {} }
            StallWatch.begin(patience: 60, work: 0.5) {
                7
            } stalled: {
                continuation.resume()
            }
        }
        isOver.store(true, ordering: .relaxed)
        // Without a limit of its own, it would have four times the patience.
        #expect(Double(clock() - before) / Double(CLOCKS_PER_SEC) < 240)
    }

    @Test("work that counts steps does not stall, and its watch ends with it")
    func steadyWork() async {
        let reads = StepCount()
        await withCheckedContinuation { continuation in
            StallWatch.begin(patience: 0.5) {
                reads.add()
                guard reads.count < 40 else {
                    continuation.resume()
                    return nil
                }
                return reads.count
            } stalled: {
                Issue.record("each reading was a step")
            }
        }
    }
}

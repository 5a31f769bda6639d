import Foundation
import Synchronization

/// Watches work for progress from a thread of its own.
public enum StallWatch {
    /// Calls `stalled` once when the work makes no progress, and then stops watching.
    ///
    /// Work makes progress when its count changes, and while this process uses a processor: on a slow machine the next
    /// step may take long. The watching thread's own use does not count. A process that has used a processor for the
    /// time `work` without a step makes no progress either.
    ///
    /// - Parameters:
    ///   - patience: How long the work may make no progress, in seconds. The count is read ten times in that time.
    ///   - work: How long this process may use a processor for one step, in seconds; four times `patience` by default.
    ///   - progress: The count; nil ends the watch.
    ///   - stalled: Called on the watching thread.
    public static func begin(
        patience: Double,
        work: Double? = nil,
        progress: @escaping @Sendable () -> Int?,
        stalled: @escaping @Sendable () -> Void
    ) {
        Thread.detachNewThread {
            let clock = ContinuousClock()
            var step: (count: Int, time: Double)?
            var last = (time: processorTime, at: clock.now)
            while let count = progress() {
                let (now, time) = (clock.now, processorTime)
                if step?.count != count {
                    step = (count, time)
                    last = (time, now)
                }
                if time - last.time > patience / 1_000 { last = (time, now) }
                let used = time - (step?.time ?? time)
                if now - last.at > .seconds(patience) || used > work ?? 4 * patience { return stalled() }
                Thread.sleep(forTimeInterval: patience / 10)
            }
        }
    }

    /// The time that processors have worked for this process, without the calling thread, in seconds.
    ///
    /// On a slow machine, reading the count would otherwise look like progress.
    private static var processorTime: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Counts the completed steps, so that a watch can read the count.
public final class StepCount: Sendable {
    private let steps = Atomic(0)

    /// Makes a count of 0.
    public init() {}

    /// The number of steps so far.
    public var count: Int { steps.load(ordering: .relaxed) }

    /// Counts one step.
    public func add() { steps.add(1, ordering: .relaxed) }
}

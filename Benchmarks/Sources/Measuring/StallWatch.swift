import Foundation
import Synchronization

/// Watches work for progress from a thread of its own.
public enum StallWatch {
    /// Calls `stalled` once when a count has not changed for `patience`, and then stops watching.
    ///
    /// - Parameters:
    ///   - patience: How long the count may stay the same, in seconds. The count is read ten times in that time.
    ///   - progress: The count; nil ends the watch.
    ///   - stalled: Called on the watching thread.
    public static func begin(
        patience: Double,
        progress: @escaping @Sendable () -> Int?,
        stalled: @escaping @Sendable () -> Void
    ) {
        Thread.detachNewThread {
            let clock = ContinuousClock()
            var last: (count: Int, at: ContinuousClock.Instant)?
            while let count = progress() {
                if let last, last.count == count {
                    if clock.now - last.at > .seconds(patience) { return stalled() }
                } else {
                    last = (count, clock.now)
                }
                Thread.sleep(forTimeInterval: patience / 10)
            }
        }
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

import Foundation
import Synchronization

/// Watches from a thread of its own whether work goes on.
public enum StallWatch {
    /// Calls `stalled` once when a count has not changed for `patience`, and stops watching then.
    ///
    /// - Parameters:
    ///   - patience: For how long the count may stay the same, in seconds. It is read ten times in that time.
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

/// Counts the steps that ended, for a watch to read.
public final class StepCount: Sendable {
    private let steps = Atomic(0)

    /// A count of 0.
    public init() {}

    /// The steps until now.
    public var count: Int { steps.load(ordering: .relaxed) }

    /// Counts one step.
    public func add() { steps.add(1, ordering: .relaxed) }
}

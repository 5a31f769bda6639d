import Dispatch
import Synchronization

@testable import WaystationStorage

/// Delays that end when the test ends them.
final class DrivenDelays: Sendable {
    private let waiting = Mutex<[(seconds: Double, work: @Sendable () -> Void)]>([])
    private let asked = Mutex<[Double]>([])

    /// The delays that were requested, in seconds.
    var durations: [Double] { asked.withLock { $0 } }

    func drive(_ environment: inout StoreEnvironment) {
        environment.afterDelay = { [self] _, seconds, work in
            asked.withLock { $0.append(seconds) }
            waiting.withLock { $0.append((seconds, work)) }
        }
    }

    /// Ends the pending delays that match; by default all of them.
    func end(where isDue: (Double) -> Bool = { _ in true }) {
        let due = waiting.withLock { waiting in
            defer { waiting.removeAll { isDue($0.seconds) } }
            return waiting.filter { isDue($0.seconds) }
        }
        for (_, work) in due { work() }
    }
}

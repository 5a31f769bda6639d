import Dispatch
import Synchronization

@testable import WaystationStorage

/// Delays that end when they are told to.
final class DrivenDelays: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    private let asked = Mutex<[Double]>([])

    /// The delays that were asked for, in seconds.
    var durations: [Double] { asked.withLock { $0 } }

    func drive(_ environment: inout StoreEnvironment) {
        environment.afterDelay = { [self] _, seconds, work in
            asked.withLock { $0.append(seconds) }
            waiting.withLock { $0.append(work) }
        }
    }

    /// Ends all that have begun.
    func end() {
        let due = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in due { work() }
    }
}

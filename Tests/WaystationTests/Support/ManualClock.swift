import Foundation
import Synchronization

/// A clock that stands still until ``advance(by:)``, and timers that fire at ``fire()``.
final class ManualClock: Sendable {
    private let time: Mutex<Date>
    private let timers = Mutex<[@Sendable () -> Void]>([])

    init(startingAt start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { time = Mutex(start) }

    var now: @Sendable () -> Date { { self.time.withLock { $0 } } }

    var schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void {
        { _, work in self.timers.withLock { $0.append(work) } }
    }

    func advance(by seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }

    /// Fires every timer that was set.
    func fire() {
        let due = timers.withLock { timers in
            defer { timers = [] }
            return timers
        }
        for timer in due { timer() }
    }
}

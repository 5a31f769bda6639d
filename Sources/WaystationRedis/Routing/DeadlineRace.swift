#if Redis
import NIOCore
import WaystationSharing

/// A result that counts if it comes before its deadline; otherwise the call fails.
///
/// It is confined to its event loop.
final class DeadlineRace<Value> {
    private var completion: ((Result<Value, TierError>) -> Void)?
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - deadline: The time at which the call fails.
    ///   - loop: The loop of the call.
    ///   - completion: Called once.
    init(
        until deadline: NIODeadline,
        on loop: any EventLoop,
        _ completion: @escaping (Result<Value, TierError>) -> Void
    ) {
        self.completion = completion
        timer = loop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.end(.failure(TierError(.late, "Redis did not answer in time")))
        }
    }

    /// Whether nothing waits for the result any more.
    var isOver: Bool { completion == nil }

    /// Delivers the result; the first one counts.
    func end(_ result: Result<Value, TierError>) {
        timer.take()?.cancel()
        completion.take()?(result)
    }
}
#endif

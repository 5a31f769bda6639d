import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The values that the loads of an interceptor share beside their stations.
final class LoadEnvironment: Sendable {
    let events: EventBroadcaster
    /// The bytes that have arrived for the loads and wait for their tasks or for the cache's disk.
    let backlog: LoadBacklog
    let recorders: Recorders
    let now: @Sendable () -> Date
    /// Runs an action after a delay.
    let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    init(
        events: EventBroadcaster,
        backlog: LoadBacklog,
        recorder: (any ExchangeRecorder)?,
        now: @escaping @Sendable () -> Date,
        schedule: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    ) {
        self.events = events
        self.backlog = backlog
        recorders = Recorders(recorder)
        self.now = now
        self.schedule = schedule
    }
}

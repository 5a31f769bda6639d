import Synchronization

/// The listeners of one kind of event.
package final class Listeners<Event: Sendable>: Sendable {
    private let listeners = Mutex<[@Sendable (Event) -> Void]>([])

    /// Makes an empty list.
    package init() {}

    /// Adds a listener, which gets every event that is reported from now on.
    package func add(_ listener: @escaping @Sendable (Event) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    /// Calls each listener with the event, in the order in which they were added, on this thread and outside the lock.
    package func report(_ event: Event) {
        for listener in listeners.withLock({ $0 }) { listener(event) }
    }
}

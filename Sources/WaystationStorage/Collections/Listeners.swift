package import Synchronization

/// The listeners of one kind of event.
package final class Listeners<Event: Sendable>: Sendable {
    @usableFromInline struct Listener: Sendable {
        @usableFromInline weak var owner: (any AnyObject & Sendable)?
        @usableFromInline let isOwned: Bool
        @usableFromInline let hear: @Sendable (Event) -> Void

        @inlinable var isGone: Bool { isOwned && owner == nil }
    }

    @usableFromInline let listeners = Mutex<[Listener]>([])

    /// Makes an empty list.
    package init() {}

    /// Adds a listener, which gets every event that is reported from now on.
    ///
    /// - Parameters:
    ///   - owner: The object for which the listener listens: after its release, the listener is removed when the next
    ///     one is added or the next event is reported. Nil for a listener that stays.
    ///   - listener: Called with each event.
    package func add(for owner: (any AnyObject & Sendable)? = nil, _ listener: @escaping @Sendable (Event) -> Void) {
        _ = current(adding: Listener(owner: owner, isOwned: owner != nil, hear: listener))
    }

    /// Calls each listener with the event, in the order in which they were added, on this thread and outside the lock.
    @inlinable package func report(_ event: Event) {
        for listener in current() { listener.hear(event) }
    }

    /// The listeners whose owners are not gone; the others are removed.
    @inlinable func current(adding added: Listener? = nil) -> [Listener] {
        // Those that are removed are released outside of the lock, because their release may be any code.
        let (current, _) = listeners.withLock { listeners in
            let before = listeners
            if before.contains(where: \.isGone) { listeners = before.filter { !$0.isGone } }
            if let added { listeners.append(added) }
            return (listeners, before)
        }
        return current
    }
}

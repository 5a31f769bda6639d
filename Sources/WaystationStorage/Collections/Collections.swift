package import Synchronization

/// A queue: values are removed in the order in which they were added.
///
/// Adding and removing take constant time on average. Other modules compile it for their own elements (`@inlinable`);
/// without that, each call would look up the type of its elements.
package struct Queue<Element>: ExpressibleByArrayLiteral {
    /// The values; those before `first` have been removed.
    @usableFromInline var elements: [Element?]
    @usableFromInline var first = 0

    @inlinable package init(arrayLiteral elements: Element...) { self.elements = elements }

    @inlinable package var isEmpty: Bool { first == elements.count }

    /// Adds a value at the end.
    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the value that was added first; returns `nil` if the queue is empty.
    @inlinable package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[first].take()
        first += 1
        if first > 16, first > elements.count / 2 {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}

extension Queue: Sendable where Element: Sendable {}

/// Values by key, each with a cost, in the order of their last use.
///
/// The owner decides when to remove: it compares ``cost`` with its limit and calls ``removeOldest()``. The entries form
/// a list by use, in an array with indices as links, so that a use allocates nothing and counts no references. All
/// operations take constant time, except ``removeAll()``.
package struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The place of an entry, valid until the entry is removed.
    package typealias Position = Int

    @usableFromInline
    struct Slot: Sendable {
        @usableFromInline var key: Key?
        @usableFromInline var value: Value?
        @usableFromInline var cost: Int
        @usableFromInline var newer: Int
        @usableFromInline var older: Int

        @usableFromInline
        init(key: Key, value: Value, cost: Int, newer: Int, older: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            self.newer = newer
            self.older = older
        }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var free: [Int] = []
    @usableFromInline var positions: [Key: Int] = [:]
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1
    @usableFromInline var total = 0

    /// Makes an empty list.
    package init() {}

    /// The sum of the costs of all entries.
    @inlinable package var cost: Int { total }

    /// The number of entries.
    @inlinable package var count: Int { positions.count }

    /// The place of the entry with this key; nil if there is no such entry.
    @inlinable
    package func position(of key: Key) -> Position? { positions[key] }

    /// The value at a position that ``position(of:)`` returned; nil if it was removed since.
    @inlinable
    package subscript(position: Position) -> Value? { slots[position].value }

    /// Changes the value at a position.
    ///
    /// `change` returns the difference by which the entry's cost changes.
    @inlinable
    package mutating func update(_ position: Position, _ change: (inout Value) -> Int) {
        // Moved out and back, so that the value is not copied while it changes.
        guard var value = slots[position].value.take() else { return }
        let difference = change(&value)
        slots[position].value = value
        slots[position].cost += difference
        total += difference
    }

    /// Makes the entry at a position the most recently used one.
    @inlinable
    package mutating func use(_ position: Position) {
        guard position != newest else { return }
        unlink(position)
        slots[position].newer = -1
        slots[position].older = newest
        if newest >= 0 { slots[newest].newer = position }
        newest = position
        if oldest < 0 { oldest = position }
    }

    /// Adds a value as the most recently used one.
    ///
    /// - Returns: The value that the key had before, which is removed.
    @inlinable
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        let replaced = remove(key)
        let slot = Slot(key: key, value: value, cost: cost, newer: -1, older: newest)
        let position: Int
        if let reused = free.popLast() {
            position = reused
            slots[position] = slot
        } else {
            position = slots.count
            slots.append(slot)
        }
        if newest >= 0 { slots[newest].newer = position }
        newest = position
        if oldest < 0 { oldest = position }
        positions[key] = position
        total += cost
        return replaced
    }

    /// Removes the entry with this key; returns its value, or nil if there is no such entry.
    @inlinable
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? { positions[key].flatMap { remove(at: $0) } }

    /// Removes the least recently used entry; returns its value, or nil if the list is empty.
    @inlinable
    @discardableResult
    package mutating func removeOldest() -> Value? { oldest < 0 ? nil : remove(at: oldest) }

    /// Removes all entries and returns their values.
    package mutating func removeAll() -> [Value] {
        defer { self = LeastRecentlyUsed() }
        return slots.compactMap(\.value)
    }

    @inlinable
    mutating func remove(at position: Int) -> Value? {
        unlink(position)
        total -= slots[position].cost
        if let key = slots[position].key.take() { positions[key] = nil }
        free.append(position)
        return slots[position].value.take()
    }

    @inlinable
    mutating func unlink(_ position: Int) {
        let (newer, older) = (slots[position].newer, slots[position].older)
        if newer >= 0 { slots[newer].older = older } else { newest = older }
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    }
}

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

/// The readers of a sequence of values, each with a stream of its own.
///
/// The owner holds it under its own lock, because only the owner knows what must happen together with a value.
package struct StreamReaders<Element: Sendable>: Sendable {
    private var continuations: [UInt64: AsyncStream<Element>.Continuation] = [:]
    private var next: UInt64 = 0

    /// Makes an empty set of readers.
    package init() {}

    /// Adds a reader, and returns the number by which it is removed.
    package mutating func add(_ continuation: AsyncStream<Element>.Continuation) -> UInt64 {
        next += 1
        continuations[next] = continuation
        return next
    }

    /// Removes a reader; returns false if it was removed before.
    @discardableResult
    package mutating func remove(_ number: UInt64) -> Bool { continuations.removeValue(forKey: number) != nil }

    /// Sends a value to each reader.
    package func yield(_ value: Element) {
        for continuation in continuations.values { continuation.yield(value) }
    }

    /// Ends each reader's stream.
    package func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}

import Synchronization
import WaystationSharing
import WaystationStorage

/// The invalidations of other machines, applied to this machine's store in their order.
final class SharedSequence: Sendable {
    enum Content {
        case own
        case other(SharedScope)
        /// The message was not sealed with this fleet's secret, so its number may be invented.
        case foreign
    }

    private let file: SequenceFile
    private let state: Mutex<MessageSequence>
    private let removals = Mutex(Removals())

    init(_ file: SequenceFile) {
        self.file = file
        state = Mutex(MessageSequence(last: file.read()))
    }

    func begin(
        after number: UInt64,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) -> MessageSequence.Beginning {
        let beginning = state.withLock { $0.begin(after: number) }
        if beginning != .complete { dropAll(before: number, store, report) }
        return beginning
    }

    func receive(
        _ number: UInt64,
        _ content: Content,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) {
        let scope: SharedScope?
        switch content {
        case .own: scope = nil
        case .other(let other): scope = other
        case .foreign:
            let detail = "a message with the number \(number) was ignored: it is not this fleet's"
            return report(TierEvent(.damaged, detail))
        }
        switch state.withLock({ $0.receive(number) }) {
        case .ignore: break
        case .missed: dropAll(before: number, store, report)
        case .apply:
            removals.withLock { $0.begin() }
            guard let scope else {
                // The store was asked to remove the responses before the message was sent; nothing more is removed.
                return store.remove([]) { [store] in self.note(number, $0, in: store) }
            }
            store.invalidate(scope.local) { [store] in self.note(number, $0, in: store) }
        }
    }

    private func dropAll(
        before number: UInt64,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) {
        removals.withLock { $0.begin() }
        store.invalidate(.all) { [store] removed in
            self.note(number, removed, in: store)
            guard case .success(let count) = removed, count > 0 else { return }
            report(TierEvent(.missed, "invalidations may have been missed: \(count) responses were removed here"))
        }
    }

    /// Keeps the number once its effect outlasts a power cut: otherwise the number could be on the storage medium
    /// without it.
    ///
    /// Called on the store's write queue.
    private func note(_ number: UInt64, _ result: Result<Int, StoreError>, in store: ResponseStore) {
        let isDone = if case .success = result { true } else { false }
        guard let due = removals.withLock({ $0.end(number, isDone: isDone) }) else { return }
        // If this fails, the store reports it, and the next removal makes up for it.
        do { try store.synchronize() } catch { return }
        file.write(due)
        removals.withLock { $0.unwritten = 0 }
    }
}

/// The removals that are on their way, and the number to keep when they are made.
///
/// Removals that follow each other quickly wait for the storage medium together.
private struct Removals {
    private static let maximumUnwritten = 256

    private var unfinished = 0
    /// The number of the last removal that was made.
    private var number: UInt64?
    /// How many removals were made since the number was last written.
    var unwritten = 0

    mutating func begin() { unfinished += 1 }

    /// Ends a removal.
    ///
    /// - Returns: The number to write now, if it is time for that.
    mutating func end(_ number: UInt64, isDone: Bool) -> UInt64? {
        unfinished -= 1
        if isDone {
            self.number = number
            unwritten += 1
        }
        guard unfinished == 0 || unwritten >= Self.maximumUnwritten, unwritten > 0 else { return nil }
        return self.number
    }
}

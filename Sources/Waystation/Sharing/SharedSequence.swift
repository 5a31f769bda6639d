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
            guard let scope else {
                // The store was asked to remove the responses before the message was sent; nothing more is removed.
                return store.remove([]) { self.note(number, $0) }
            }
            store.invalidate(scope.local) { self.note(number, $0) }
        }
    }

    private func dropAll(
        before number: UInt64,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) {
        store.invalidate(.all) { removed in
            self.note(number, removed)
            guard case .success(let count) = removed, count > 0 else { return }
            report(TierEvent(.missed, "invalidations may have been missed: \(count) responses were removed here"))
        }
    }

    /// Keeps the number once its effect is on disk.
    private func note(_ number: UInt64, _ result: Result<Int, StoreError>) {
        if case .success = result { file.write(number) }
    }
}

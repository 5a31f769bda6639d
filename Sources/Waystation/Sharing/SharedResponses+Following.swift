import Foundation
import Synchronization
import WaystationSharing
package import WaystationStorage

extension SharedResponses {
    /// Begins to follow the messages of the other machines.
    ///
    /// - Parameters:
    ///   - store: The store of this machine, whose responses the other machines' invalidations remove.
    ///   - file: The file that keeps the number of the last invalidation, for the next run.
    package func follow(into store: ResponseStore, numbersIn file: SequenceFile) {
        let sequence = SharedSequence(file)
        let invalidations = Task { [tier, schedule, keys, sender, report] in
            await Self.follow(keys.invalidations, of: tier, schedule) { [weak self] number in
                let beginning = sequence.begin(after: number, store, report)
                // Such as Redis after a crash, from its last snapshot: the tier has the invalidated responses again.
                if beginning == .setBack { self?.invalidate(.all) }
            } received: { message in
                let content = keys.open(message.content, for: keys.invalidations, header: Data())
                let isOwn = content?.starts(with: sender) ?? false
                let scope = content.flatMap { SharedScope(encoded: Data($0.dropFirst(sender.count))) }
                sequence.receive(message.number, isOwn ? .own : scope.map { .other($0) } ?? .foreign, store, report)
            } ended: {
            }
        }
        let stored = Task { [tier, schedule, keys, arrivals] in
            await Self.follow(keys.arrivals, of: tier, schedule) { _ in
                arrivals.follow(true)
            } received: {
                arrivals.arrived(TierKey(String(decoding: $0.content, as: UTF8.self)))
            } ended: {
                arrivals.follow(false)
            }
        }
        followers.withLock { $0 += [invalidations, stored] }
    }

    /// Subscribes to a channel, and again when the subscription has ended, until the task is cancelled.
    private static func follow(
        _ channel: TierKey,
        of tier: GuardedTier,
        _ schedule: @escaping GuardedTier.Schedule,
        began: (UInt64) -> Void,
        received: (TierMessage) -> Void,
        ended: () -> Void
    ) async {
        var pause = Duration.milliseconds(100)
        while !Task.isCancelled {
            if let subscription = await tier.subscribe(to: channel) {
                pause = .milliseconds(100)
                began(subscription.lastNumber)
                do {
                    for try await message in subscription.messages { received(message) }
                } catch {
                    // The end of the connection; the next subscription shows whether messages were missed.
                }
                ended()
            }
            guard !Task.isCancelled else { return }
            await withCheckedContinuation { continuation in schedule(pause) { continuation.resume() } }
            pause = min(pause * 2, .seconds(30))
        }
    }
}

/// The invalidations of other machines, applied to this machine's store in their order.
private final class SharedSequence: Sendable {
    enum Content {
        case own
        case other(SharedScope)
        /// The message was not sealed with this fleet's secret.
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
        switch state.withLock({ $0.receive(number) }) {
        case .ignore: break
        case .missed: dropAll(before: number, store, report)
        case .apply:
            switch content {
            // The store was asked to remove the responses before the message was sent; nothing more is removed.
            case .own, .foreign: store.remove([]) { self.note(number, $0) }
            case .other(let scope): store.invalidate(scope.local) { self.note(number, $0) }
            }
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

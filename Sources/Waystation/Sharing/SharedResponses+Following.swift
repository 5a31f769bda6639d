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

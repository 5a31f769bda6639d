import Foundation
import Synchronization
import WaystationSharing

extension SharedResponses {
    /// Invalidates responses in the tier and on all other machines.
    ///
    /// The invalidation is tried again until it has reached the tier. Until then, this machine does not read from it.
    /// So this comes before the removal from the machine's own store: a load that begins after that removal could
    /// otherwise find the response in the tier, and store it here again.
    func invalidate(_ scope: SharedScope) {
        guard outbox.withLock({ $0.add(scope) }) else { return }
        Task { await deliver() }
    }

    /// Invalidates responses, and waits until the invalidation has reached the tier, or was tried once.
    ///
    /// - Parameters:
    ///   - scope: The responses.
    ///   - remove: Removes them from this machine's own store.
    /// - Returns: The result of `remove`.
    /// - Throws: The error of `remove`; the invalidation is delivered nevertheless.
    func invalidate(_ scope: SharedScope, _ remove: () async throws -> Int) async throws -> Int {
        let mustDeliver = outbox.withLock { $0.add(scope) }
        let removed: Result<Int, any Error>
        do {
            removed = .success(try await remove())
        } catch {
            removed = .failure(error)
        }
        if mustDeliver { await deliverAndWait() }
        return try removed.get()
    }

    /// Delivers all invalidations that wait, and returns when that is done, or when one could not be delivered.
    private func deliverAndWait() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let race = Race(continuation)
            Task {
                await deliver { race.finish(()) }
                race.finish(())
            }
        }
    }

    /// Delivers all invalidations that wait.
    ///
    /// - Parameter failed: Called each time that one could not be delivered.
    private func deliver(failed: @Sendable () -> Void = {}) async {
        var pause = Duration.milliseconds(250)
        while let scope = outbox.withLock({ $0.next() }) {
            if await deliver(scope) {
                outbox.withLock { $0.delivered() }
                pause = .milliseconds(250)
                continue
            }
            if pause == .milliseconds(250) {
                report(TierEvent(.delayed, "an invalidation could not be delivered; it is tried again"))
            }
            failed()
            await sleep(pause)
            pause = min(pause * 2, .seconds(30))
        }
    }

    private func deliver(_ scope: SharedScope) async -> Bool {
        let root: TierKey =
            switch scope {
            case .url(let url): keys.root(of: url)
            // The tier cannot list the entries of a host, so all of them go.
            case .all, .prefix, .host: keys.root
            }
        guard await tier.remove(root),
            let message = keys.seal(sender + scope.encoded, for: keys.invalidations, header: Data())
        else { return false }
        return await tier.publish(message, on: keys.invalidations) != nil
    }

    func sleep(_ time: Duration) async {
        await withCheckedContinuation { continuation in schedule(time) { continuation.resume() } }
    }
}

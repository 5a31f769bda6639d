import Foundation
import Synchronization
import WaystationSharing

extension SharedResponses {
    /// Invalidates responses in the tier and on all other machines.
    ///
    /// The invalidation is tried again until it has reached the tier. Until then, this machine does not read from it.
    /// So this comes before the removal from the machine's own store: a load that begins after that removal could
    /// otherwise find the response in the tier, and store it here again.
    func invalidate(_ scope: SharedScope) { send(scope) }

    /// Invalidates responses, and waits until the invalidation has reached the tier, or an attempt has failed.
    ///
    /// - Parameters:
    ///   - scope: The responses.
    ///   - remove: Removes them from this machine's own store.
    /// - Returns: The result of `remove`.
    /// - Throws: The error of `remove`; the invalidation is delivered nevertheless.
    func invalidate(_ scope: SharedScope, _ remove: () async throws -> Int) async throws -> Int {
        let attempt = Expectation()
        send(scope, awaiting: attempt)
        let removed: Result<Int, any Error>
        do {
            removed = .success(try await remove())
        } catch {
            removed = .failure(error)
        }
        await attempt.wait()
        return try removed.get()
    }

    private func send(_ scope: SharedScope, awaiting attempt: Expectation? = nil) {
        switch outbox.withLock({ $0.add(scope, awaiting: attempt) }) {
        case .deliver: Task { await deliver() }
        case .endPause(let pause): pause.end()
        case .nothing: break
        }
    }

    /// Delivers all invalidations that wait.
    private func deliver() async {
        let shortest = Duration.milliseconds(250)
        var length = shortest
        while let scope = outbox.withLock({ $0.next() }) {
            if await deliver(scope) {
                for attempt in outbox.withLock({ $0.delivered() }) { attempt.end() }
                length = shortest
                continue
            }
            let pause = Expectation()
            for attempt in outbox.withLock({ $0.failed(before: pause) }) { attempt.end() }
            if length == shortest {
                report(TierEvent(.delayed, "an invalidation could not be delivered; it is tried again"))
            }
            schedule(length) { pause.end() }
            await pause.wait()
            length = min(length * 2, .seconds(30))
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
        return await tier.publish(message, on: keys.invalidations, isDurable: true) != nil
    }
}

import Dispatch
public import Foundation
public import WaystationSharing
import WaystationStorage

extension ResponseCache {
    /// The tier through which a cache shares responses with the caches of other machines, and the limits of that.
    ///
    /// All caches that name the same tier and have the same secret form a fleet: a response that one of them has loaded
    /// answers the loads of all. A look-up goes from memory to the disk, to the tier and to the origin. A response from
    /// the tier is stored on the disk with the time at which it left the origin.
    ///
    /// A tier never makes a load fail. Each call that a load waits for takes at most ``timeout``; when calls fail or are
    /// slow, the tier is left alone for a while, and ``LoadEvent/Kind/shared(_:)`` events report that.
    ///
    /// The strategies `.standard`, `.cacheFirst` and `.staleWhileRevalidate` look up in the tier. A response stays in
    /// the tier for as long as it is fresh and may be used stale while it is revalidated, or up to the limit of the
    /// strategy; 30 days at most.
    public struct Sharing: Sendable {
        /// The tier.
        public var tier: any SharedTier
        /// The fleet's secret, at least 16 random bytes, known to all of its machines and to no one else.
        ///
        /// The names of the tier's values are hashes under a key derived from it, and the values are sealed with one: who
        /// can read the tier learns no URL, token or response, and who can write to it cannot forge a response.
        public var secret: Data
        /// Whether responses that may be meant for one user are shared as well; false by default.
        ///
        /// Such are responses with `Cache-Control: private` or `Set-Cookie`, and responses to requests with
        /// `Authorization` or cookies. With true, requests with different credentials or cookies still share nothing.
        public var includesPersonalResponses = false
        /// The size above which a body stays on this machine; 1 MiB by default.
        ///
        /// Give all machines the same: `RedisTier` removes an entry that is larger by more than 1 MiB.
        public var maximumEntrySize = ByteCount.mebibytes(1)
        /// The time after which a call of the tier is given up; 250 ms by default.
        ///
        /// A subscription to the messages of other machines, for which no load waits, has 5 s at least.
        public var timeout = Duration.milliseconds(250)
        /// How long a load waits while another machine asks the origin for the same response; 2 s by default, zero to
        /// ask at once.
        public var patience = Duration.seconds(2)

        var now: @Sendable () -> ContinuousClock.Instant = { .now }
        var schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: .now() + $0 / .seconds(1), execute: $1)
        }

        /// Shares responses through a tier.
        ///
        /// - Parameters:
        ///   - tier: The tier, such as a `RedisTier`.
        ///   - secret: The fleet's secret, at least 16 random bytes.
        public init(in tier: any SharedTier, secret: Data) {
            self.tier = tier
            self.secret = secret
        }

        /// Begins to share the responses of a store.
        func begin(
            with store: ResponseStore,
            in directory: URL,
            _ report: @escaping @Sendable (TierEvent) -> Void
        ) throws -> SharedResponses {
            guard secret.count >= 16 else {
                throw WaystationError(
                    .invalidSecret,
                    "the secret of a shared tier has \(secret.count) bytes: give it at least 16 random ones"
                )
            }
            let shared = SharedResponses(
                tier,
                secret: secret,
                limits: SharedResponses.Limits(
                    body: maximumEntrySize.bytes,
                    includesPersonal: includesPersonalResponses,
                    patience: patience
                ),
                timeout: timeout,
                now: now,
                schedule: schedule,
                report: report
            )
            shared.follow(into: store, numbersIn: SequenceFile(in: directory))
            return shared
        }
    }
}

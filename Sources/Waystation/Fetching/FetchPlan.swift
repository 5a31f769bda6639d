import Foundation
import WaystationCaching

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request to the network on behalf of the cache.
struct FetchPlan: Sendable {
    /// The app's request, without conditions that the cache adds.
    var request: URLRequest
    var presented: CacheRequest
    /// The stored responses at the time of the decision.
    var variants: StoredVariants
    var strategy: CacheStrategy
    /// The conditional request about the stored response; nil loads the whole response again.
    var revalidation: Revalidation?
    var reason = CacheStatus.ForwardReason.stale
    /// Whether a stored response may be served instead of a server error, as RFC 9111 and RFC 5861 allow it.
    var mayStandIn = false
    /// The number of fetches of the key that had ended before the look-up; nil when that does not matter.
    var lookedUp: UInt?
    /// The login whose cookies a renewal in the background has; a log-out ends that renewal.
    var ticket: LoginTicket?
    /// Whether a first trip failed.
    ///
    /// Loads that ask the origin again share one second trip, and a failure of that trip is final for all of them.
    var isSecondAttempt = false

    /// Plans with equal identities share one trip: the same request to the byte, asked in the same way.
    var identity: Identity {
        Identity(
            key: [
                presented.key.url, presented.key.partition, request.url?.absoluteString ?? "", request.httpMethod ?? "",
            ],
            fields: request.allHTTPHeaderFields ?? [:],
            policy: request.cachePolicy.rawValue,
            timeout: request.timeoutInterval,
            strategy: strategy,
            isSecondAttempt: isSecondAttempt
        )
    }

    struct Identity: Hashable, Sendable {
        let key: [String]
        let fields: [String: String]
        let policy: UInt
        let timeout: TimeInterval
        let strategy: CacheStrategy
        let isSecondAttempt: Bool
    }
}

import Foundation
import FoundationNetworking
import WaystationCaching

/// What is to be asked of the network for the cache.
struct FetchPlan: Sendable {
    /// The app's request, without conditions of ours.
    var request: URLRequest
    var entry: CacheRequest
    /// What was stored when it was decided to ask.
    var variants: StoredVariants
    var strategy: CacheStrategy
    /// The question about what is stored; nil asks for everything anew.
    var revalidation: Revalidation?
    var reason = CacheStatus.ForwardReason.stale
    /// Whether RFC 9111 and RFC 5861 say what stands in for an error of the server's.
    var mayStandIn = false
    /// How many fetches of the key had ended before it was looked up; nil when that does not matter.
    var lookedUp: UInt?
    /// Whether a trip failed already: those who ask again do so together, and its failure is everybody's.
    var isSecondAttempt = false

    /// Equal plans are one trip: the same request to the byte, asked about the same way.
    var identity: Identity {
        Identity(
            key: [entry.key.url, entry.key.partition, request.url?.absoluteString ?? "", request.httpMethod ?? ""],
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

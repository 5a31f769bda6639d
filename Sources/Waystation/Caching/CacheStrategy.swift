/// How a rule uses the response archive and the network.
///
/// The names are Workbox's and the RFCs'.
///
/// Whatever the strategy, `URLRequest.cachePolicy` overrides it where it is not `.useProtocolCachePolicy`.
public struct CacheStrategy: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case cacheFirst(Duration)
        case networkFirst(Duration?)
        case staleWhileRevalidate(Duration)
        case cacheOnly
        case networkOnly
    }

    package let kind: Kind

    /// Serves a stored response until it is `limit` old, whatever its header fields say; then loads and stores anew.
    ///
    /// A response older than that is not served, network or not.
    public static func cacheFirst(for limit: Duration) -> Self { Self(kind: .cacheFirst(limit)) }

    /// Loads and stores; serves a stored response, however old, when the network fails or has not begun to answer
    /// within `timeout`.
    ///
    /// A late answer is still stored.
    ///
    /// - Parameter timeout: nil, the default, waits as long as the request itself does: the archive is used
    ///   only when there is no network.
    /// - Returns: The strategy.
    public static func networkFirst(timeout: Duration? = nil) -> Self { Self(kind: .networkFirst(timeout)) }

    /// Serves a stored response at once and renews it in the background, until it is `limit` old; then loads and
    /// stores anew.
    public static func staleWhileRevalidate(upTo limit: Duration) -> Self { Self(kind: .staleWhileRevalidate(limit)) }

    /// Serves stored responses, however old, and never asks the network: what is not stored fails with
    /// `URLError.resourceUnavailable`.
    public static let cacheOnly = Self(kind: .cacheOnly)

    /// Loads, and neither serves nor stores.
    public static let networkOnly = Self(kind: .networkOnly)

    /// As it is written in code.
    public var description: String {
        switch kind {
        case .cacheFirst(let limit): "cacheFirst(for: \(limit))"
        case .networkFirst(nil): "networkFirst"
        case .networkFirst(let timeout?): "networkFirst(timeout: \(timeout))"
        case .staleWhileRevalidate(let limit): "staleWhileRevalidate(upTo: \(limit))"
        case .cacheOnly: "cacheOnly"
        case .networkOnly: "networkOnly"
        }
    }
}

extension Duration {
    /// A number of minutes.
    public static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
    /// A number of hours.
    public static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }
    /// A number of days of 24 hours.
    public static func days(_ count: Int) -> Duration { .seconds(86400 * count) }

    /// The same span in seconds.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

/// How a rule uses the response cache and the network.
///
/// The names are Workbox's and the RFCs'.
///
/// Whatever the strategy, `URLRequest.cachePolicy` overrides it where it is not `.useProtocolCachePolicy`.
public struct CacheStrategy: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case standard
        case revalidate(ValidationMethod)
        case cacheFirst(Duration)
        case networkFirst(Duration?)
        case staleWhileRevalidate(Duration)
        case cacheOnly
        case networkOnly
    }

    /// How an origin is asked whether something has changed.
    public enum ValidationMethod: Hashable, Sendable {
        /// One conditional GET, which brings the new representation along where there is one.
        case get
        /// A HEAD, and a GET when its validators are others: for servers that ignore conditions.
        case head
    }

    package let kind: Kind

    /// A private HTTP cache: RFC 9111 with heuristic freshness and `Vary`, `stale-while-revalidate` and
    /// `stale-if-error` (RFC 5861), `immutable` (RFC 8246).
    ///
    /// What is stale is served when there is no network, unless the response forbids that. Requests with a range or
    /// preconditions of their own are answered from what is stored and fresh.
    public static let standard = Self(kind: .standard)

    /// Always the newest: asks each time with the validators of what is stored, serves that when it has not changed,
    /// and also, however old, when there is no network.
    ///
    /// - Parameter method: One conditional GET by default.
    /// - Returns: The strategy.
    public static func revalidate(by method: ValidationMethod = .get) -> Self { Self(kind: .revalidate(method)) }

    /// Always the newest, by conditional GET.
    public static let revalidate = Self.revalidate()

    /// Serves a stored response until it is `limit` old, whatever its header fields say; then loads and stores anew.
    ///
    /// A response older than that is not served, network or not.
    public static func cacheFirst(for limit: Duration) -> Self { Self(kind: .cacheFirst(limit)) }

    /// Loads and stores; serves a stored response, however old, when the network fails or has not begun to answer
    /// within `timeout`.
    ///
    /// A late answer is still stored.
    ///
    /// - Parameter timeout: nil, the default, waits as long as the request itself does: the cache is used
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
        case .standard: "standard"
        case .revalidate(.get): "revalidate"
        case .revalidate(let method): "revalidate(by: .\(method))"
        case .cacheFirst(let limit): "cacheFirst(for: \(limit))"
        case .networkFirst(nil): "networkFirst"
        case .networkFirst(let timeout?): "networkFirst(timeout: \(timeout))"
        case .staleWhileRevalidate(let limit): "staleWhileRevalidate(upTo: \(limit))"
        case .cacheOnly: "cacheOnly"
        case .networkOnly: "networkOnly"
        }
    }
}

extension CacheStrategy {
    /// Whether the fields of request and response decide; else the strategy keeps an archive by times of its own.
    package var obeysHTTP: Bool {
        switch kind {
        case .standard, .revalidate: true
        case .cacheFirst, .networkFirst, .staleWhileRevalidate, .cacheOnly, .networkOnly: false
        }
    }

    /// How old a response may be and still be served, where the strategy has a limit of its own.
    package var limit: Duration? {
        switch kind {
        case .cacheFirst(let limit), .staleWhileRevalidate(let limit): limit
        case .standard, .revalidate, .networkFirst, .cacheOnly, .networkOnly: nil
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

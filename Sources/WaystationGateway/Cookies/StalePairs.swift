#if Gateway
/// Pairs that a browser may still send although no page has set them.
struct StalePairs: Sendable {
    /// How long a request waits in a browser at most: its cookies are chosen before it gets a connection.
    static let longestWait = Duration.seconds(120)

    private static let limit = 1_024

    /// The pairs that the browser had before this run.
    private let earlier: Set<String>
    /// Pairs of the app with another value since, and when requests with them have all arrived.
    private var replaced: [String: ContinuousClock.Instant] = [:]

    init(earlier: [String]) { self.earlier = Set(earlier) }

    /// Records that the app has replaced a pair that the browser was given.
    mutating func replace(_ pair: String, at now: ContinuousClock.Instant) {
        replaced[pair] = now + Self.longestWait
        guard replaced.count > Self.limit else { return }
        replaced = replaced.filter { $0.value > now }
        guard replaced.count > Self.limit, let oldest = replaced.min(by: { $0.value < $1.value }) else { return }
        replaced[oldest.key] = nil
    }

    /// Records that a pair is in use.
    mutating func use(_ pair: String) { replaced[pair] = nil }

    /// Whether a pair of a request does not show that a page has set it.
    ///
    /// - Parameters:
    ///   - pair: The pair.
    ///   - mayBeLate: Whether the pair may be from before a response that has replaced it.
    ///   - now: When the request arrived.
    /// - Returns: True for a pair of an earlier run, and for a late one.
    func contains(_ pair: String, mayBeLate: Bool, at now: ContinuousClock.Instant) -> Bool {
        earlier.contains(pair) || (mayBeLate && replaced[pair].map { now < $0 } ?? false)
    }
}
#endif

#if Gateway
/// Pairs that a browser may still send although no page has set them.
struct StalePairs: Sendable {
    /// The longest time, by assumption, from a browser's choice of a request's cookies to the arrival of the request.
    static let longestWait = Duration.seconds(120)

    private static let limit = 1_024

    /// A pair of a cookie that the app no longer has.
    private struct Ended: Sendable {
        let pair: String
        /// The folder of a request that carries the pair as long as the browser has it.
        let folder: String
        /// Whether the browser has lost the pair since.
        var isGone = false
    }

    /// The pairs that the browser had before this run.
    ///
    /// A pair is removed when the browser has lost it: after that, only a page can have set it.
    private var earlier: Set<String>
    /// The folder of the request that had them.
    private let firstFolder: String
    /// Pairs that the app has replaced, each with the time after which no request that carries it is still under way.
    private var replaced: [String: ContinuousClock.Instant] = [:]

    /// The latest ended pairs, the oldest first; each once.
    private var ended: [Ended] = []

    /// Begins with the pairs that the browser has from before this run, and the folder of the request that had them.
    init(earlier: [String], in folder: String) {
        self.earlier = Set(earlier)
        firstFolder = folder
    }

    /// Records that the app has replaced a pair that the browser was given.
    mutating func replace(_ pair: String, at now: ContinuousClock.Instant) {
        replaced[pair] = now + Self.longestWait
        guard replaced.count > Self.limit else { return }
        replaced = replaced.filter { $0.value > now }
        guard replaced.count > Self.limit, let oldest = replaced.min(by: { $0.value < $1.value }) else { return }
        replaced[oldest.key] = nil
    }

    /// Records that the app no longer has the cookie of a pair.
    mutating func end(_ pair: String, in folder: String) {
        ended.removeAll { $0.pair == pair }
        ended.append(Ended(pair: pair, folder: folder))
        if ended.count > Self.limit { ended.removeFirst() }
    }

    /// Records the pairs that a browser has lost, as a request shows that has all pairs for its folder.
    mutating func note(all pairs: [String], in folder: String) {
        if folder.hasPrefix(firstFolder) { earlier.formIntersection(pairs) }
        for index in ended.indices where folder.hasPrefix(ended[index].folder) && !pairs.contains(ended[index].pair) {
            ended[index].isGone = true
        }
    }

    /// Whether a pair ended, and the browser lost it, so that only a page can have set it since.
    func isSetAgain(_ pair: String) -> Bool { ended.contains { $0.pair == pair && $0.isGone } }

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

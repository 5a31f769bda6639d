import WaystationCollections
import WaystationCookies

/// The pairs of name and value that cookies of the store or of a storage have had in this process, with their hosts.
///
/// Foundation writes the `Cookie` field of a task before any other code sees it. Its pairs can be distinguished from
/// those that the app wrote only because a storage has or had them. The pairs are kept as hashes, so that tokens that
/// have ended do not stay in memory. The pairs of cookies that the store still has are in its jar; here, those that were
/// not in use for the longest time are forgotten first.
struct KnownPairs {
    /// The hashes that were used last, at most 8,192.
    private struct Recent {
        private static let limit = 8_192

        private var hashes = LeastRecentlyUsed<Int, Bool>()

        mutating func insert(_ hash: Int) {
            if let position = hashes.position(of: hash) { return hashes.use(position) }
            hashes.insert(true, for: hash, cost: 1)
            if hashes.count > Self.limit { hashes.removeOldest() }
        }

        mutating func remove(_ hash: Int) { hashes.remove(hash) }

        func contains(_ hash: Int) -> Bool { hashes.position(of: hash) != nil }
    }

    private var pairs = Recent()
    /// The pairs that a log-out removed.
    ///
    /// They have a list of their own, so that a busy host's new cookies do not displace them.
    private var ended = Recent()

    /// Records a change of the jar.
    ///
    /// A pair that leaves the jar stays known: a field that Foundation wrote before may have it.
    mutating func note(_ change: CookieChange) {
        if case .changed(_, from: let previous) = change { remember(previous) }
        if change.isPresent { insert(change.cookie) } else { remember(change.cookie) }
    }

    /// Records that a cookie is in use, again or for the first time.
    mutating func insert(_ cookie: Cookie) {
        remember(cookie)
        ended.remove(Self.hash(cookie))
    }

    /// Records that a cookie was in use until now.
    mutating func remember(_ cookie: Cookie) { pairs.insert(Self.hash(cookie)) }

    /// Records that a log-out removed a cookie.
    mutating func end(_ cookie: Cookie) {
        remember(cookie)
        ended.insert(Self.hash(cookie))
    }

    /// Whether a pair is or was that of a cookie with one of these scopes.
    func contains(_ pair: String, in scopes: [Cookie.Scope]) -> Bool {
        scopes.contains { pairs.contains(Self.hash(pair, $0)) }
    }

    /// Whether a log-out removed a cookie.
    func hasEnded(_ cookie: Cookie) -> Bool { ended.contains(Self.hash(cookie)) }

    /// Whether a log-out removed a cookie with this pair and one of these scopes.
    func hasEnded(_ pair: String, in scopes: [Cookie.Scope]) -> Bool {
        scopes.contains { ended.contains(Self.hash(pair, $0)) }
    }

    private static func hash(_ cookie: Cookie) -> Int { hash(cookie.pair, cookie.scope) }

    /// The path is left out: Foundation stores a cookie without `Path` for another path than the store.
    private static func hash(_ pair: String, _ scope: Cookie.Scope) -> Int {
        var hasher = Hasher()
        hasher.combine(pair)
        hasher.combine(scope)
        return hasher.finalize()
    }
}

/// The pairs of a `Cookie` field (RFC 6265 §4.2.1).
package struct CookiePairs {
    package let pairs: [String]

    package init(_ field: String) {
        pairs = field.split(separator: ";").map { $0.trimmingPrefix { $0 == " " || $0 == "\t" } }.map(String.init)
            .filter { !$0.isEmpty }
    }

    /// The name of a pair; empty for a value without a name.
    static func name(of pair: String) -> Substring {
        pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair[..<$0] } ?? ""
    }

    /// The value of the first pair of a name.
    func value(of name: String) -> String? {
        pairs.first { Self.name(of: $0) == name }.map { String($0.dropFirst(name.count + 1)) }
    }
}

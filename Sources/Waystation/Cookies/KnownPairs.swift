import DequeModule
import Foundation
import WaystationCookies

/// The pairs of name and value that cookies of the store or of a storage have had in this process, with their hosts.
///
/// Foundation writes the `Cookie` field of a task before any other code sees it. Its pairs can be distinguished from
/// those that the app wrote only because a storage has or had them. The pairs are kept as hashes, so that tokens that
/// have ended do not stay in memory.
struct KnownPairs {
    private struct Owners {
        /// The cookies that have or had this pair.
        var cookies: Set<Cookie.ID> = []
        /// The ids of the cookies that a log-out removed.
        var ended: Set<Cookie.ID> = []
    }

    private static let limit = 8_192

    private var pairs: [Int: Owners] = [:]
    private var order: Deque<Int> = []

    /// Records that a cookie is in use, again or for the first time.
    mutating func insert(_ cookie: Cookie) {
        let hash = cookie.pair.hashValue
        if pairs[hash] == nil { order.append(hash) }
        pairs[hash, default: Owners()].cookies.insert(cookie.id)
        pairs[hash]?.ended.remove(cookie.id)
        guard order.count > Self.limit, let oldest = order.popFirst() else { return }
        pairs[oldest] = nil
    }

    /// Records that a log-out removed a cookie.
    mutating func end(_ cookie: Cookie) {
        insert(cookie)
        pairs[cookie.pair.hashValue]?.ended.insert(cookie.id)
    }

    /// Whether a pair is or was that of a cookie for the host of a URL.
    func contains(_ pair: String, at url: URL) -> Bool {
        pairs[pair.hashValue]?.cookies.contains { $0.covers(hostOf: url) } ?? false
    }

    /// Whether a log-out removed a cookie.
    func hasEnded(_ cookie: Cookie) -> Bool { pairs[cookie.pair.hashValue]?.ended.contains(cookie.id) ?? false }

    /// Whether a log-out removed a cookie with this pair, for the host of a URL.
    func hasEnded(_ pair: String, at url: URL) -> Bool {
        guard let ended = pairs[pair.hashValue]?.ended, !ended.isEmpty else { return false }
        return ended.contains { $0.covers(hostOf: url) }
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

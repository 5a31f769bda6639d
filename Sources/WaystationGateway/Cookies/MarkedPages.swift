#if Gateway
import WaystationCollections
import WaystationFileSystem

/// The cookies of each host in each browser, by the mark that the browser has for the host.
///
/// Clients that keep no cookies get a mark with each request and never send it back. Their entries are kept apart, so
/// that no number of them pushes out the entry of a browser.
struct MarkedPages: Sendable {
    struct Key: Hashable, Sendable {
        let mark: String
        let origin: OriginName
    }

    private static let limit = 1_024

    /// The prefix of the marks of this run for browsers that sent no cookies.
    ///
    /// Such a browser has no pairs of an earlier run, so its entry can begin again after it was pushed out.
    private let prefixForEmpty = RandomName.make() + "-"
    /// The entries whose mark no browser has sent back yet.
    private var new = LeastRecentlyUsed<Key, PageCookies>()
    /// The entries whose mark a browser has sent back.
    private var known = LeastRecentlyUsed<Key, PageCookies>()

    /// Makes a mark for a browser that sent none of this run.
    ///
    /// - Parameters:
    ///   - pairs: The pairs of its request.
    ///   - folder: The path of the request's URL up to its last slash.
    ///   - origin: The origin of the request.
    /// - Returns: The key of the new entry.
    mutating func begin(with pairs: [String], in folder: String, at origin: OriginName) -> Key {
        let key = Key(mark: (pairs.isEmpty ? prefixForEmpty : "") + RandomName.make(), origin: origin)
        new.insert(PageCookies(earlier: pairs, in: folder), for: key, cost: 1)
        if new.count > Self.limit { new.removeOldest() }
        return key
    }

    /// Finds the entry of a mark that a browser sent.
    ///
    /// - Returns: Whether the entry was there, or has begun again; nil for a mark that counts as one of an earlier run.
    mutating func find(_ key: Key) -> Found? {
        if let position = known.position(of: key) {
            known.use(position)
            return .known
        }
        let kept = new.remove(key)
        guard kept != nil || key.mark.hasPrefix(prefixForEmpty) else { return nil }
        known.insert(kept ?? PageCookies(earlier: [], in: "/"), for: key, cost: 1)
        if known.count > Self.limit { known.removeOldest() }
        return kept == nil ? .begunAgain : .known
    }

    enum Found {
        case known, begunAgain
    }

    /// Changes an entry; returns nil if it was pushed out.
    mutating func update<Result>(_ key: Key, _ change: (inout PageCookies) -> Result) -> Result? {
        var result: Result?
        func apply(_ page: inout PageCookies) -> Int {
            result = change(&page)
            // The list wants the difference of the entry's cost, which is always 0 here.
            return 0
        }
        if let position = known.position(of: key) {
            known.update(position, apply)
        } else if let position = new.position(of: key) {
            new.update(position, apply)
        }
        return result
    }
}
#endif

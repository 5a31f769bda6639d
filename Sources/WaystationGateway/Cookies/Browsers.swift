#if Gateway
import Foundation
import Synchronization
import Waystation
import WaystationStorage
import WaystationHTTP

/// Keeps the browsers' cookies in step with the app's store.
///
/// Each browser gets a mark, a cookie with a random value for each host. Cookies of a browser without a mark of this
/// run are not taken over: they may be from before a log-out.
final class Browsers: Sendable {
    /// The cookies of one request, and of the response to it.
    struct Arrival: Sendable {
        fileprivate let key: MarkedPages.Key
        /// Whether the browser gets the mark with the response.
        fileprivate let isNew: Bool
        /// Whether the browser must forget the pairs that the store does not have.
        fileprivate let removesOthers: Bool
        fileprivate let url: URL
        fileprivate let origin: OriginName
        fileprivate let pairs: [String]
        /// The cookies that the browser must be given again.
        fileprivate let missing: Set<Cookie.ID>
    }

    private static let markName = "waystation-browser"

    private let store: CookieStore
    private let loads: ClientLoads
    private let pages = Mutex(MarkedPages())

    init(_ store: CookieStore, _ loads: ClientLoads) {
        self.store = store
        self.loads = loads
    }

    /// Takes over the changes that a page made, before its request is answered.
    func arrival(_ pairs: [String], at url: URL, of origin: OriginName, isComplete: Bool) -> Arrival {
        let mark = pairs.first { $0.hasPrefix(Self.markName + "=") }.map {
            String($0.dropFirst(Self.markName.count + 1))
        }
        let pairs = pairs.filter { !$0.hasPrefix(Self.markName + "=") }
        let due = store.cookies(for: url).filter { !$0.isHTTPOnly }
        if let mark {
            let key = MarkedPages.Key(mark: mark, origin: origin)
            let found: (MarkedPages.Found, PageCookies.Reading)? = pages.withLock { pages in
                guard let found = pages.find(key) else { return nil }
                let reading = pages.update(key) {
                    $0.read(pairs, due: due, in: url.folder, isComplete: isComplete, at: .now)
                }
                return reading.map { (found, $0) }
            }
            if let (found, reading) = found {
                for id in reading.changes.removed { store.remove(id) }
                loads.take(reading.changes, at: url, from: "browser")
                return Arrival(
                    key: key,
                    isNew: false,
                    removesOthers: found == .begunAgain,
                    url: url,
                    origin: origin,
                    pairs: pairs,
                    missing: reading.missing
                )
            }
        }
        let key = pages.withLock { $0.begin(with: pairs, in: url.folder, at: origin) }
        return Arrival(key: key, isNew: true, removesOthers: true, url: url, origin: origin, pairs: pairs, missing: [])
    }

    /// The `Set-Cookie` fields of the response.
    func fields(for arrival: Arrival) -> [String] {
        // The origin's scheme counts: the browser reaches each origin by http on this machine.
        let isSecure = store.sendsSecureCookies(to: arrival.url)
        let visible = store.cookies.filter {
            !$0.isHTTPOnly && (isSecure || !$0.isSecure) && $0.id.covers(hostOf: arrival.url)
        }
        // Removals come first: a browser takes the fields in their order, and a cookie of the app may have the same name.
        var fields = arrival.removesOthers ? removals(of: arrival, except: Set(visible.map(\.pair))) : []
        let shown = pages.withLock { pages in
            pages.update(arrival.key) {
                $0.show(visible, to: arrival.pairs, missing: arrival.missing, in: arrival.url.folder, at: .now)
            }
        }
        if let shown {
            fields += shown.ended.compactMap { LocalSetCookie.removal(of: $0, of: arrival.origin) }
            fields += shown.given.compactMap { LocalSetCookie.local($0, of: arrival.origin) }
        }
        if arrival.isNew { fields.append("\(Self.markName)=\(arrival.key.mark); Path=/; HttpOnly; SameSite=Lax") }
        return fields
    }

    /// The fields that remove the pairs that the store does not have.
    ///
    /// Those that have a domain or another path stay in the browser; they do not reach the app.
    private func removals(of arrival: Arrival, except present: Set<String>) -> [String] {
        arrival.pairs.filter { !present.contains($0) }.compactMap { pair in
            let name = String(pair.prefix { $0 != "=" })
            let id = Cookie.ID(name: name, domain: arrival.origin.host, isHostOnly: true, path: "/")
            return LocalSetCookie.removal(of: id, of: arrival.origin)
        }
    }
}

extension URL {
    /// The path up to its last slash.
    fileprivate var folder: String {
        let path = path(percentEncoded: true)
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
    }
}

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

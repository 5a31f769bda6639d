#if Gateway
import Waystation
import WaystationHTTP

/// The cookies of one host in one browser, compared with those of the app's store.
///
/// The browser keeps only cookies that its pages may read; those with `HttpOnly` stay in the store, which chooses the
/// cookies of each request. So a page sees the app's cookies, its own ones reach the app, and no token is in the
/// browser's files.
struct PageCookies: Sendable {
    private struct Shown {
        var pair: String
        /// Whether the browser was given the pair; false for one that it had.
        var isGiven = false
        /// Whether it was given the pair once more, because a request lacked it.
        var isGivenAgain = false
        /// The pair before, which the browser may still send until a request has carried the new one.
        var former: String?
        /// The folder of the last request that carried the pair; nil if none did.
        ///
        /// Until then a request without it may have been sent before the browser got it. A cookie of the page may be
        /// for this folder alone.
        var folder: String?

        /// The pair that the browser has as long as it does not get a newer one.
        func lastSent(of pairs: [String]) -> String { folder != nil || pairs.contains(pair) ? pair : former ?? pair }
    }

    /// The changes of a page that a request shows.
    struct Reading: Sendable {
        var changes = PageChanges()
        /// The cookies that the browser was given before the request, and seems not to have taken.
        var missing: Set<Cookie.ID> = []
    }

    private var shown: [Cookie.ID: Shown] = [:]
    private var stale: StalePairs

    /// Begins with a browser.
    ///
    /// - Parameters:
    ///   - earlier: The pairs of its first request. They may be from before a log-out, so they count as those of a page
    ///     only after the browser has lost them.
    ///   - folder: The path of that request's URL up to its last slash.
    init(earlier: [String], in folder: String) { stale = StalePairs(earlier: earlier, in: folder) }

    /// Reads the cookies of a request.
    ///
    /// - Parameters:
    ///   - pairs: The pairs of its `Cookie` field.
    ///   - due: The cookies of the store that the browser would send with it.
    ///   - folder: The path of the request's URL up to its last slash.
    ///   - isComplete: Whether the absence of a cookie counts. It does for a document that the site itself leads to: a
    ///     request for another resource may have waited in the browser for long, and one of another site lacks some.
    ///   - now: When it arrived.
    /// - Returns: The changes by the page, and the cookies that the browser must be given again.
    mutating func read(
        _ pairs: [String],
        due: [Cookie],
        in folder: String,
        isComplete: Bool,
        at now: ContinuousClock.Instant
    ) -> Reading {
        var reading = Reading()
        if isComplete { stale.note(all: pairs, in: folder) }
        // A browser whose entry began again still has the cookies that it was given before.
        let given = Set(shown.values.flatMap { [$0.pair, $0.former ?? $0.pair] } + due.map(\.pair))
        reading.changes.added = pairs.filter {
            !given.contains($0) && !stale.contains($0, mayBeLate: !isComplete || isOpen($0), at: now)
        }
        reading.changes.setAgain = Set(reading.changes.added.filter(stale.isSetAgain))
        // Of two absent cookies of one name, the page has changed the one that a request has carried before.
        let carried = due.filter { shown[$0.id]?.folder != nil }
        for cookie in carried + due.filter({ shown[$0.id]?.folder == nil }) {
            compare(cookie, with: pairs, in: folder, isComplete: isComplete, into: &reading)
        }
        // Beside the app's own cookie, the browser has one with another domain or path, which a page of another host of
        // the site may have set. It does not take the place of the app's.
        let kept = due.filter { $0.isHostOnly && $0.path == "/" && pairs.contains($0.pair) }
        reading.changes.added.removeAll { pair in kept.contains { $0.isNamed(in: pair) } }
        return reading
    }

    /// Compares a cookie that the browser would send with the pairs of a request; see `read`.
    private mutating func compare(
        _ cookie: Cookie,
        with pairs: [String],
        in folder: String,
        isComplete: Bool,
        into reading: inout Reading
    ) {
        guard let last = shown[cookie.id] else { return }
        let pair = cookie.pair
        if pairs.contains(pair) {
            guard last.pair == pair else { return }
            shown[cookie.id]?.folder = folder
            shown[cookie.id]?.former = nil
            return
        }
        let hasFormer = last.former.map(pairs.contains) ?? false
        let isBehind = hasFormer || pairs.contains(last.pair)
        if !isBehind, let index = reading.changes.added.firstIndex(where: { cookie.isNamed(in: $0) }) {
            // The page has set the cookie with its path and domain. As another cookie, it would be sent beside it.
            let new = reading.changes.added.remove(at: index)
            reading.changes.changed[cookie.id] = new
            shown[cookie.id] = Shown(pair: new, folder: folder)
        } else if last.pair == pair, last.folder == nil {
            // The browser may have given the response up. Without the former pair, the page may also have removed the
            // cookie: given each time, a message in a cookie would be shown again and again.
            if hasFormer || !last.isGivenAgain { reading.missing.insert(cookie.id) }
        } else if isComplete, last.pair == pair, let seen = last.folder, folder.hasPrefix(seen) {
            // A pair of the same name may be the cookie's own, from before.
            if !pairs.contains(where: { cookie.isNamed(in: $0) }) { reading.changes.removed.append(cookie.id) }
            shown[cookie.id] = nil
        }
    }

    /// Whether the browser was given a pair of this pair's name that no request has carried yet.
    private func isOpen(_ pair: String) -> Bool {
        shown.contains { $0.value.folder == nil && pair.hasPrefix($0.key.name + "=") }
    }

    /// Compares the store with what the browser has.
    ///
    /// - Parameters:
    ///   - visible: The cookies of the host that pages may read.
    ///   - pairs: The pairs of the request's `Cookie` field.
    ///   - missing: The cookies that the browser must be given again, as `read` returned them.
    ///   - folder: The path of the request's URL up to its last slash.
    ///   - now: When the response is sent.
    /// - Returns: The cookies that the browser must be given, and those that it must forget.
    mutating func show(
        _ visible: [Cookie],
        to pairs: [String],
        missing: Set<Cookie.ID>,
        in folder: String,
        at now: ContinuousClock.Instant
    ) -> (given: [Cookie], ended: [Cookie.ID]) {
        var given: [Cookie] = []
        for cookie in visible {
            let last = shown[cookie.id]
            if let last, last.pair == cookie.pair {
                guard missing.contains(cookie.id), last.folder == nil else { continue }
                given.append(cookie)
                shown[cookie.id]?.isGivenAgain = true
                continue
            }
            if let last { stale.replace(last.pair, at: now) }
            stale.use(cookie.pair)
            let isThere = pairs.contains(cookie.pair)
            if !isThere { given.append(cookie) }
            shown[cookie.id] = Shown(
                pair: cookie.pair,
                isGiven: !isThere,
                former: isThere ? nil : last.map { $0.lastSent(of: pairs) },
                folder: isThere ? folder : nil
            )
        }
        let present = Set(visible.map(\.id))
        let ended = shown.keys.filter { !present.contains($0) }
        for id in ended {
            guard let last = shown.removeValue(forKey: id) else { continue }
            // A late request may still carry a pair that the app gave. A pair that the page set itself is not held
            // back, because the page may set it again at any time.
            if last.isGiven { stale.replace(last.pair, at: now) }
            stale.end(last.pair, in: last.folder ?? folder)
        }
        return (given, ended)
    }
}

extension Cookie {
    /// Whether a pair has the cookie's name.
    fileprivate func isNamed(in pair: String) -> Bool { pair.hasPrefix(name + "=") }
}

/// Pairs that a browser may still send although no page has set them.
struct StalePairs: Sendable {
    /// The longest time, by assumption, from a browser's choice of a request's cookies to the arrival of the request.
    private static let longestWait = Duration.seconds(120)

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

#if Gateway
import WaystationCookies

/// The cookies of one host in one browser, compared with those of the app's store.
///
/// The browser keeps only cookies that its pages may read; those with `HttpOnly` stay in the store, which chooses the
/// cookies of each request. So a page sees the app's cookies, its own ones reach the app, and no token is in the
/// browser's files.
struct PageCookies: Sendable {
    private struct Shown {
        var pair: String
        /// Whether a request of the browser has carried the pair.
        ///
        /// Until then a request without it may have been sent before the browser got it.
        var isConfirmed: Bool
    }

    /// The changes that a request shows.
    struct Changes: Equatable {
        /// Pairs that the browser was not given.
        var added: [String] = []
        var removed: [Cookie.ID] = []
    }

    private var shown: [Cookie.ID: Shown] = [:]

    /// Reads the cookies of a request.
    ///
    /// - Parameters:
    ///   - pairs: The pairs of its `Cookie` field.
    ///   - due: The cookies of the store that the browser would send with it.
    ///   - isNavigation: Whether it is for a document. Only there does the absence of a cookie count: a request for
    ///     another resource may have waited in the browser for long.
    /// - Returns: The changes by the page.
    mutating func read(_ pairs: [String], due: [Cookie], isNavigation: Bool) -> Changes {
        var changes = Changes()
        var unknown = pairs
        for cookie in due {
            let pair = cookie.pair
            unknown.removeAll { $0 == pair }
            guard let last = shown[cookie.id], last.pair == pair else { continue }
            if pairs.contains(pair) {
                shown[cookie.id]?.isConfirmed = true
            } else if isNavigation, last.isConfirmed {
                changes.removed.append(cookie.id)
                shown[cookie.id] = nil
            }
        }
        // A pair that the browser was given earlier is not the page's own.
        let given = Set(shown.values.map(\.pair))
        changes.added = unknown.filter { !given.contains($0) }
        return changes
    }

    /// Compares the store with what the browser has.
    ///
    /// - Parameters:
    ///   - visible: The cookies of the host that pages may read.
    ///   - pairs: The pairs of the request's `Cookie` field.
    /// - Returns: The cookies that the browser must be given, and those that it must forget.
    mutating func show(_ visible: [Cookie], to pairs: [String]) -> (given: [Cookie], ended: [Cookie.ID]) {
        var given: [Cookie] = []
        for cookie in visible where shown[cookie.id]?.pair != cookie.pair {
            let isThere = pairs.contains(cookie.pair)
            if !isThere { given.append(cookie) }
            shown[cookie.id] = Shown(pair: cookie.pair, isConfirmed: isThere)
        }
        let present = Set(visible.map(\.id))
        let ended = shown.keys.filter { !present.contains($0) }
        for id in ended { shown[id] = nil }
        return (given, ended)
    }
}
#endif

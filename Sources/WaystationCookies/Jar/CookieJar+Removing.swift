public import Foundation

extension CookieJar {
    /// Removes one cookie.
    @discardableResult
    public mutating func remove(_ id: Cookie.ID) -> [CookieChange] {
        take(id).map { [.removed($0.cookie)] } ?? []
    }

    /// Removes the cookies of a domain and of every domain below it.
    ///
    /// - Parameter domain: A host name; case and one leading dot do not matter. An invalid name removes nothing.
    /// - Returns: The removed cookies, oldest first.
    @discardableResult
    public mutating func removeAll(domain: String) -> [CookieChange] {
        guard let host = CookieHost(domain.hasPrefix(".") ? String(domain.dropFirst()) : domain) else { return [] }
        return removeAll { CookieHost($0.domain)?.domainMatches(host.name) == true }
    }

    /// Removes every cookie that a predicate accepts; without a predicate, all of them.
    @discardableResult
    public mutating func removeAll(where isToGo: (Cookie) -> Bool = { _ in true }) -> [CookieChange] {
        sweep(isToGo).map { .removed($0) }
    }

    /// Ends the session: removes the cookies that have no expiry date.
    @discardableResult
    public mutating func removeSessionCookies() -> [CookieChange] {
        removeAll(where: \.isSessionCookie)
    }

    /// Removes the cookies that have expired.
    ///
    /// Storing a cookie does the same; sending skips expired cookies but keeps them in the jar.
    ///
    /// - Complexity: O(1) when none has expired.
    @discardableResult
    public mutating func removeExpired(now: Date) -> [CookieChange] {
        guard earliestEnd <= now else { return [] }
        let expired = sweep { $0.isExpired(at: now) }
        earliestEnd = entries.values.joined().compactMap(\.cookie.expires).min() ?? .distantFuture
        return expired.map { .expired($0) }
    }

    /// Removes the cookies that a predicate accepts, and returns them in the order of creation.
    private mutating func sweep(_ isToGo: (Cookie) -> Bool) -> [Cookie] {
        var gone: [Entry] = []
        for (domain, bucket) in entries {
            let kept = bucket.filter { !isToGo($0.cookie) }
            guard kept.count < bucket.count else { continue }
            gone += bucket.filter { entry in !kept.contains { $0.order == entry.order } }
            entries[domain] = kept.isEmpty ? nil : kept
        }
        count -= gone.count
        return gone.sorted(by: Self.wasCreatedEarlier).map(\.cookie)
    }
}

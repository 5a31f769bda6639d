import Foundation

extension CookieJar {
    /// Stores a cookie, replaces the one with the same identity, and evicts others to keep the limits (RFC 6265 §5.3
    /// steps 11 and 12).
    mutating func put(_ cookie: Cookie, now: Date) -> [CookieChange] {
        // Expired cookies are removed first, so that a replacement does not inherit the creation date of one.
        var changes = removeExpired(now: now)
        var cookie = cookie
        var order = nextOrder
        let previous = take(cookie.id)
        if let previous {
            cookie.creation = previous.cookie.creation
            order = previous.order
        } else {
            nextOrder += 1
        }
        guard !cookie.isExpired(at: now) else {
            // A server removes a cookie by setting one that has expired.
            return changes + (previous.map { [.removed($0.cookie)] } ?? [])
        }
        entries[cookie.domain, default: []].append(Entry(cookie: cookie, order: order))
        count += 1
        earliestEnd = min(earliestEnd, cookie.expires ?? .distantFuture)
        changes += Self.change(from: previous?.cookie, to: cookie)
        changes += evictOverDomainLimit(cookie.domain)
        changes += evictOverLimit()
        return changes
    }

    private static func change(from previous: Cookie?, to cookie: Cookie) -> [CookieChange] {
        guard var same = previous, let previous else { return [.added(cookie)] }
        same.lastAccess = cookie.lastAccess
        return same == cookie ? [] : [.changed(cookie, from: previous)]
    }

    /// Removes a cookie from the jar and returns it.
    mutating func take(_ id: Cookie.ID) -> Entry? {
        guard let index = entries[id.domain]?.firstIndex(where: { $0.cookie.id == id }) else { return nil }
        let entry = entries[id.domain]?.remove(at: index)
        if entries[id.domain]?.isEmpty == true { entries[id.domain] = nil }
        count -= 1
        return entry
    }

    /// Evicts cookies until a domain is within its limit (RFC 6265bis §5.7).
    ///
    /// Cookies that are not secure go first, then all others; each time the one with the oldest last access. So an
    /// insecure site cannot crowd out the cookies of a secure one.
    private mutating func evictOverDomainLimit(_ domain: String) -> [CookieChange] {
        var changes: [CookieChange] = []
        while let bucket = entries[domain], bucket.count > max(0, rules.maximumForDomain) {
            guard
                let victim = bucket.filter({ !$0.cookie.isSecure }).min(by: Self.isToGoBefore)
                    ?? bucket.min(by: Self.isToGoBefore), let entry = take(victim.cookie.id)
            else { break }
            changes.append(.evicted(entry.cookie))
        }
        return changes
    }

    private mutating func evictOverLimit() -> [CookieChange] {
        var changes: [CookieChange] = []
        while count > max(0, rules.maximumInAll) {
            guard let victim = entries.values.joined().min(by: Self.isToGoBefore), let entry = take(victim.cookie.id)
            else { break }
            changes.append(.evicted(entry.cookie))
        }
        return changes
    }

    private static func isToGoBefore(_ first: Entry, _ second: Entry) -> Bool {
        guard first.cookie.lastAccess == second.cookie.lastAccess else {
            return first.cookie.lastAccess < second.cookie.lastAccess
        }
        return first.order < second.order
    }
}

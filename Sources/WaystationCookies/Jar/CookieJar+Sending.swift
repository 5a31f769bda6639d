public import Foundation

extension CookieJar {
    /// The cookies that a request carries, in the order in which they are sent: longer paths first, and for paths of
    /// equal length the earlier created cookie first (RFC 6265 §5.4, RFC 6265bis §5.8.3).
    ///
    /// Calling this does not count as an access to the cookies; ``header(for:context:now:)`` does.
    ///
    /// - Complexity: O(*d* + *c* log *c*) with the *d* labels of the host's name and the *c* cookies of its domains.
    public func cookies(for url: URL, context: CookieContext = .firstParty, now: Date) -> [Cookie] {
        guard let location = CookieLocation(url) else { return [] }
        let isSecure = rules.isSecure(location)
        var chosen: [Entry] = []
        for domain in location.host.suffixes {
            for entry in entries[domain] ?? [] {
                let cookie = entry.cookie
                guard !cookie.isExpired(at: now), !cookie.isHostOnly || cookie.domain == location.host.name,
                    isSecure || !cookie.isSecure, context.isHTTP || !cookie.isHTTPOnly,
                    context.carries(cookie.sameSite),
                    CookiePath.matches(request: location.path, cookie: cookie.path)
                else { continue }
                chosen.append(entry)
            }
        }
        chosen.sort { first, second in
            let lengths = (first.cookie.path.utf8.count, second.cookie.path.utf8.count)
            return lengths.0 == lengths.1 ? Self.wasCreatedEarlier(first, second) : lengths.0 > lengths.1
        }
        return chosen.map(\.cookie)
    }

    /// All cookies for the host of a URL, including those that a request to the URL does not carry.
    package func cookies(forHostOf url: URL) -> [Cookie] {
        guard let host = CookieLocation(url)?.host else { return [] }
        return host.suffixes.flatMap { entries[$0] ?? [] }.map(\.cookie)
            .filter { !$0.isHostOnly || $0.domain == host.name }
    }

    /// Returns the value of a request's `Cookie` field, or `nil` when there is no cookie to send, and records the
    /// access to each cookie.
    public mutating func header(for url: URL, context: CookieContext = .firstParty, now: Date) -> String? {
        let chosen = cookies(for: url, context: context, now: now)
        for cookie in chosen {
            guard let index = entries[cookie.domain]?.firstIndex(where: { $0.cookie.id == cookie.id }) else { continue }
            entries[cookie.domain]?[index].cookie.lastAccess = now
        }
        return chosen.isEmpty ? nil : chosen.map(\.pair).joined(separator: "; ")
    }
}

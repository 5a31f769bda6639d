public import Foundation

/// The cookies of a client, and the decisions about them (RFC 6265 §5.3 and §5.4, RFC 6265bis §5.7 and §5.8).
///
/// A jar is a value and uses no file, no network and no clock. Each mutation returns the changes it made.
///
/// ```swift
/// var jar = CookieJar()
/// jar.store("sid=31d4; Path=/; Secure; HttpOnly", from: url, now: now)
/// request.setValue(jar.header(for: url, now: now), forHTTPHeaderField: "Cookie")
/// ```
public struct CookieJar: Sendable {
    /// A cookie and its place in the order of creation.
    ///
    /// The creation date alone does not order cookies: all cookies of one response are stored at the same moment.
    struct Entry {
        var cookie: Cookie
        var order: UInt64
    }

    /// The limits and checks that the jar applies.
    ///
    /// The rules belong to the app and are not encoded with the cookies: set them again after decoding.
    ///
    /// Tighter rules apply to cookies that are stored from then on; cookies that are already in the jar stay.
    public var rules: CookieRules

    /// The cookies by their domain, so that a request looks up only the few domains that its host's name ends with.
    var entries: [String: [Entry]] = [:]
    /// How many cookies there are, expired ones included until they are removed.
    public internal(set) var count = 0
    /// A lower bound of the expiry dates: no cookie expires before this moment.
    var earliestEnd = Date.distantFuture
    var nextOrder: UInt64 = 0

    /// Makes an empty jar.
    public init(rules: CookieRules = CookieRules()) {
        self.rules = rules
    }

    /// All cookies, in the order of their creation, expired ones included until they are removed.
    ///
    /// - Complexity: O(*n* log *n*).
    public var cookies: [Cookie] {
        entries.values.joined().sorted(by: Self.wasCreatedEarlier).map(\.cookie)
    }

    private static func wasCreatedEarlier(_ first: Entry, _ second: Entry) -> Bool {
        guard first.cookie.creation == second.cookie.creation else {
            return first.cookie.creation < second.cookie.creation
        }
        return first.order < second.order
    }

    /// The cookie with an identity, expired or not.
    public subscript(id: Cookie.ID) -> Cookie? {
        entries[id.domain]?.first(where: { $0.cookie.id == id })?.cookie
    }
}

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

extension CookieJar {
    /// The result of storing a cookie.
    public enum Outcome: Hashable, Sendable {
        /// The cookie was accepted and made these changes. The list is empty if the jar had the same cookie already, or
        /// if the cookie had expired and the jar had no cookie of its name to remove.
        case stored([CookieChange])
        /// The cookie was not accepted, and nothing changed.
        case refused(CookieError)

        /// The changes; empty for a refusal.
        public var changes: [CookieChange] {
            switch self {
            case .stored(let changes): changes
            case .refused: []
            }
        }

        /// The reason of a refusal; `nil` for a stored cookie.
        public var refusal: CookieError? {
            switch self {
            case .stored: nil
            case .refused(let error): error
            }
        }
    }

    /// Parses and stores the value of one `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - field: The value of one field; for a value joined from several see ``store(joined:from:context:now:)``.
    ///   - url: The URL of the request that this response answers.
    ///   - context: The context of that request.
    ///   - now: The moment at which the response came.
    /// - Returns: The changes, or the reason why the cookie was refused.
    @discardableResult
    public mutating func store(
        _ field: String,
        from url: URL,
        context: CookieContext = .firstParty,
        now: Date
    ) -> Outcome {
        do throws(CookieError) {
            let setCookie = try SetCookie(field, acceptsNameless: rules.acceptsNamelessCookies)
            return store(setCookie, from: url, context: context, now: now)
        } catch {
            return .refused(error)
        }
    }

    /// Stores the cookies of a value into which Foundation joined several `Set-Cookie` fields, in their order.
    @discardableResult
    public mutating func store(
        joined: String,
        from url: URL,
        context: CookieContext = .firstParty,
        now: Date
    ) -> [Outcome] {
        SetCookie.split(joined: joined).map { store($0, from: url, context: context, now: now) }
    }

    /// Stores the cookie that a response sets, if the response may set it (RFC 6265 §5.3, RFC 6265bis §5.7).
    @discardableResult
    public mutating func store(
        _ setCookie: SetCookie,
        from url: URL,
        context: CookieContext = .firstParty,
        now: Date
    ) -> Outcome {
        do throws(CookieError) {
            guard let location = CookieLocation(url) else {
                throw CookieError(.url, "the URL cannot set cookies; give an http, https, ws or wss URL with a host")
            }
            let cookie = try accept(setCookie, from: location, context: context, now: now)
            return .stored(put(cookie, now: now))
        } catch {
            return .refused(error)
        }
    }

    /// Inserts a cookie that the app made, as if the cookie's own host had set it over a secure connection.
    ///
    /// The cookie replaces one with the same identity and keeps that one's creation date. A cookie for a whole public
    /// suffix is refused. The rules do not limit the cookie's life.
    @discardableResult
    public mutating func insert(_ cookie: Cookie, now: Date) -> Outcome {
        guard cookie.isHostOnly || !rules.publicSuffixes.contain(cookie.domain) else {
            return .refused(
                CookieError(
                    .publicSuffix,
                    "\(cookie.domain) is a public suffix; make the cookie host-only (`isHostOnly`)"
                )
            )
        }
        var cookie = cookie
        cookie.lastAccess = now
        return .stored(put(cookie, now: now))
    }

    // MARK: The storage model, step by step

    private func accept(
        _ setCookie: SetCookie,
        from location: CookieLocation,
        context: CookieContext,
        now: Date
    ) throws(CookieError) -> Cookie {
        let domain = try domain(of: setCookie, from: location.host)
        let cookie = Cookie(
            setCookie,
            domain: domain ?? location.host.name,
            isHostOnly: domain == nil,
            path: setCookie.path ?? CookiePath.defaultPath(of: location.path),
            expires: end(of: setCookie, now: now),
            now: now
        )
        let isSecureOrigin = rules.isSecure(location)
        if cookie.isSecure, !isSecureOrigin {
            throw CookieError(.insecureOrigin, "\(location.host.name) set a Secure cookie over an insecure connection")
        }
        if cookie.isHTTPOnly, !context.isHTTP {
            throw CookieError(.httpOnly, "an HttpOnly cookie can only be set through HTTP")
        }
        if !isSecureOrigin, hasSecureCookie(under: cookie, now: now) {
            throw CookieError(
                .secureCookieStands,
                "a Secure cookie of this name exists; an insecure connection cannot set another that hides it"
            )
        }
        if !context.maySet(cookie.sameSite) {
            throw CookieError(.sameSite, "a request that another site started may only set cookies with SameSite=None")
        }
        try CookiePrefix.check(cookie, pathWasExplicit: setCookie.path != nil)
        if !context.isHTTP, let previous = self[cookie.id], previous.isHTTPOnly, !previous.isExpired(at: now) {
            throw CookieError(.httpOnly, "an HttpOnly cookie can only be replaced through HTTP")
        }
        return cookie
    }

    /// The domain that a cookie is for; `nil` when only the host itself gets it (RFC 6265 §5.3 steps 4 to 6).
    private func domain(of setCookie: SetCookie, from host: CookieHost) throws(CookieError) -> String? {
        guard let domain = setCookie.domain else { return nil }
        guard CookieHost(domain) != nil else {
            throw CookieError(.domain, "the Domain is not a host name; write a non-ASCII name in its xn-- form")
        }
        // A host may always name itself: an address, `localhost` or a public suffix. A cookie in whose domain a host
        // names itself in this way is host-only.
        if domain == host.name, host.isAddress || rules.publicSuffixes.contain(domain) { return nil }
        guard host.domainMatches(domain) else {
            throw CookieError(.domain, "\(host.name) may not set cookies for \(domain.shown(upTo: 255))")
        }
        // Above its registrable domain, the names have other owners: so have those of amazonaws.com for a host whose
        // public suffix is below that.
        guard let owned = rules.publicSuffixes.registrableDomain(of: host),
            domain == owned || domain.hasSuffix("." + owned)
        else {
            throw CookieError(
                .publicSuffix,
                "\(domain) is a public suffix, or above one; \(host.name) may not set cookies for all of it"
            )
        }
        return domain
    }

    /// The moment at which a cookie expires; `Max-Age` takes precedence over `Expires` (RFC 6265 §5.3 step 3).
    private func end(of setCookie: SetCookie, now: Date) -> Date? {
        let latest = now.addingTimeInterval(rules.maximumLife)
        if let maxAge = setCookie.maxAge {
            return maxAge <= 0 ? .distantPast : min(latest, now.addingTimeInterval(Double(maxAge)))
        }
        return setCookie.expires.map { min(latest, $0) }
    }

    /// Whether an insecure cookie would hide a secure one, or be sent in its place (RFC 6265bis §5.7).
    private func hasSecureCookie(under cookie: Cookie, now: Date) -> Bool {
        guard let host = CookieHost(cookie.domain) else { return false }
        return entries.contains { domain, bucket in
            bucket.contains {
                $0.cookie.isSecure && $0.cookie.name == cookie.name && !$0.cookie.isExpired(at: now)
                    && CookiePath.matches(request: cookie.path, cookie: $0.cookie.path)
            } && (host.domainMatches(domain) || CookieHost(domain)?.domainMatches(cookie.domain) == true)
        }
    }
}

extension Cookie {
    /// Makes a cookie from a parsed one; the parser has already checked the name and value.
    fileprivate init(
        _ setCookie: SetCookie,
        domain: String,
        isHostOnly: Bool,
        path: String,
        expires: Date?,
        now: Date
    ) {
        name = setCookie.name
        value = setCookie.value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        isSecure = setCookie.isSecure
        isHTTPOnly = setCookie.isHTTPOnly
        sameSite = setCookie.sameSite
        creation = now
        lastAccess = now
    }
}

public import Foundation
import WaystationFields

extension CookieJar {
    /// The result of storing a cookie.
    public enum Outcome: Hashable, Sendable {
        /// The cookie was accepted and made these changes. There are none when the jar already had the same cookie, or
        /// when the cookie had already expired and the jar had none to remove.
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

public import Foundation

extension CookieJar {
    /// What came of a cookie that was to be stored.
    public enum Outcome: Hashable, Sendable {
        /// It was taken, with these changes; none when it was there already, or had ended before it came.
        case stored([CookieChange])
        /// It was not taken, and nothing changed.
        case refused(CookieError)

        /// The changes; none of a refusal.
        public var changes: [CookieChange] {
            switch self {
            case .stored(let changes): changes
            case .refused: []
            }
        }

        /// Why it was refused.
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
    ///   - field: One field's value; for a joined one see ``store(joined:from:context:now:)``.
    ///   - url: The URL of the request that this response answers.
    ///   - context: Who started that request.
    ///   - now: The moment at which the response came.
    /// - Returns: The changes, or why the cookie was refused.
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

    /// Stores what a response sets, if it may (RFC 6265 §5.3, RFC 6265bis §5.7).
    @discardableResult
    public mutating func store(
        _ setCookie: SetCookie,
        from url: URL,
        context: CookieContext = .firstParty,
        now: Date
    ) -> Outcome {
        do throws(CookieError) {
            guard let location = CookieLocation(url) else {
                throw CookieError(.url, "cookies belong to http and https URLs with a host")
            }
            let cookie = try accept(setCookie, from: location, context: context, now: now)
            return .stored(put(cookie, now: now))
        } catch {
            return .refused(error)
        }
    }

    /// Inserts a cookie that the app made, as if the cookie's own host had set it over a secure connection.
    ///
    /// It takes the place of one with the same identity and keeps that one's creation. Public suffixes are refused;
    /// its life is not bounded by the rules.
    @discardableResult
    public mutating func insert(_ cookie: Cookie, now: Date) -> Outcome {
        guard cookie.isHostOnly || !rules.publicSuffixes.contain(cookie.domain) else {
            return .refused(
                CookieError(.publicSuffix, "\(cookie.domain) is a public suffix; make the cookie host-only")
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
            throw CookieError(.httpOnly, "an HttpOnly cookie can be set through HTTP alone")
        }
        if !isSecureOrigin, hasSecureCookie(under: cookie, now: now) {
            throw CookieError(
                .secureCookieStands,
                "a Secure cookie of this name stands; an insecure one cannot overlay it"
            )
        }
        if !context.maySet(cookie.sameSite) {
            throw CookieError(.sameSite, "another site's request may set cookies with SameSite=None alone")
        }
        try CookiePrefix.check(cookie, pathWasExplicit: setCookie.path != nil)
        if !context.isHTTP, let previous = self[cookie.id], previous.isHTTPOnly, !previous.isExpired(at: now) {
            throw CookieError(.httpOnly, "an HttpOnly cookie can be replaced through HTTP alone")
        }
        return cookie
    }

    /// The domain that a cookie is for, `nil` for its host alone (RFC 6265 §5.3 steps 4 to 6).
    private func domain(of setCookie: SetCookie, from host: CookieHost) throws(CookieError) -> String? {
        guard let domain = setCookie.domain else { return nil }
        guard CookieHost(domain) != nil else {
            throw CookieError(.domain, "Domain is no host name; names outside ASCII have to be in their xn-- form")
        }
        // A host may repeat its own name, whatever it is: an address, `localhost`, a public suffix.
        if domain == host.name, host.isAddress || rules.publicSuffixes.contain(domain) { return nil }
        guard host.domainMatches(domain) else {
            throw CookieError(.domain, "\(host.name) may not set cookies for \(domain.prefix(255))")
        }
        guard !rules.publicSuffixes.contain(domain) else {
            throw CookieError(
                .publicSuffix,
                "\(domain) is a public suffix; \(host.name) may not set cookies for all of it"
            )
        }
        return domain
    }

    /// The moment at which a cookie ends; `Max-Age` counts more than `Expires` (RFC 6265 §5.3 step 3).
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
    /// A parsed cookie, whose pair the parser has checked.
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

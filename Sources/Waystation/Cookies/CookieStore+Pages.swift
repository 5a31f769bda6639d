import Foundation
import Synchronization
import WaystationCookies

/// The cookies that pages set by themselves.
extension CookieStore {
    /// Takes over the cookies that a page has set or changed by itself.
    ///
    /// New ones are for the page's host alone, and end with the session, since a request does not show their
    /// attributes; changed ones keep their attributes. Cookies that a log-out removed are left out unless the page has
    /// set them again, and so are those that have the name of a cookie which no page may see.
    ///
    /// - Parameters:
    ///   - changes: The changes that a request of the page shows; those that it has removed are not taken over here.
    ///   - url: The URL of the request.
    ///   - origin: The name of the program that showed the page, for the author of the changes.
    ///   - login: The cookie of the login, which only the login sets; nil without one.
    func take(_ changes: PageChanges, at url: URL, from origin: String, login: Cookie.ID?) {
        guard !changes.added.isEmpty || !changes.changed.isEmpty else { return }
        let now = now()
        let outcomes: [CookieJar.Outcome] = change(by: .storage(origin)) { state in
            var hidden = Set(state.jar.cookies.filter { $0.isHTTPOnly && $0.id.covers(hostOf: url) }.map(\.name))
            if let login, login.covers(hostOf: url) { hidden.insert(login.name) }
            let scopes = Cookie.Scope.all(for: url)
            func isAllowed(_ pair: String) -> Bool {
                !hidden.contains(String(CookiePairs.name(of: pair)))
                    && (changes.setAgain.contains(pair) || !state.known.hasEnded(pair, in: scopes))
            }
            let attributes = url.scheme == "https" ? "; Path=/; Secure" : "; Path=/"
            var outcomes = changes.added.filter(isAllowed).map {
                state.jar.store($0 + attributes, from: url, context: CookieContext(isHTTP: false), now: now)
            }
            for (id, pair) in changes.changed where isAllowed(pair) {
                // The cookie may have gone since the request was read.
                guard let cookie = state.jar[id], !cookie.isExpired(at: now) else { continue }
                do throws(CookieError) {
                    outcomes.append(state.jar.insert(try cookie.with(pair: pair), now: now))
                } catch {
                    outcomes.append(.refused(error))
                }
            }
            return (outcomes, outcomes.flatMap(\.changes))
        }
        for outcome in outcomes {
            if let error = outcome.refusal { report(CookieEvent(kind: .refused(error))) }
        }
    }
}

extension Cookie {
    /// The same cookie with the value of a pair.
    fileprivate func with(pair: String) throws(CookieError) -> Cookie {
        try Cookie(
            name: name,
            value: String(pair.dropFirst(name.count + 1)),
            domain: domain,
            isHostOnly: isHostOnly,
            path: path,
            expires: expires,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            sameSite: sameSite,
            creation: creation
        )
    }
}

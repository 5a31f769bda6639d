import Dispatch
package import Foundation
import Synchronization
import WaystationCookies
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The operations of a store that the interceptor uses for each exchange.
extension CookieStore {
    /// A point in the order of log-outs, recorded when a request is sent or a sign-in begins.
    struct Moment: Sendable {
        let logouts: UInt64
    }

    func moment() -> Moment { state.withLock { Moment(logouts: $0.logouts) } }

    /// Whether two URLs are of one site, by the rules of the store.
    package func isSameSite(_ first: URL, _ second: URL) -> Bool {
        state.withLock { $0.jar.rules }.isSameSite(first, second)
    }

    /// Whether the store sends cookies with `Secure` to a URL.
    package func sendsSecureCookies(to url: URL) -> Bool { state.withLock { $0.jar.rules }.isSecure(url) }

    /// The request with exactly the cookies that RFC 6265 chooses for it (§5.4), and those that the app wrote itself.
    ///
    /// A pair that is already in the field was chosen by Foundation if a storage or this store has or had it; such
    /// pairs are replaced by the store's choice. The other pairs are the app's own, and replace a chosen pair of the
    /// same name. The exception is the cookie of a login: only the store sets it.
    func choosing(for request: URLRequest, login: Cookie.ID?) -> URLRequest {
        // A cookie's path is compared with the path that is sent, so the canonical URL is used.
        guard let url = request.url?.canonical ?? request.url else { return request }
        let stated = request.value(forHTTPHeaderField: "Cookie")
        let now = now()
        let context = context(of: request, to: url)
        let field = change(by: .expiry) { state in
            let ended = state.jar.removeExpired(now: now)
            let chosen = state.jar.header(for: url, context: context, now: now)
            // As a rule Foundation chose the same cookies, or the field was already chosen here before.
            guard let stated, stated != chosen else { return (chosen, ended) }
            let covered = login.flatMap { $0.covers(hostOf: url) ? $0.name : nil }
            let own = state.ownPairs(in: stated, at: url).filter { pair in
                covered == nil || CookiePairs.name(of: pair) != covered ?? ""
            }
            return (Self.join(chosen, own), ended)
        }
        guard field != stated else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }

    /// The request without the cookies that Foundation wrote into it, because Foundation ignores
    /// `httpShouldHandleCookies`.
    func removingKnown(from request: URLRequest) -> URLRequest {
        guard let stated = request.value(forHTTPHeaderField: "Cookie"), let url = request.url?.canonical ?? request.url
        else { return request }
        let own = state.withLock { $0.ownPairs(in: stated, at: url) }
        var request = request
        request.setValue(own.isEmpty ? nil : own.joined(separator: "; "), forHTTPHeaderField: "Cookie")
        return request
    }

    /// The context of a request, by the site of its main document (RFC 6265bis §5.2).
    private func context(of request: URLRequest, to url: URL) -> CookieContext {
        var context = CookieContext(method: request.httpMethod ?? "GET")
        if let document = ForwardingTag.document(of: request) {
            context.isSameSite = isSameSite(document, url)
            context.isTopLevelNavigation = document == CrossSite.link
        }
        return context
    }

    private static func join(_ chosen: String?, _ own: [String]) -> String? {
        guard !own.isEmpty else { return chosen }
        let names = Set(own.map { CookiePairs.name(of: $0) })
        let others = chosen.map { CookiePairs($0).pairs.filter { !names.contains(CookiePairs.name(of: $0)) } } ?? []
        return (others + own).joined(separator: "; ")
    }

    /// Calls `start`, which passes the request to the network, unless a log-out has removed a cookie of the request.
    ///
    /// A log-out waits until `start` has returned. So after a log-out no request with its cookies is passed on, even if
    /// this thread stops between the check and the call.
    ///
    /// - Returns: The result of `start`; nil when the request must not be sent.
    func sending<Result>(_ request: URLRequest, _ start: () -> Result) -> Result? {
        let now = now()
        let sends: DispatchGroup? = state.withLock { state in
            guard !state.carriesEnded(request, now: now) else { return nil }
            state.sends.current.enter()
            return state.sends.current
        }
        guard let sends else { return nil }
        defer { sends.leave() }
        return start()
    }

    /// Takes over the cookies that a response sets, unless its request was sent before a log-out of its host's login.
    func take(_ head: ResponseHead, to request: URLRequest, sent moment: Moment) {
        let fields = head.setCookies
        guard !fields.isEmpty, let url = request.url else { return }
        let now = now()
        let context = context(of: request, to: url)
        let outcomes: [CookieJar.Outcome] = change(by: .response(url)) { state in
            guard !state.ends.contains(where: { $0.value > moment.logouts && $0.key.covers(hostOf: url) }) else {
                return ([], [])
            }
            let outcomes = fields.map { state.jar.store($0, from: url, context: context, now: now) }
            return (outcomes, outcomes.flatMap(\.changes))
        }
        for outcome in outcomes {
            if let error = outcome.refusal { report(CookieEvent(kind: .refused(error))) }
        }
    }

    // MARK: - Logins

    /// The value of a cookie that has not ended.
    func value(of id: Cookie.ID) -> String? { value(of: id, at: now()) }

    /// The value of a cookie that has not ended at a time.
    func value(of id: Cookie.ID, at time: Date) -> String? {
        state.withLock { state in state.jar[id].flatMap { $0.isExpired(at: time) ? nil : $0.value } }
    }

    /// Inserts the token of a sign-in, unless a log-out came after the sign-in began.
    ///
    /// Returns false when the token came too late.
    func insert(_ token: Cookie, of account: String, asOf moment: Moment) throws(CookieError) -> Bool {
        let now = now()
        let outcome: CookieJar.Outcome? = change(by: .login(account: account)) { state in
            guard state.ends[token.id] ?? 0 <= moment.logouts else { return (nil, []) }
            let outcome = state.jar.insert(token, now: now)
            return (outcome, outcome.changes)
        }
        if let error = outcome?.refusal { throw error }
        return outcome != nil
    }

    /// Finds out whether the store would take a cookie, and stores nothing.
    ///
    /// - Throws: The reason for which the store would refuse the cookie.
    func check(_ cookie: Cookie) throws(CookieError) {
        var jar = CookieJar(rules: state.withLock { $0.jar.rules })
        if let error = jar.insert(cookie, now: now()).refusal { throw error }
    }

    /// Ends a login: removes the cookies of its domain, and takes over no more cookies from exchanges that began
    /// before.
    ///
    /// It removes all cookies of the domain, not only the token, because a server may identify the user by other
    /// cookies as well.
    ///
    /// - Returns: The requests that are being passed to the network at this time, and may carry these cookies.
    func end(_ id: Cookie.ID, of account: String) -> DispatchGroup {
        change(by: .logout(account: account)) { state in
            state.logouts += 1
            state.ends[id] = state.logouts
            state.storageEnds[id] = state.logouts
            let changes = state.jar.removeAll { id.covers(domainOf: $0) }
            for change in changes { state.known.end(change.cookie) }
            return (state.sends.end(), changes)
        }
    }

    /// Ends the cookies that only storages have got of a login whose loads have ended by now.
    ///
    /// Foundation stores the cookies of loads that it runs itself, such as uploads, as long as they are under way.
    func endStorages(of id: Cookie.ID) {
        state.withLock { state in
            state.logouts += 1
            state.storageEnds[id] = state.logouts
        }
    }
}

extension CookieStore.State {
    /// The pairs of a `Cookie` field that the app wrote itself, because no cookie for the host has or had them.
    fileprivate func ownPairs(in field: String, at url: URL) -> [String] {
        let present = Set(jar.cookies(forHostOf: url).map(\.pair))
        let scopes = Cookie.Scope.all(for: url)
        return CookiePairs(field).pairs.filter { !present.contains($0) && !known.contains($0, in: scopes) }
    }

    /// Whether a request carries a cookie that a log-out has removed since.
    fileprivate func carriesEnded(_ request: URLRequest, now: Date) -> Bool {
        guard logouts > 0, let field = request.value(forHTTPHeaderField: "Cookie"), let url = request.url else {
            return false
        }
        let scopes = Cookie.Scope.all(for: url)
        let ended = CookiePairs(field).pairs.filter { known.hasEnded($0, in: scopes) }
        guard !ended.isEmpty else { return false }
        // The cookie may have been set again, for another path.
        let current = jar.cookies(for: url, now: now).map(\.pair)
        return !ended.allSatisfy(current.contains)
    }
}

extension ResponseHead {
    /// The values of the `Set-Cookie` fields, as they arrived if the engine keeps them apart.
    package var setCookies: [String] {
        setCookieFields ?? rawValue(forHTTPHeaderField: "Set-Cookie").map { SetCookie.split(joined: $0) } ?? []
    }
}

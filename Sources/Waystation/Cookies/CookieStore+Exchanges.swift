import Foundation
import FoundationNetworking
import Synchronization
import WaystationCookies

/// What the interceptor asks of a store for each exchange.
extension CookieStore {
    /// A point in the order of log-outs: take one when a request is sent, or a sign-in begins.
    struct Moment: Sendable {
        fileprivate let logouts: UInt64
    }

    func moment() -> Moment { state.withLock { Moment(logouts: $0.logouts) } }

    /// The request with exactly the cookies that RFC 6265 chooses for it (§5.4), and those that the app wrote itself.
    ///
    /// Of what stands in the field already, pairs that a storage or this store has or had are Foundation's choice, and
    /// are chosen anew. The others are the app's own, and go before a chosen one of the same name; except that nothing
    /// but the store states the cookie of a login.
    func choosing(for request: URLRequest, login: Cookie.ID?) -> URLRequest {
        // A cookie's path is compared with the path that is sent.
        guard let url = request.url?.canonical ?? request.url else { return request }
        let stated = request.value(forHTTPHeaderField: "Cookie")
        let now = now()
        var context = CookieContext(method: request.httpMethod ?? "GET")
        if let document = ForwardingTag.document(of: request) {
            context.isSameSite = state.withLock { $0.jar.rules }.isSameSite(document, url)
        }
        let field = change(by: .expiry) { state in
            let ended = state.jar.removeExpired(now: now)
            let chosen = state.jar.header(for: url, context: context, now: now)
            // As a rule Foundation chose the same, or the request was here before.
            guard let stated, stated != chosen else { return (chosen, ended) }
            let covered = login.flatMap { $0.covers(hostOf: url) ? $0.name : nil }
            let own = CookiePairs(stated).pairs.filter {
                !state.known.contains($0, at: url) && (covered == nil || CookiePairs.name(of: $0) != covered ?? "")
            }
            return (Self.join(chosen, own), ended)
        }
        guard field != stated else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }

    private static func join(_ chosen: String?, _ own: [String]) -> String? {
        guard !own.isEmpty else { return chosen }
        let names = Set(own.map { CookiePairs.name(of: $0) })
        let others = chosen.map { CookiePairs($0).pairs.filter { !names.contains(CookiePairs.name(of: $0)) } } ?? []
        return (others + own).joined(separator: "; ")
    }

    /// Whether a request carries something that a log-out has removed since.
    func carriesEnded(_ request: URLRequest) -> Bool {
        guard let field = request.value(forHTTPHeaderField: "Cookie"), let url = request.url else { return false }
        let now = now()
        return state.withLock { state in
            guard state.logouts > 0 else { return false }
            let ended = CookiePairs(field).pairs.filter { state.known.hasEnded($0, at: url) }
            guard !ended.isEmpty else { return false }
            // It may have been set anew, for another path.
            let current = state.jar.cookies(for: url, now: now).map(\.pair)
            return !ended.allSatisfy(current.contains)
        }
    }

    /// Takes what a response sets, unless its request was sent before a log-out of its host's login.
    func take(_ head: HTTPURLResponse, to request: URLRequest, sent moment: Moment) {
        guard let joined = head.value(forHTTPHeaderField: "Set-Cookie"), let url = request.url else { return }
        let now = now()
        let outcomes: [CookieJar.Outcome] = change(by: .response(url)) { state in
            guard !state.ends.contains(where: { $0.value > moment.logouts && $0.key.covers(hostOf: url) }) else {
                return ([], [])
            }
            let outcomes = state.jar.store(joined: joined, from: url, now: now)
            return (outcomes, outcomes.flatMap(\.changes))
        }
        for outcome in outcomes {
            if let error = outcome.refusal { report(CookieEvent(kind: .refused(error))) }
        }
    }

    // MARK: - Logins

    /// The value of a cookie that has not ended.
    func value(of id: Cookie.ID) -> String? {
        let now = now()
        return state.withLock { state in state.jar[id].flatMap { $0.isExpired(at: now) ? nil : $0.value } }
    }

    /// Puts in what a sign-in has brought, unless a log-out came since it began.
    ///
    /// False when it came too late.
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

    /// Ends a login: removes the cookies of its domain, and takes nothing more from what began before.
    ///
    /// All of them, and not the token alone: a server keeps who somebody is under other names as well.
    func end(_ id: Cookie.ID, of account: String) {
        change(by: .logout(account: account)) { state in
            state.logouts += 1
            state.ends[id] = state.logouts
            let changes = state.jar.removeAll { id.covers(domainOf: $0) }
            for change in changes { state.known.end(change.cookie) }
            return ((), changes)
        }
    }

    // MARK: - Storages

    /// Notes pairs that a storage has: they are not the app's own.
    func note(pairsOf cookies: [Cookie]) {
        state.withLock { state in
            for cookie in cookies where !state.known.hasEnded(cookie) { state.known.insert(cookie) }
        }
    }

    /// Takes over what somebody changed in a storage.
    ///
    /// - Returns: How many cookies that concerned.
    func take(_ differences: [StorageMirror.Difference], from sync: CookieSync) -> Int {
        guard !differences.isEmpty else { return 0 }
        let now = now()
        let (count, errors, refused) = change(by: .storage(sync.storage.name), except: sync) { state in
            var changes: [CookieChange] = []
            var refused: [Cookie.ID] = []
            var errors: [CookieError] = []
            for difference in differences {
                switch difference {
                case .put(let cookie):
                    // A load of Foundation's own may end after a log-out: what that has removed does not come back.
                    guard !state.known.hasEnded(cookie) else {
                        refused.append(cookie.id)
                        continue
                    }
                    state.known.insert(cookie)
                    // What a storage cannot keep, it does not deny.
                    if let held = state.jar[cookie.id], held.holdsTheSame(as: cookie) { continue }
                    switch state.jar.insert(cookie, now: now) {
                    case .stored(let stored): changes += stored
                    case .refused(let error): errors.append(error)
                    }
                case .removed(let id): changes += state.jar.remove(id)
                }
            }
            return ((changes.count, errors, refused), changes)
        }
        for error in errors { report(CookieEvent(kind: .refused(error))) }
        if !refused.isEmpty { sync.note(refused) }
        return count
    }

    /// The cookie of an identity, for a storage; nil when it has ended or gone.
    func current(_ id: Cookie.ID) -> Cookie? {
        let now = now()
        return state.withLock { state in state.jar[id].flatMap { $0.isExpired(at: now) ? nil : $0 } }
    }
}

import Dispatch
import Synchronization
package import WaystationFoundation
package import WaystationHTTP

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

    /// Removes the cookies of the site of a URL, as a response from there demands.
    func clear(siteOf url: URL) {
        change(by: .response(url)) { state in
            let rules = state.jar.rules
            return ((), state.jar.removeAll { rules.isCookie(of: $0.domain, fromSiteOf: url) })
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

/// The storages that a store is kept in step with.
extension CookieStore {
    struct WeakSync: Sendable {
        weak var sync: CookieSync?
    }

    /// Keeps a storage in step as long as the caller, or another one with the same storage, keeps the sync.
    ///
    /// The same object always gets the same sync: two syncs would call it at the same time, and each would take the
    /// other's writes for changes of the app.
    func sync(
        with storage: any CookieStorage,
        limit: Duration,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) -> CookieSync {
        let made = CookieSync(storage, self, limit: limit, schedule: schedule)
        // The syncs are kept until the lock is released: the last release of a sync releases objects of the app.
        let (sync, known) = state.withLock { state in
            let known = state.presentSyncs()
            if let same = known.first(where: { $0.synchronizes(storage) }) { return (same, known) }
            state.syncs.append(WeakSync(sync: made))
            return (made, known)
        }
        defer { withExtendedLifetime(known) {} }
        if sync === made { begin(made) }
        return sync
    }

    /// Keeps the storage of a configuration in step from now on, as long as the storage exists.
    ///
    /// The same storage always gets the same sync.
    ///
    /// Returns nil when the storage is already in step with another store, because one store would pass the cookies of
    /// its account on to the other. In that case the caller only records the pairs that the storage has.
    func sync(
        with storage: HTTPCookieStorage,
        limit: Duration,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) -> CookieSync? {
        let foundation = FoundationCookieStorage(storage, now: now)
        let made = CookieSync(foundation, self, limit: limit, schedule: schedule)
        guard let sync = StorageOwners.sync(of: storage, for: self, orElse: made) else {
            report(CookieEvent(kind: .storageInUse(storage: "HTTPCookieStorage")))
            return nil
        }
        guard sync === made else { return sync }
        state.withLock { $0.syncs.append(WeakSync(sync: made)) }
        begin(made)
        _ = made.look()
        return made
    }

    private func begin(_ sync: CookieSync) {
        sync.note(state.withLock { $0.jar.cookies.map(\.id) })
    }

    // MARK: - Changes

    /// Records pairs that a storage has, so that they do not count as the app's own.
    func note(pairsOf cookies: [Cookie]) {
        state.withLock { state in
            for cookie in cookies where !state.known.hasEnded(cookie) { state.known.insert(cookie) }
        }
    }

    /// Takes over the changes that others made in a storage.
    ///
    /// A cookie that a log-out would have removed if the store had had it is not taken over, and is removed from the
    /// storage.
    ///
    /// - Parameters:
    ///   - differences: The changes.
    ///   - sync: The sync of the storage.
    ///   - moment: The moment of the look before which a cookie had not changed.
    /// - Returns: The number of changes that were taken over, and the cookies that the storage has to remove again.
    func take(
        _ differences: [StorageMirror.Difference],
        from sync: CookieSync,
        since moment: (Cookie.ID) -> Moment
    ) -> (count: Int, ended: [Cookie.ID]) {
        guard !differences.isEmpty else { return (0, []) }
        let now = now()
        let (count, errors, refused) = change(by: .storage(sync.storage.name), except: sync) { state in
            var changes: [CookieChange] = []
            var refused: [Cookie.ID] = []
            var errors: [CookieError] = []
            for difference in differences {
                switch difference {
                case .put(let cookie):
                    if state.hasEnded(cookie, since: moment(cookie.id)) { state.known.end(cookie) }
                    // A load of Foundation's own may end after a log-out; a cookie that the log-out removed must not
                    // return.
                    guard !state.known.hasEnded(cookie) else {
                        refused.append(cookie.id)
                        continue
                    }
                    state.known.insert(cookie)
                    // Ignores differences in attributes that a storage cannot keep.
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
        return (count, refused)
    }

    /// The cookie with this identity, to be written to a storage; nil when it has expired or was removed.
    func current(_ id: Cookie.ID) -> Cookie? {
        let now = now()
        return state.withLock { state in state.jar[id].flatMap { $0.isExpired(at: now) ? nil : $0 } }
    }
}

extension CookieStore.State {
    /// The syncs; those whose storage is gone are removed from the list, and returned once more.
    ///
    /// Keep the result until the lock is released: the last release of a sync releases objects of the app.
    mutating func presentSyncs() -> [CookieSync] {
        let present = syncs.compactMap(\.sync)
        syncs = present.filter { !$0.isStorageGone }.map { CookieStore.WeakSync(sync: $0) }
        return present
    }

    /// Whether a log-out since the previous look at a storage has ended a cookie that only this storage has.
    fileprivate func hasEnded(_ cookie: Cookie, since moment: CookieStore.Moment) -> Bool {
        guard storageEnds.contains(where: { $0.value > moment.logouts && $0.key.covers(domainOf: cookie) }) else {
            return false
        }
        return !(jar[cookie.id]?.holdsTheSame(as: cookie) ?? false)
    }
}

/// The sync of each of Foundation's storages, in the whole process, as long as the storage and its store exist.
///
/// Many sessions may use one storage after another, such as the shared storage. The sync therefore does not end with a
/// session: cookies that are removed in between must not come back from the storage.
private enum StorageOwners {
    private struct Owner {
        weak var store: CookieStore?
        let sync: CookieSync
    }

    private static let owners = Mutex<[ObjectIdentifier: Owner]>([:])

    /// The sync of a storage, which is `made` if it has none yet; nil if the storage is in step with another store.
    static func sync(of storage: HTTPCookieStorage, for store: CookieStore, orElse made: CookieSync) -> CookieSync? {
        // Owners that are gone are found and released outside the lock: a sync and a store hold objects of the app.
        let known = owners.withLock { $0 }
        // A new storage may have the address of one that is gone.
        let gone = known.filter { $0.value.store == nil || $0.value.sync.isStorageGone }
        let owner = owners.withLock { owners in
            for (id, owner) in gone where owners[id]?.sync === owner.sync { owners[id] = nil }
            let id = ObjectIdentifier(storage)
            let owner = owners[id] ?? Owner(store: store, sync: made)
            owners[id] = owner
            return owner
        }
        return withExtendedLifetime(known) { owner.store === store ? owner.sync : nil }
    }
}

/// The changes that a page has made to its cookies, as its request shows them.
package struct PageChanges: Sendable {
    /// The pairs of new cookies.
    package var added: [String] = []
    /// The cookies to which the page has given another value, with their new pairs.
    package var changed: [Cookie.ID: String] = [:]
    /// New pairs that the page's browser did not have any more before the page set them.
    ///
    /// They are therefore no remains from before a log-out.
    package var setAgain: Set<String> = []
    /// The cookies that the page has removed.
    package var removed: [Cookie.ID] = []

    package init() {}
}

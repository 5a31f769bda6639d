import Dispatch
public import Foundation
import Synchronization
public import WaystationHTTP
import WaystationStorage

/// The cookies of an app: those that its requests carry, as RFC 6265 chooses them, and those that its responses set.
///
/// ```swift
/// let cookies = CookieStore(file: support.appending(path: "cookies.json"))
/// let interceptor = try Interceptor {
///     $0.rules = [.allow("https://shop.example/**", via: .network)]
///     $0.cookies = cookies
/// }
/// for await change in cookies.changes { print(change) }
/// ```
///
/// With a store, the interceptor writes the `Cookie` field of each request that its rules take, reads every
/// `Set-Cookie` of the responses, and keeps the `HTTPCookieStorage` of each session in step. Several interceptors may
/// share a store if they belong to one user; each account needs a store of its own.
///
/// All members may be called from any thread. Only the `async` ones wait for a disk or a storage, except that making a
/// store reads its file.
public final class CookieStore: Sendable {
    struct State {
        var jar: CookieJar
        var known = KnownPairs()
        /// The number of log-outs.
        ///
        /// An exchange that began before a log-out may set no cookie after it.
        var logouts: UInt64 = 0
        /// The number of the last log-out of each login.
        var ends: [Cookie.ID: UInt64] = [:]
        /// The number of the last log-out of each login for the cookies that only a storage has.
        ///
        /// Such a cookie counts as ended if the previous look at the storage was before that log-out.
        var storageEnds: [Cookie.ID: UInt64] = [:]
        var readers = StreamReaders<Change>()
        var sends = Sends()
        /// Weak: the sessions and interceptors that use a storage own its sync.
        var syncs: [WeakSync] = []
        /// The event that the file was put aside when the store was made.
        var damagedFile: CookieEvent?
        /// The event that the last attempt to write the file failed.
        var notSaved: CookieEvent?
        /// The session that signs in with these cookies; a store has at most one.
        weak var login: (any CookieOwner)?
    }

    /// A reader that falls further behind than this many changes loses the oldest.
    static let streamCapacity = 4_096

    let now: @Sendable () -> Date
    let state: Mutex<State>
    private let file: CookieFile?
    private let listeners = Listeners<CookieEvent>()

    /// Makes a store; with a file, the store contains the cookies that the file holds.
    ///
    /// An unreadable file stops nothing: it is renamed to `….damaged`, and an event reports it.
    ///
    /// - Parameters:
    ///   - file: The file for cookies that have an expiry, in JSON, readable by its owner alone. With nil, the default,
    ///     they are kept in memory. With a URL that is not a file URL, an event reports the mistake, and cookies
    ///     stay in memory. Cookies
    ///     without an expiry are never written.
    ///   - rules: The rules for accepting cookies; RFC 6265 by default.
    ///   - now: The clock; the system's by default.
    public convenience init(
        file: URL? = nil,
        rules: CookieRules = CookieRules(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let problem = file?.fileURLProblem
        self.init(file: problem == nil ? file.map { CookieFile($0) } : nil, rules: rules, now: now)
        if let file, let problem {
            state.withLock { $0.notSaved = CookieEvent(kind: .notSaved(file, NotAFileURL(description: problem))) }
        }
    }

    init(file: CookieFile?, rules: CookieRules, now: @escaping @Sendable () -> Date) {
        self.file = file
        self.now = now
        var state = State(jar: CookieJar(rules: rules))
        do {
            if var jar = try file?.read(under: rules) {
                jar.rules = rules
                state.jar = jar
            }
        } catch {
            if let file { state.damagedFile = CookieEvent(kind: .damagedFile(file.url, error)) }
        }
        for cookie in state.jar.cookies { state.known.insert(cookie) }
        self.state = Mutex(state)
    }

    deinit {
        state.withLock { $0.readers }.finish()
    }

    /// All cookies that have not expired, in the order of their creation.
    public var cookies: [Cookie] {
        let now = now()
        return state.withLock { $0.jar.cookies }.filter { !$0.isExpired(at: now) }
    }

    /// The cookies that a request of the app to this URL carries, in the order in which they are sent.
    public func cookies(for url: URL) -> [Cookie] {
        let now = now()
        return state.withLock { $0.jar.cookies(for: url, now: now) }
    }

    /// The changes from now on, each with its author, as a new stream for each call.
    ///
    /// A reader that falls more than 4,096 changes behind loses the oldest. The streams end with the store.
    public var changes: AsyncStream<Change> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.streamCapacity)) { continuation in
            let number = state.withLock { $0.readers.add(continuation) }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.readers.remove(number) }
            }
        }
    }

    /// Adds a cookie, replacing the one with the same identity; the next request carries it.
    ///
    /// - Throws: ``WaystationHTTP/CookieError`` for a domain that is a public suffix.
    public func insert(_ cookie: Cookie) throws(CookieError) {
        let now = now()
        let outcome = change(by: .app) { state in
            let outcome = state.jar.insert(cookie, now: now)
            return (outcome, outcome.changes)
        }
        if let error = outcome.refusal { throw error }
    }

    /// Removes the cookie with this identity.
    public func remove(_ id: Cookie.ID) {
        change(by: .app) { ((), $0.jar.remove(id)) }
    }

    /// Removes the cookies of a domain and of all its subdomains.
    public func removeAll(domain: String) {
        change(by: .app) { ((), $0.jar.removeAll(domain: domain)) }
    }

    /// Removes every cookie that the predicate selects; without a predicate, all of them.
    public func removeAll(where isToGo: (Cookie) -> Bool = { _ in true }) {
        change(by: .app) { ((), $0.jar.removeAll(where: isToGo)) }
    }

    /// Returns when all changes made before the call are in the storages that are kept in step, and on disk.
    ///
    /// It waits for a storage no longer than the storage's time limit.
    public func synchronize() async {
        await synchronizeStorages()
        await file?.flush()
    }

    /// The same as ``synchronize()``, but without waiting for the disk.
    func synchronizeStorages() async {
        for sync in state.withLock({ $0.presentSyncs() }) { await sync.flush() }
    }

    // MARK: - Changing

    /// Changes the jar, and reports the change to all readers, storages and the file.
    @discardableResult
    func change<Result>(
        by author: Change.Author,
        except origin: CookieSync? = nil,
        _ body: (inout State) -> (Result, [CookieChange])
    ) -> Result {
        let (result, syncs, ids): (Result, [CookieSync], [Cookie.ID]) = state.withLock { state in
            let (result, changes) = body(&state)
            guard !changes.isEmpty else { return (result, [], []) }
            for change in changes {
                state.known.note(change)
                let told = Change(change: change, author: change.isExpiry ? .expiry : author)
                // Yielding under the lock only queues the change, and keeps the changes in order.
                state.readers.yield(told)
            }
            return (result, state.presentSyncs(), changes.map(\.cookie.id))
        }
        guard !ids.isEmpty else { return result }
        // The syncs and the file need not know the order of changes: both read the jar when they write.
        for sync in syncs where sync !== origin { sync.note(ids) }
        save()
        return result
    }

    private func save() {
        // A write that is due keeps the store: its cookies are written even if nothing else keeps it any more.
        file?.save { [self] in
            var jar = state.withLock { $0.jar }
            jar.removeSessionCookies()
            return jar
        } done: { [weak self] url, error in
            let event = error.map { CookieEvent(kind: .notSaved(url, $0)) }
            self?.state.withLock { $0.notSaved = event }
            if let event { self?.report(event) }
        }
    }

    // MARK: - Events

    /// The current problems of the file, as the events that reported them; empty if the file has no problem.
    ///
    /// The event of a file that was put aside when the store was made is never removed.
    public var condition: [CookieEvent] { state.withLock { [$0.damagedFile, $0.notSaved].compactMap(\.self) } }

    /// Calls `listener` for the events of ``condition`` first, and then for every new event.
    ///
    /// Several interceptors may share one store.
    ///
    /// - Parameters:
    ///   - owner: The listener is removed after the release of this object; nil for one that stays.
    ///   - listener: Called with each event.
    func addListener(
        for owner: (any AnyObject & Sendable)? = nil,
        _ listener: @escaping @Sendable (CookieEvent) -> Void
    ) {
        listeners.add(for: owner, listener)
        for event in condition { listener(event) }
    }

    func report(_ event: CookieEvent) {
        listeners.report(event)
    }
}

extension CookieChange {
    fileprivate var isExpiry: Bool {
        if case .expired = self { true } else { false }
    }
}

/// The reason why cookies are not written to a URL.
private struct NotAFileURL: Error, CustomStringConvertible {
    let description: String
}

/// The login whose token is among the cookies of a store.
protocol CookieOwner: AnyObject, Sendable {
    var account: String { get }
}

extension CookieStore {
    /// A change of the cookies, and its author.
    public struct Change: Hashable, Sendable {
        /// The author of a change.
        ///
        /// More cases may come: a `switch` needs a default.
        public enum Author: Hashable, Sendable {
            /// The app, through the store.
            case app
            /// The response of a URL.
            case response(URL)
            /// The login of an account.
            case login(account: String)
            /// The log-out of an account.
            case logout(account: String)
            /// A storage that is kept in step, such as the `HTTPCookieStorage` of a session.
            case storage(String)
            /// The cookie's expiry.
            case expiry
        }

        /// The cookie and how it changed.
        public let change: CookieChange
        /// The author of the change.
        public let author: Author
    }
}

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

/// The file in which cookies are stored.
///
/// It is readable by its owner alone, and replaced as a whole.
///
/// Writes are made one at a time; a change during a write is written by the next one. The normal end of the process
/// waits for the last one.
final class CookieFile: DelayedWriter {
    /// Identifies the queue of a file.
    private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    let url: URL
    private let fileSystem: any FileSystem
    private let queue = DispatchQueue(label: "waystation.cookies.file")
    private let isDue = Mutex(false)

    init(_ url: URL, fileSystem: any FileSystem = LocalFileSystem()) {
        self.url = url
        self.fileSystem = fileSystem
        queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(self))
        StoresAtExit.add(self)
    }

    private var path: String { url.path(percentEncoded: false) }

    /// The largest size of a file that is read: room for every cookie that the rules allow, each with the longest name,
    /// value and attributes that a response can set.
    private static func limit(for rules: CookieRules) -> Int {
        let (size, isOverflow) = max(0, rules.maximumInAll).multipliedReportingOverflow(by: 16 << 10)
        return isOverflow ? .max : max(64 << 20, size)
    }

    /// The stored cookies; nil when there is no file yet.
    ///
    /// A file that cannot be read, or is larger than the rules can make it, is renamed, so that it is not overwritten.
    func read(under rules: CookieRules) throws -> CookieJar? {
        do {
            // Cookies that another user wrote do not belong to this app, and no other user may read the app's cookies.
            try fileSystem.makePrivate(path)
            guard let data = try fileSystem.readFile(path, limit: Self.limit(for: rules)) else { return nil }
            return try JSONDecoder().decode(CookieJar.self, from: data)
        } catch {
            try? fileSystem.rename(path, to: path + ".damaged")
            throw error
        }
    }

    /// Writes the jar that `jar` returns when the write begins; `done` gets the error, or nil after success.
    func save(_ jar: @escaping @Sendable () -> CookieJar, done: @escaping @Sendable (URL, (any Error)?) -> Void) {
        let isDueAlready = isDue.withLock { isDue in
            defer { isDue = true }
            return isDue
        }
        guard !isDueAlready else { return }
        queue.async { [self] in
            isDue.withLock { $0 = false }
            let jar = jar()
            do {
                try fileSystem.createDirectory((path as NSString).deletingLastPathComponent)
                try fileSystem.replaceFile(path, with: JSONEncoder().encode(jar))
                done(url, nil)
            } catch {
                done(url, error)
            }
        }
    }

    func beginFinishing() -> DispatchSemaphore? {
        // An event's handler may call `exit` on this queue.
        guard DispatchQueue.getSpecific(key: Self.queueKey) != ObjectIdentifier(self) else { return nil }
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        return isDone
    }

    /// Returns when all writes that were requested before are on disk.
    func flush() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}

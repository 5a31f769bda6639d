public import Foundation
import Synchronization
import WaystationCollections
public import WaystationCookies
import WaystationFileSystem

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
    /// - Throws: ``WaystationCookies/CookieError`` for a domain that is a public suffix.
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

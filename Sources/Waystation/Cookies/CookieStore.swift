public import Foundation
import Synchronization
public import WaystationCookies

/// The cookies of an app: what its requests carry, chosen as RFC 6265 says, and what its responses set.
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
/// With a store the interceptor writes the `Cookie` field of what its rules take, reads every `Set-Cookie` that comes
/// with it, and keeps the `HTTPCookieStorage` of each session in step. Several interceptors may share a store where
/// they are of one user; accounts need a store each.
///
/// All members may be called from any thread; none waits for a disk or a storage, except where it is `async`. Making a
/// store reads its file.
public final class CookieStore: Sendable {
    struct State {
        var jar: CookieJar
        var known = KnownPairs()
        /// Counts the log-outs, and which was the last of each login: what began before one may set nothing after it.
        var logouts: UInt64 = 0
        var ends: [Cookie.ID: UInt64] = [:]
        var streams: [UInt64: AsyncStream<Change>.Continuation] = [:]
        var nextStream: UInt64 = 0
        var syncs: [CookieSync] = []
        var listeners: [@Sendable (CookieEvent) -> Void] = []
        /// The file was put aside when the store was made.
        var damagedFile: CookieEvent?
        /// The file could not be written when it was last tried.
        var notSaved: CookieEvent?
        /// The session that signs in with these cookies; there can be one.
        weak var login: LoginSession?
    }

    /// A reader that falls further behind loses the oldest changes.
    static let streamCapacity = 4_096

    let now: @Sendable () -> Date
    let state: Mutex<State>
    private let file: CookieFile?

    /// Makes a store; with a file, of what was kept there.
    ///
    /// A file that cannot be read never stops anything: it is put aside as `….damaged`, and an event says so.
    ///
    /// - Parameters:
    ///   - file: Where cookies with an end are kept, in JSON, readable by its owner alone; nil, the default, keeps them
    ///     in memory. Cookies of the session are never written.
    ///   - rules: What is accepted; RFC 6265 by default.
    ///   - now: The clock; the system's by default.
    public convenience init(
        file: URL? = nil,
        rules: CookieRules = CookieRules(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(file: file.map { CookieFile($0) }, rules: rules, now: now)
    }

    init(file: CookieFile?, rules: CookieRules, now: @escaping @Sendable () -> Date) {
        self.file = file
        self.now = now
        var state = State(jar: CookieJar(rules: rules))
        do {
            if var jar = try file?.read() {
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
        for stream in state.withLock({ $0.streams.values.map(\.self) }) { stream.finish() }
    }

    /// All cookies that have not ended, in the order of their creation.
    public var cookies: [Cookie] {
        let now = now()
        return state.withLock { $0.jar.cookies }.filter { !$0.isExpired(at: now) }
    }

    /// The cookies that a request of the app to a URL carries, in the order in which they are sent.
    public func cookies(for url: URL) -> [Cookie] {
        let now = now()
        return state.withLock { $0.jar.cookies(for: url, now: now) }
    }

    /// What changes from now on, and who does it, as a new stream each time.
    ///
    /// A reader that falls more than 4,096 changes behind loses the oldest. The streams end with the store.
    public var changes: AsyncStream<Change> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.streamCapacity)) { continuation in
            let id = state.withLock { state in
                state.nextStream += 1
                state.streams[state.nextStream] = continuation
                return state.nextStream
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.streams.removeValue(forKey: id) }
            }
        }
    }

    /// Puts a cookie in, in place of the one with its identity; the next request carries it.
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

    /// Removes the cookie of an identity.
    public func remove(_ id: Cookie.ID) {
        change(by: .app) { ((), $0.jar.remove(id)) }
    }

    /// Removes the cookies of a domain and of every one below it.
    public func removeAll(domain: String) {
        change(by: .app) { ((), $0.jar.removeAll(domain: domain)) }
    }

    /// Removes every cookie that a test picks; all of them without one.
    public func removeAll(where isToGo: (Cookie) -> Bool = { _ in true }) {
        change(by: .app) { ((), $0.jar.removeAll(where: isToGo)) }
    }

    /// Returns when everything that was asked for before is in the storages that are kept in step, and on disk.
    ///
    /// A storage that does not answer is not waited for beyond its time limit.
    public func synchronize() async {
        await synchronizeStorages()
        await file?.flush()
    }

    /// The same without the disk.
    func synchronizeStorages() async {
        for sync in state.withLock({ $0.syncs }) { await sync.flush() }
    }

    // MARK: - Changing

    /// Changes the jar, and tells everybody who keeps step.
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
                if change.isPresent { state.known.insert(change.cookie) }
                let told = Change(change: change, author: change.isExpiry ? .expiry : author)
                // A stream only takes it in; told here, changes keep their order.
                for stream in state.streams.values { stream.yield(told) }
            }
            return (result, state.syncs, changes.map(\.cookie.id))
        }
        guard !ids.isEmpty else { return result }
        // Neither needs to know the order: both read what is in the jar when they write.
        for sync in syncs where sync !== origin { sync.note(ids) }
        save()
        return result
    }

    private func save() {
        file?.save { [weak self] in
            guard var jar = self?.state.withLock({ $0.jar }) else { return nil }
            jar.removeSessionCookies()
            return jar
        } done: { [weak self] url, error in
            let event = error.map { CookieEvent(kind: .notSaved(url, $0)) }
            self?.state.withLock { $0.notSaved = event }
            if let event { self?.report(event) }
        }
    }

    // MARK: - Events

    /// What is wrong with the file now: the events that reported it, none when all is well.
    ///
    /// A file that was put aside when the store was made stays in it.
    public var condition: [CookieEvent] { state.withLock { [$0.damagedFile, $0.notSaved].compactMap(\.self) } }

    /// Calls `listener` for every event from now on, and for those of ``condition`` first; several interceptors may
    /// share one store.
    func addListener(_ listener: @escaping @Sendable (CookieEvent) -> Void) {
        state.withLock { $0.listeners.append(listener) }
        for event in condition { listener(event) }
    }

    func report(_ event: CookieEvent) {
        for listener in state.withLock({ $0.listeners }) { listener(event) }
    }
}

extension CookieChange {
    fileprivate var isExpiry: Bool {
        if case .expired = self { true } else { false }
    }
}

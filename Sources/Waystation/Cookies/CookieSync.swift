import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Keeps a store and one storage in step.
///
/// Changes in the store are written to the storage in the background, one sync at a time. Changes in the storage are
/// found by comparing its content: before each request where that needs no waiting, otherwise by a sync that the
/// request waits for.
final class CookieSync: Sendable {
    /// The pending work of the sync, and the callers that wait for it.
    private struct Work {
        /// The cookies that may differ between the storage and the store.
        var noted: Set<Cookie.ID> = []
        /// The cookies that the storage did not take or remove; the next sync, whatever its reason, writes them again.
        var failed: Set<Cookie.ID> = []
        var isLookDue = false
        var isRunning = false
        /// The number of the current sync, so that a time limit recognises its own.
        var number: UInt64 = 0
        /// Whether the running sync has exceeded its time limit.
        ///
        /// Then no caller waits for it any more.
        var isOverdue = false
        var waiters: [@Sendable () -> Void] = []
    }

    private struct Seen {
        /// The moment of the last look.
        var moment: CookieStore.Moment
        var mirror = StorageMirror()
        var snapshot = FoundationCookieStorage.Snapshot()
        /// The loads that Foundation runs itself.
        var loads: [ObjectIdentifier: (url: URL, refusesCookies: Bool)] = [:]
        /// The cookies that looks have left out, with the moment of the look before.
        var undecided: [Cookie.ID: CookieStore.Moment] = [:]

        /// Finds what has changed among the cookies of the storage.
        ///
        /// - Returns: The changes, and for each cookie the moment since which it may have changed.
        mutating func differences(
            in cookies: [Cookie],
            asOf version: UInt64,
            at present: CookieStore.Moment?
        ) -> (changes: [StorageMirror.Difference], since: (Cookie.ID) -> CookieStore.Moment) {
            let changes = mirror.look(at: cookies, asOf: version) { [loads] id, isRemoval in
                loads.values.contains { id.covers(hostOf: $0.url) && ($0.refusesCookies || !isRemoval) }
            }
            let since = { [undecided, moment] in undecided[$0] ?? moment }
            undecided = Dictionary(uniqueKeysWithValues: mirror.undecided.map { ($0, since($0)) })
            moment = present ?? moment
            return (changes, since)
        }
    }

    let storage: any CookieStorage
    private weak let store: CookieStore?
    private let limit: Duration
    private let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    private let work = Mutex(Work())
    /// The lock that is held while Foundation's storage is read and its changes are taken over, so that they keep their
    /// order.
    ///
    /// That storage has a lock of its own and calls no other code while it holds it.
    private let seen: Mutex<Seen>

    init(
        _ storage: any CookieStorage,
        _ store: CookieStore,
        limit: Duration,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        self.storage = storage
        self.store = store
        self.limit = limit
        self.schedule = schedule
        seen = Mutex(Seen(moment: store.moment()))
    }

    /// Whether the storage is gone.
    var isStorageGone: Bool { (storage as? FoundationCookieStorage).map { $0.storage == nil } ?? false }

    /// Whether this sync is the one of `other`.
    ///
    /// Only objects are recognized; a storage that is a struct never is.
    func synchronizes(_ other: any CookieStorage) -> Bool { (storage as AnyObject) === (other as AnyObject) }

    // MARK: - Looking

    /// Takes over the changes that the app made in the storage since the last look.
    ///
    /// - Returns: True when that is done; false when the caller must wait for it with ``flush(_:)``.
    func look() -> Bool {
        guard let foundation = storage as? FoundationCookieStorage else { return false }
        let ended = look(at: foundation, asOf: nil).ended
        if !ended.isEmpty { note(ended) }
        return true
    }

    /// Takes over the changes in Foundation's storage.
    ///
    /// - Parameters:
    ///   - foundation: The storage.
    ///   - moment: The present moment, which becomes the moment of the last look. Nil for a look before a request: that
    ///     look keeps the earlier moment, so that it need not lock the store.
    /// - Returns: The number of changes that were taken over, and the cookies that the storage has to remove again.
    private func look(
        at foundation: FoundationCookieStorage,
        asOf moment: CookieStore.Moment?
    ) -> (count: Int, ended: [Cookie.ID]) {
        guard let store else { return (0, []) }
        let (taken, refused) = seen.withLock { seen -> ((count: Int, ended: [Cookie.ID]), [CookieError]) in
            let version = seen.mirror.version
            guard let snapshot = foundation.snapshot else { return ((0, []), []) }
            guard !seen.undecided.isEmpty || !snapshot.isSame(as: seen.snapshot) else {
                seen.moment = moment ?? seen.moment
                return ((0, []), [])
            }
            let (cookies, refused) = snapshot.cookies(made: store.now(), after: seen.snapshot)
            seen.snapshot = snapshot
            let (changes, since) = seen.differences(in: cookies, asOf: version, at: moment)
            return (store.take(changes, from: self, since: since), refused)
        }
        for error in refused { store.report(CookieEvent(kind: .refused(error))) }
        return taken
    }

    /// A load that Foundation runs itself, as long as this object exists.
    ///
    /// Foundation stores the cookies of a response before Waystation sees its head. So no look takes over the cookies
    /// that the storage gets for the host of such a load, the app's included, before the load has ended and
    /// ``CookieSync/recognize(_:at:)`` was called. A request carries them all the same, as Foundation has put them into
    /// its field. If the app removes a cookie from the storage, the next look removes it from the store too, so that no
    /// request carries it. While a load that refuses the cookies of its response is under way, looks leave out removals for
    /// its host as well, because the response may have caused them.
    ///
    /// The cookies that a redirect sets are not recognized: they count as the app's.
    final class FoundationLoad: Sendable {
        private let sync: CookieSync

        fileprivate init(_ sync: CookieSync, _ url: URL, refusesCookies: Bool) {
            self.sync = sync
            sync.seen.withLock { $0.loads[ObjectIdentifier(self)] = (url, refusesCookies) }
        }

        deinit { sync.seen.withLock { _ = $0.loads.removeValue(forKey: ObjectIdentifier(self)) } }
    }

    /// Begins a load that Foundation runs itself.
    func beginLoad(of url: URL, refusesCookies: Bool) -> FoundationLoad {
        FoundationLoad(self, url, refusesCookies: refusesCookies)
    }

    /// Records the cookies that the storage got or lost for the host of a load whose response is not known, so that no
    /// look takes that over.
    ///
    /// - Returns: The cookies to be replaced by those of the store; the caller passes them to ``note(_:)``.
    func recognizeUndecided(at url: URL) -> [Cookie.ID] {
        guard let foundation = storage as? FoundationCookieStorage else { return [] }
        _ = look()
        return seen.withLock { seen in
            let undecided = seen.mirror.undecided
            let ids = seen.mirror.recognize(foundation.cookies()) { undecided.contains($0) && $0.covers(hostOf: url) }
            return Array(ids)
        }
    }

    /// Records the cookies that Foundation's own loader has stored or removed for a response, so that no look takes
    /// that over.
    ///
    /// - Parameters:
    ///   - names: The names of the cookies that the response sets.
    ///   - url: The URL of the response.
    /// - Returns: The cookies to be replaced by those of the store; the caller passes them to ``note(_:)``.
    func recognize(_ names: Set<String>, at url: URL) -> [Cookie.ID] {
        guard let foundation = storage as? FoundationCookieStorage else { return [] }
        return seen.withLock { seen in
            let ids = seen.mirror.recognize(foundation.cookies()) { names.contains($0.name) && $0.covers(hostOf: url) }
            return Array(ids)
        }
    }

    // MARK: - Syncs

    /// Records cookies that have changed in the store and may have to be written to the storage.
    func note(_ ids: [Cookie.ID]) {
        start { $0.noted.formUnion(ids) }
    }

    /// Runs `completion` when all changes, in both places, have been taken over, or when the time limit has passed.
    ///
    /// A storage whose sync has already exceeded its time limit is not waited for.
    func flush(_ completion: @escaping @Sendable () -> Void) {
        let isVain = start { work in
            work.isLookDue = true
            if !work.isOverdue { work.waiters.append(completion) }
            return work.isOverdue
        }
        if isVain { completion() }
    }

    func flush() async {
        await withCheckedContinuation { continuation in flush { continuation.resume() } }
    }

    @discardableResult
    private func start<Result: Sendable>(_ note: @Sendable (inout Work) -> Result) -> Result {
        let (result, isNew) = work.withLock { work in
            let result = note(&work)
            defer { work.isRunning = true }
            return (result, !work.isRunning)
        }
        if isNew { run() }
        return result
    }

    private func run() {
        let number = work.withLock { work in
            work.number += 1
            return work.number
        }
        schedule(limit) { [weak self] in self?.isOverdue(number) }
        Task { [self] in
            let (ids, waiters) = work.withLock { work in
                defer {
                    work.noted = []
                    work.failed = []
                    work.isLookDue = false
                }
                return (work.noted.union(work.failed), work.waiters.count)
            }
            do throws(Incomplete) {
                let (written, taken) = try await synchronize(ids)
                if written + taken > 0 { report(.synchronized(storage: storage.name, written: written, taken: taken)) }
            } catch {
                work.withLock { $0.failed = error.ids }
                report(.storageFailed(storage: storage.name, error.cause))
            }
            finish(waiters)
        }
    }

    /// Ends a sync: the callers that waited when it began continue, and the next sync begins if one is due.
    private func finish(_ count: Int) {
        let (done, isDue) = work.withLock { work in
            work.isOverdue = false
            // Callers that came during this sync wait for the next one. After a time limit released all callers, none
            // is left.
            let done = Array(work.waiters.prefix(count))
            work.waiters.removeFirst(done.count)
            work.isRunning = work.isLookDue || !work.noted.isEmpty
            return (done, work.isRunning)
        }
        for waiter in done { waiter() }
        if isDue { run() }
    }

    private func isOverdue(_ number: UInt64) {
        let waiters: [@Sendable () -> Void]? = work.withLock { work in
            guard work.isRunning, work.number == number, !work.isOverdue else { return nil }
            work.isOverdue = true
            defer { work.waiters = [] }
            return work.waiters
        }
        guard let waiters else { return }
        report(.storageTimedOut(storage: storage.name))
        for waiter in waiters { waiter() }
    }

    /// The first error of a sync, and the cookies that are not in step because of errors.
    private struct Incomplete: Error {
        let ids: Set<Cookie.ID>
        let cause: any Error
    }

    private func synchronize(_ ids: Set<Cookie.ID>) async throws(Incomplete) -> (written: Int, taken: Int) {
        guard let store, !isStorageGone else { return (0, 0) }
        // Reads the storage first: the app's changes there are the latest that the user made.
        let moment = store.moment()
        var (taken, ended): (Int, [Cookie.ID])
        if let foundation = storage as? FoundationCookieStorage {
            (taken, ended) = look(at: foundation, asOf: moment)
        } else {
            let version = seen.withLock(\.mirror.version)
            let cookies: [Cookie]
            do { cookies = try await storage.cookies() } catch { throw Incomplete(ids: ids, cause: error) }
            (taken, ended) = seen.withLock { seen in
                let (changes, since) = seen.differences(in: cookies, asOf: version, at: moment)
                return store.take(changes, from: self, since: since)
            }
        }
        var writes: [StorageMirror.Write] = []
        for id in ids.union(ended) {
            let cookie = store.current(id)
            let isDue = seen.withLock { seen in
                cookie.map { !seen.mirror.holds($0) } ?? seen.mirror.contains(id)
            }
            if isDue { writes.append(StorageMirror.Write(id: id, cookie: cookie)) }
        }
        guard !writes.isEmpty else { return (0, taken) }
        let failure = await write(&writes)
        if let foundation = storage as? FoundationCookieStorage {
            seen.withLock { [writes] in $0.mirror.endWriting(writes, holding: foundation.cookies()) }
            let last = look(at: foundation, asOf: moment)
            taken += last.count
            if !last.ended.isEmpty { note(last.ended) }
        } else {
            let held = try? await storage.cookies()
            seen.withLock { [writes] in $0.mirror.endWriting(writes, holding: held) }
        }
        if let failure { throw Incomplete(ids: Set(writes.filter(\.hasFailed).map(\.id)), cause: failure) }
        return (writes.count, taken)
    }

    /// Writes cookies to the storage, and records the result of each write.
    ///
    /// - Returns: The first error.
    private func write(_ writes: inout [StorageMirror.Write]) async -> (any Error)? {
        seen.withLock { [writes] in $0.mirror.beginWriting(writes.map(\.id)) }
        var failure: (any Error)?
        for index in writes.indices {
            let write = writes[index]
            do {
                if let cookie = write.cookie, let foundation = storage as? FoundationCookieStorage {
                    writes[index].wasKept = await foundation.put(cookie)
                } else if let cookie = write.cookie {
                    try await storage.set(cookie)
                } else {
                    try await storage.remove(write.id)
                }
            } catch {
                failure = failure ?? error
                writes[index].hasFailed = true
            }
        }
        return failure
    }

    private func report(_ kind: CookieEvent.Kind) { store?.report(CookieEvent(kind: kind)) }
}

/// The pairs of name and value that cookies of the store or of a storage have had in this process, with their hosts.
///
/// Foundation writes the `Cookie` field of a task before any other code sees it. Its pairs can be distinguished from
/// those that the app wrote only because a storage has or had them. The pairs are kept as hashes, so that tokens that
/// have ended do not stay in memory. The pairs of cookies that the store still has are in its jar; here, those that were
/// not in use for the longest time are forgotten first.
struct KnownPairs {
    /// The hashes that were used last, at most 8,192.
    private struct Recent {
        private static let limit = 8_192

        private var hashes = LeastRecentlyUsed<Int, Bool>()

        mutating func insert(_ hash: Int) {
            if let position = hashes.position(of: hash) { return hashes.use(position) }
            hashes.insert(true, for: hash, cost: 1)
            if hashes.count > Self.limit { hashes.removeOldest() }
        }

        mutating func remove(_ hash: Int) { hashes.remove(hash) }

        func contains(_ hash: Int) -> Bool { hashes.position(of: hash) != nil }
    }

    private var pairs = Recent()
    /// The pairs that a log-out removed.
    ///
    /// They have a list of their own, so that a busy host's new cookies do not displace them.
    private var ended = Recent()

    /// Records a change of the jar.
    ///
    /// A pair that leaves the jar stays known: a field that Foundation wrote before may have it.
    mutating func note(_ change: CookieChange) {
        if case .changed(_, from: let previous) = change { remember(previous) }
        if change.isPresent { insert(change.cookie) } else { remember(change.cookie) }
    }

    /// Records that a cookie is in use, again or for the first time.
    mutating func insert(_ cookie: Cookie) {
        remember(cookie)
        ended.remove(Self.hash(cookie))
    }

    /// Records that a cookie was in use until now.
    mutating func remember(_ cookie: Cookie) { pairs.insert(Self.hash(cookie)) }

    /// Records that a log-out removed a cookie.
    mutating func end(_ cookie: Cookie) {
        remember(cookie)
        ended.insert(Self.hash(cookie))
    }

    /// Whether a pair is or was that of a cookie with one of these scopes.
    func contains(_ pair: String, in scopes: [Cookie.Scope]) -> Bool {
        scopes.contains { pairs.contains(Self.hash(pair, $0)) }
    }

    /// Whether a log-out removed a cookie.
    func hasEnded(_ cookie: Cookie) -> Bool { ended.contains(Self.hash(cookie)) }

    /// Whether a log-out removed a cookie with this pair and one of these scopes.
    func hasEnded(_ pair: String, in scopes: [Cookie.Scope]) -> Bool {
        scopes.contains { ended.contains(Self.hash(pair, $0)) }
    }

    private static func hash(_ cookie: Cookie) -> Int { hash(cookie.pair, cookie.scope) }

    /// The path is left out: Foundation stores a cookie without `Path` for another path than the store.
    private static func hash(_ pair: String, _ scope: Cookie.Scope) -> Int {
        var hasher = Hasher()
        hasher.combine(pair)
        hasher.combine(scope)
        return hasher.finalize()
    }
}

/// The pairs of a `Cookie` field (RFC 6265 §4.2.1).
package struct CookiePairs {
    package let pairs: [String]

    package init(_ field: String) {
        pairs = field.utf8.split(separator: UInt8(ascii: ";")).map { $0.trimmingSpace() }.filter { !$0.isEmpty }
            .map { String(Substring($0)) }
    }

    /// The name of a pair; empty for a value without a name.
    static func name(of pair: String) -> Substring {
        pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair[..<$0] } ?? ""
    }

    /// The value of the first pair of a name.
    func value(of name: String) -> String? {
        pairs.first { Self.name(of: $0) == name }.map { String($0.dropFirst(name.count + 1)) }
    }
}

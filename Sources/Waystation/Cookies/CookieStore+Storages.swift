import Foundation
import Synchronization
import WaystationCookies

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

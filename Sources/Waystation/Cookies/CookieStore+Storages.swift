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
        let sync = state.withLock { state in
            let known = state.presentSyncs()
            if let same = known.first(where: { $0.isOf(storage) }) { return (same, known) }
            state.syncs.append(WeakSync(sync: made))
            return (made, known)
        }.0
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
}

extension CookieStore.State {
    /// The syncs, for which the caller holds a reference until it has left the lock: what a sync holds is the app's.
    ///
    /// Those whose storage is gone are returned for the last time.
    mutating func presentSyncs() -> [CookieSync] {
        let present = syncs.compactMap(\.sync)
        syncs = present.filter { !$0.isOver }.map { CookieStore.WeakSync(sync: $0) }
        return present
    }
}

/// The sync of each of Foundation's storages, in the whole process, as long as the storage and its store exist.
///
/// A storage may be that of many sessions one after another, such as the shared one. The sync therefore does not end
/// with a session: cookies that are removed in between must not come back from the storage.
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
        let gone = known.filter { $0.value.store == nil || $0.value.sync.isOver }
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

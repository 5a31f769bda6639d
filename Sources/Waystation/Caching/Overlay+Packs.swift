#if Packs
import WaystationPacks
import WaystationStorage

extension Overlay {
    static func partition(of found: PackLookUp) -> String { prefix(of: found.module) + found.folder + "/" }

    private static func prefix(of module: ModuleID) -> String { prefix + "\(module)/" }

    /// Drops the responses that are stored over a module's packs when another version becomes active.
    static func drop(after event: PackEvent, in store: ResponseStore?) {
        guard [.activated, .rolledBack, .removed].contains(event.kind), let module = event.module else { return }
        store?.invalidate(.partitions(prefix: prefix(of: module)))
    }
}
#endif

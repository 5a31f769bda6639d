import WaystationPacks
import WaystationStorage

/// The parts of a store with responses that are stored over packs: each version of a module has its own part.
enum Overlay {
    static func partition(of found: PackLookUp) -> String { prefix(of: found.module) + found.folder + "/" }

    /// The prefix of the names of all these parts.
    static let prefix = "pack/"

    /// Whether a part of the store belongs to a pack.
    static func contains(_ partition: String) -> Bool { partition.contains(prefix) }

    private static func prefix(of module: ModuleID) -> String { prefix + "\(module)/" }

    /// Drops the responses that are stored over a module's packs when another version becomes active.
    static func drop(after event: PackEvent, in store: ResponseStore?) {
        guard [.activated, .rolledBack, .removed].contains(event.kind), let module = event.module else { return }
        store?.invalidate(.partitions(prefix: prefix(of: module)))
    }
}

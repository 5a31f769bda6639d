import WaystationStorage

/// The parts of a store with responses that are stored over packs: each version of a module has its own part.
enum Overlay {
    /// The prefix of the names of all these parts.
    static let prefix = "pack/"

    /// Whether a part of the store belongs to a pack.
    static func contains(_ partition: String) -> Bool {
        // Most loads have no login and no pack, so the name is empty; a search in it takes longer than this comparison.
        !partition.isEmpty && partition.contains(prefix)
    }

    /// The part for the version of a module that is in a folder.
    static func partition(of module: String, in folder: String) -> String { prefix(of: module) + folder + "/" }

    private static func prefix(of module: String) -> String { prefix + module + "/" }

    /// Drops the responses that are stored over a module's packs.
    static func drop(_ module: String, in store: ResponseStore?) {
        store?.invalidate(.partitions(prefix: prefix(of: module)))
    }
}

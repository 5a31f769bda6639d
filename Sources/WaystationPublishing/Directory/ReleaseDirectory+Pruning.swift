import Synchronization
public import WaystationPacks

extension ReleaseDirectory {
    /// Removes old releases, and the files of those.
    ///
    /// Of each module these stay: the releases that were published last, the live one, one that is being rolled out, the
    /// one that a rollback leads to, those from which patches lead to the live one and to the one being rolled out, and
    /// all that are higher than the live one. A client that read the catalogue from before may find a file gone: its
    /// update fails, and its next poll leads it elsewhere. Where there is nothing to remove, nothing is signed anew.
    ///
    /// - Parameters:
    ///   - module: The module; all of them without one.
    ///   - count: How many of the releases that were published last stay at least; 1 or more.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: What was removed.
    /// - Throws: ``WaystationPacks/PackError``: `notInstalled` when nothing was published for the module,
    ///   `invalidArgument` for a count below 1.
    @discardableResult
    public func prune(
        _ module: ModuleID? = nil,
        keeping count: Int,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> Pruning {
        guard count >= 1 else {
            throw PackError(.invalidArgument, "\(count) releases cannot be kept: use 1 or more")
        }
        var found = try await index()
        let removed = Mutex<[Pruning.Release]>(try found.prune(module, keeping: count))
        if !removed.withLock({ $0.isEmpty }) {
            found = try await change(signedBy: keys) { index in
                // Someone else may have changed something meanwhile.
                let gone = try index.prune(module, keeping: count)
                removed.withLock { $0 = gone }
            }
        }
        // After the catalogue, which must not name what is gone; also what a kill at this place left another time.
        try await onQueue("removing old releases from \(layout.root)") { try removeUnnamed() }
        return Pruning(removed: removed.withLock { $0 }, index: found)
    }

    /// Removes the folders of versions that are not in the index.
    private func removeUnnamed() throws {
        let fileSystem = environment.fileSystem
        guard try fileSystem.status(of: layout.packs) != nil else { return }
        let lock = try fileSystem.waitForLock(layout.lock)
        try withExtendedLifetime(lock) {
            for module in try readIndex().modules {
                for name in try fileSystem.contents(of: layout.module(module.module)) {
                    // What is not named like a version is someone else's.
                    guard let version = PackVersion(name), module.release(version) == nil else { continue }
                    try fileSystem.removeTree("\(layout.module(module.module))/\(name)")
                }
            }
        }
    }
}

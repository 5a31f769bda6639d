import Synchronization
public import WaystationPacks

extension ReleaseDirectory {
    /// Removes old releases and their files.
    ///
    /// These releases of each module are kept: the ones published last, the live one, one that is being rolled out, the
    /// one that a rollback leads to, those from which patches lead to the live one and to the one being rolled out, and
    /// all that are higher than the live one. A client that has read the previous catalogue may find a file missing:
    /// its update fails, and its next poll gives it the new catalogue. If there is nothing to remove, the catalogue is
    /// not signed again.
    ///
    /// - Parameters:
    ///   - module: The module; nil means all modules.
    ///   - count: The minimum number of latest releases to keep; 1 or more.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The removed releases and the new index.
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
                // Another publisher may have changed the index meanwhile.
                let gone = try index.prune(module, keeping: count)
                removed.withLock { $0 = gone }
            }
        }
        // Done after writing the catalogue, which must not name missing files. This also deletes what an earlier kill
        // left here.
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
                    // A folder that is not named like a version does not belong to the publisher.
                    guard let version = PackVersion(name), module.release(version) == nil else { continue }
                    try fileSystem.removeTree("\(layout.module(module.module))/\(name)")
                }
            }
        }
    }
}

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
        let removed = Mutex((releases: try found.prune(module, keeping: count), paths: Set<String>()))
        if !removed.withLock({ $0.releases.isEmpty }) {
            found = try await change(signedBy: keys) { index in
                // Another publisher may have changed the index meanwhile.
                let before = index.filePaths
                let gone = try index.prune(module, keeping: count)
                removed.withLock { removed in
                    // If the reply to an earlier attempt was lost, its releases are not in this index any more.
                    let earlier = removed.releases.filter { index[$0.module]?.release($0.version) == nil }
                    removed.releases = earlier + gone.filter { !earlier.contains($0) }
                    removed.paths = removed.paths.union(before).subtracting(index.filePaths)
                }
            }
        }
        // Files are removed after the catalogue was written, which must not name missing files. The removal also
        // deletes what an earlier kill left in the directory.
        try await storage.removeUnnamed(removed: removed.withLock { $0.paths }, now: environment.now())
        return Pruning(removed: removed.withLock { $0.releases }, index: found)
    }
}

extension ReleaseIndex {
    /// The paths of all files that clients may fetch.
    var filePaths: Set<String> {
        Set(modules.flatMap(\.releases).flatMap { [$0.archive.path] + $0.patches.map(\.file.path) })
    }
}

public import Foundation
public import WaystationPacks

extension ReleaseDirectory {
    /// Publishes a pack.
    ///
    /// The pack is copied and compared with its manifest, and patches to it are made from the versions that were
    /// published last; then it becomes live. The same pack may be published again: that makes it live after a rollback,
    /// or changes the share of its rollout. A module that is switched off stays off.
    ///
    /// - Parameters:
    ///   - zip: The pack, a zip with a manifest; it is only read.
    ///   - percentage: The share of the clients that get the version, 0 to 100; 100 means all. With less, the live
    ///     version stays, and the other clients still get that. Nil, the default, keeps the share of a current rollout
    ///     of this version, and means 100 for every other version. A rollout of a higher version continues in any case.
    ///   - network: The kind of network on which clients download the module's packs, as in
    ///     ``setNetwork(_:of:signedBy:)``; nil, the default, does not change it.
    ///   - count: The number of latest versions to make patches from; 3 by default.
    ///   - isFewerAllowed: Whether a new version may have fewer than half of the files of the live one; false by
    ///     default, since that is mostly a wrong folder.
    ///   - isDryRun: Whether nothing is published, and nothing is written into the directory; false by default.
    ///     Everything is checked, and patches are made, in the system's temporary directory.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The publication, or for a dry run the one that would be made.
    /// - Throws: ``WaystationPacks/PackError``: `damaged` and `invalidManifest` for an invalid pack, `invalidArgument`
    ///   for a version that is lower than the live one, was published with other contents, has no files, or has far
    ///   fewer than the live one. Nothing is changed then.
    @discardableResult
    public func publish(
        zip: URL,
        rollout percentage: Double? = nil,
        network: NetworkCondition? = nil,
        keepingDeltas count: Int = 3,
        allowingFewerFiles isFewerAllowed: Bool = false,
        dryRun isDryRun: Bool = false,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> Publication {
        try Self.check(keys)
        guard (0...100).contains(percentage ?? 100) else {
            throw PackError(.invalidArgument, "a rollout of \(percentage ?? 100) per cent is impossible: use 0 to 100")
        }
        try network?.checkForPublishing()
        let plan = PreparationPlan(
            deltas: count,
            largestPatchShare: configuration.largestPatchShare,
            zipLimits: configuration.zipLimits,
            environment: environment
        )
        let before = try await storage.index()
        let prepared = try await storage.prepare(zip, for: before, plan, dryRun: isDryRun)
        let (module, release) = (prepared.paths.module, prepared.release)
        @Sendable func add(to index: inout ReleaseIndex) throws {
            // Since the release was prepared, another publisher may have changed the index.
            try index.check(release.archive.sha256, canBePublishedAs: release.version, of: module)
            try index.check(
                fileCount: release.fileCount,
                of: release.version,
                of: module,
                allowingFewerFiles: isFewerAllowed
            )
            index.publish(release, of: module, percentage: percentage)
            if let network { try index.setNetwork(network, of: module) }
        }
        let index =
            isDryRun
            ? try await rehearse(prepared, add)
            : try await storage.change(adding: prepared, CatalogueSigner(keys, self), add)
        return Publication(
            module: module,
            release: index[module]?.release(release.version) ?? release,
            percentage: index[module]?.percentage(of: release.version) ?? 0,
            isNew: prepared.folder != nil,
            omitted: prepared.omitted,
            index: index
        )
    }

    /// The index that a change would lead to; the prepared release is discarded.
    private func rehearse(
        _ prepared: PreparedRelease,
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex {
        let before = try await storage.index()
        return try await DiskWork.run("checking \(storage.name)") {
            // Discarded explicitly: the last reference may be released later, and on a thread that must not wait for
            // the disk.
            defer { prepared.discard() }
            var index = before
            try body(&index)
            index.serial &+= 1
            return index
        }
    }
}

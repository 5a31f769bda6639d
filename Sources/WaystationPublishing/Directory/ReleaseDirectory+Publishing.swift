public import Foundation
import WaystationFileSystem
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
        let prepared = try await onQueue("preparing \(zip.lastPathComponent)") {
            try PreparedRelease(of: zip, for: readIndex(), deltas: count, aside: isDryRun, in: self)
        }
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
            if !isDryRun, index[module]?.release(release.version) == nil { try put(prepared) }
            index.publish(release, of: module, percentage: percentage)
            if let network { try index.setNetwork(network, of: module) }
        }
        // Discarded explicitly: the last reference may be released later, and on a thread that must not wait for the
        // disk.
        let index: ReleaseIndex
        if isDryRun {
            index = try await onQueue("reading \(layout.root)") {
                defer { prepared.discard() }
                var index = try readIndex()
                try add(to: &index)
                index.serial &+= 1
                return index
            }
        } else {
            index = try await change(signedBy: keys) { index in
                defer { prepared.discard() }
                try add(to: &index)
            }
        }
        return Publication(
            module: module,
            release: index[module]?.release(release.version) ?? release,
            percentage: index[module]?.percentage(of: release.version) ?? 0,
            isNew: prepared.folder != nil,
            omitted: prepared.omitted,
            index: index
        )
    }

    /// Moves a prepared release into place; files that are already there were never published.
    private func put(_ prepared: PreparedRelease) throws {
        guard let folder = prepared.folder else {
            throw PackError(.fileSystem, "\(layout.index) was replaced while publishing; try again")
        }
        let fileSystem = environment.fileSystem
        let place = layout.release(prepared.release.version, of: prepared.paths.module)
        try fileSystem.createPublicDirectory(layout.module(prepared.paths.module))
        try fileSystem.removeTree(place)
        try fileSystem.rename(folder, to: place)
        for directory in [layout.module(prepared.paths.module), layout.packs, layout.root] {
            try fileSystem.synchronizeDirectory(directory)
        }
    }
}

/// The result of a publication.
public struct Publication: Sendable {
    /// A patch that was not made or not kept.
    public struct OmittedPatch: Sendable, Hashable {
        /// The kind of bytes that it would have been applied to.
        public var kind: PatchOffer.Kind
        /// The version that it would have been applied to.
        public var from: PackVersion
        /// The reason why it was omitted.
        public var reason: String
    }

    /// The module.
    public let module: ModuleID
    /// The release that was published.
    public let release: ReleaseIndex.Release
    /// The share of the clients that get it, 0 to 100.
    public let percentage: Double
    /// Whether the release is new.
    public let isNew: Bool
    /// The patches that were too large to be worth keeping, or could not be made.
    public let omitted: [OmittedPatch]
    /// The index afterwards, with all modules.
    public let index: ReleaseIndex

    /// The releases of the module that ``ReleaseDirectory/prune(_:keeping:signedBy:)`` would remove after this
    /// publication.
    package func pruning(keeping count: Int) throws(PackError) -> Pruning {
        var index = index
        let removed = try index.prune(module, keeping: count)
        if !removed.isEmpty { index.serial &+= 1 }
        return Pruning(removed: removed, index: index)
    }
}

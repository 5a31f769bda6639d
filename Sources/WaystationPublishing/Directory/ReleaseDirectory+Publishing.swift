public import Foundation
import WaystationFileSystem
public import WaystationPacks

extension ReleaseDirectory {
    /// Publishes a pack.
    ///
    /// The pack is copied, compared with its manifest, and patches to it are made from the versions that were published
    /// last; then it is live. The same pack may be published again: that makes it live after a rollback, or changes the
    /// share of its rollout. A module that is switched off stays so.
    ///
    /// - Parameters:
    ///   - zip: The pack, a zip with a manifest; it is left where it is.
    ///   - percentage: The share of the clients that get it, 0 to 100; 100 is all of them. With less the live version stays,
    ///     and the others go on getting that. Nil, the default, leaves a rollout of this version as it is, and is 100 for
    ///     every other version. The rollout of a higher version goes on in any case.
    ///   - network: On which network clients download the module's packs, as in ``setNetwork(_:of:signedBy:)``; nil, the
    ///     default, leaves that as it is.
    ///   - count: From how many of the versions published last there shall be patches; 3 by default.
    ///   - isFewerAllowed: Whether a new version may have fewer than half of the files of the live one; false by default,
    ///     since that is mostly a wrong folder.
    ///   - isDryRun: Whether nothing is published, and nothing written into the directory; false by default. Everything is
    ///     checked, and patches are made, in the system's temporary directory.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: What was published, or would be.
    /// - Throws: ``WaystationPacks/PackError``: `damaged` and `invalidManifest` for what is no sound pack, `invalidArgument` for a version
    ///   that is lower than the live one, that was published with other contents, that has no files, or far fewer than the
    ///   live one. Nothing is changed then.
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
            throw PackError(.invalidArgument, "a rollout of \(percentage ?? 100) per cent cannot be: use 0 to 100")
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
        // Discarded at once: the last reference may go later, and on a thread that must not wait for the disk.
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

    /// Moves a release that was prepared into its place; what is there was never published.
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

/// What a publication did.
public struct Publication: Sendable {
    /// A patch that was not kept.
    public struct OmittedPatch: Sendable, Hashable {
        /// What it would have been applied to.
        public var kind: PatchOffer.Kind
        /// The version it would have been applied to.
        public var from: PackVersion
        /// Why it is not there.
        public var reason: String
    }

    /// The module.
    public let module: ModuleID
    /// What was published.
    public let release: ReleaseIndex.Release
    /// The share of the clients that get it.
    public let percentage: Double
    /// Whether it was not there before.
    public let isNew: Bool
    /// The patches that were not worth keeping, or could not be made.
    public let omitted: [OmittedPatch]
    /// What is published now, the other modules too.
    public let index: ReleaseIndex

    /// What ``ReleaseDirectory/prune(_:keeping:signedBy:)`` would remove of the module after this publication.
    package func pruning(keeping count: Int) throws(PackError) -> Pruning {
        var index = index
        let removed = try index.prune(module, keeping: count)
        if !removed.isEmpty { index.serial &+= 1 }
        return Pruning(removed: removed, index: index)
    }
}

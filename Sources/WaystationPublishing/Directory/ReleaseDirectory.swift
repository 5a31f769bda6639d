public import Foundation
import Synchronization
public import WaystationArchive
public import WaystationPacks
import WaystationStorage

/// The published packs, in a directory that any static file server can serve, or in a bucket of an object store.
///
/// ```swift
/// let releases = ReleaseDirectory(URL(filePath: "/srv/packs"))
/// try await releases.publish(zip: pack, signedBy: [key])  // clients follow at their next poll
/// try await releases.rollBack(shop, signedBy: [key])
/// ```
///
/// ```
/// catalogue.json                                the signed `Catalogue` that clients fetch
/// packs/shop/1.5/shop-1.5.zip                   a release, never changed once it is published
/// packs/shop/1.5/patches/1.4-content.patch      a patch that leads to it
/// packs/shop/1.5/patches/1.4-zip.patch
/// releases.json                                 the publisher's own record: `ReleaseIndex`
/// staging/…                                     files that are being published
/// lock                                          locked while a change is made
/// ```
///
/// **Changes are made completely or not at all.** Files are first written to a staging directory and synchronised to
/// the disk. Then a release's folder is renamed into place, `releases.json` is replaced, and `catalogue.json` last. A
/// kill between these two leaves clients with the previous catalogue; repeating the change, or
/// ``renew(within:signedBy:)``, writes the new one.
///
/// **Concurrency.** The tool and a server may work on one directory, each with several tasks: changes wait for one
/// another. A long publication makes its patches before it takes the lock, so an urgent roll-back does not wait for it.
///
/// **In a bucket** (``S3Bucket``) there is no lock, and any number of machines may publish at once. `releases.json` is
/// replaced only if it is still the version that was read; otherwise the change is made again from the new one. The
/// files of each attempt have a folder of their own, `packs/shop/1.5/7d1c…/`. The signed catalogue is first stored
/// beside the others, in `catalogues/`, so that whichever publisher comes next can put it in place after a kill.
/// Cancelling the task may end such a change between two requests, which has the effects of a kill.
///
/// Files for clients are readable by everybody (modes 0644 and 0755), all others by the owner only. All members may be
/// called from any thread; work that computes or waits for the disk runs away from Swift's threads. In a directory,
/// cancelling the task does not interrupt a change: the call waits for its end, and returns its result.
public struct ReleaseDirectory: Sendable {
    /// The settings of a release directory.
    public struct Configuration: Sendable, Hashable {
        /// How long a catalogue is valid for clients; seven days by default.
        ///
        /// After that, clients accept only a new or renewed catalogue, so an attacker cannot keep them on an old one for
        /// longer.
        public var validity: Duration
        /// The largest size of a patch, as a share of the whole pack's; larger patches are omitted.
        ///
        /// 0.6 by default.
        public var largestPatchShare: Double
        /// The limits beyond which a pack is refused; the defaults of `ZipLimits` by default.
        ///
        /// Clients with lower limits do not install a pack that is published with higher ones.
        public var zipLimits: ZipLimits

        /// Makes a configuration.
        public init(
            validity: Duration = .seconds(7 * 86_400),
            largestPatchShare: Double = 0.6,
            zipLimits: ZipLimits = ZipLimits()
        ) {
            self.validity = validity
            self.largestPatchShare = largestPatchShare
            self.zipLimits = zipLimits
        }
    }

    /// The directory, or the address of the bucket, such as `s3://releases/shop`; a directory is created by the first
    /// publication.
    public let directory: URL
    /// The path of the directory, or the address of the bucket, for messages.
    package var name: String { storage.name }
    /// The bucket; nil for a directory of this machine.
    public let bucket: S3Bucket?
    /// The settings of the directory.
    public let configuration: Configuration

    let environment: PackEnvironment
    let storage: any ReleaseStorage

    /// Makes a release directory; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory; with any other URL, each call throws
    ///     ``WaystationPacks/PackError`` with `invalidArgument`.
    ///   - configuration: The settings.
    public init(_ directory: URL, configuration: Configuration = Configuration()) {
        self.init(directory, configuration: configuration, environment: PackEnvironment())
    }

    /// Makes a release directory in a bucket; nothing is read or written yet.
    public init(in bucket: S3Bucket, configuration: Configuration = Configuration()) {
        let environment = PackEnvironment()
        self.init(
            bucket.url,
            bucket,
            configuration,
            environment,
            BucketStorage(bucket, environment: environment)
        )
    }

    package init(_ directory: URL, configuration: Configuration = Configuration(), environment: PackEnvironment) {
        let root = directory.standardizedFileURL.path(percentEncoded: false)
        let storage = DirectoryStorage(
            environment: environment,
            layout: ReleaseLayout(root: root),
            problem: directory.fileURLProblem
        )
        self.init(directory, nil, configuration, environment, storage)
    }

    /// Makes a release directory in any bucket.
    package init(
        in bucket: any ObjectBucket,
        configuration: Configuration = Configuration(),
        environment: PackEnvironment
    ) {
        let storage = BucketStorage(bucket, environment: environment)
        self.init(bucket.url, nil, configuration, environment, storage)
    }

    private init(
        _ directory: URL,
        _ bucket: S3Bucket?,
        _ configuration: Configuration,
        _ environment: PackEnvironment,
        _ storage: any ReleaseStorage
    ) {
        self.directory = directory
        self.bucket = bucket
        self.configuration = configuration
        self.environment = environment
        self.storage = storage
    }

    /// Reads the present index; it is empty if the directory does not exist yet.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when the index cannot be read.
    public func index() async throws(PackError) -> ReleaseIndex { try await storage.index() }
}

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

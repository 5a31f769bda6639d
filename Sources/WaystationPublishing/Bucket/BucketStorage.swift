import Foundation
import Synchronization
import WaystationFileSystem
import WaystationPacks

/// A release directory in a bucket, which any number of machines may change at once.
///
/// An object is replaced only if it is still the version that was read. The order of a change: the signed catalogue is
/// stored beside the others, `releases.json` is replaced (from then on the change is made), `catalogue.json` is
/// replaced.
final class BucketStorage: ReleaseStorage {
    /// The longest time for which a publication may take, after which files that no release has are left-overs.
    static let longestAttempt = 86_400.0
    /// The number of attempts after which a change ends with an error, since others changed the index each time.
    static let attempts = 64

    let bucket: any ObjectBucket
    let environment: PackEnvironment
    /// Whether the store was seen to check conditions.
    let isChecked = Mutex(false)

    init(_ bucket: any ObjectBucket, environment: PackEnvironment) {
        self.bucket = bucket
        self.environment = environment
    }

    var name: String { bucket.url.absoluteString }

    func index() async throws(PackError) -> ReleaseIndex { try await read().index }

    func catalogue() async throws(PackError) -> Data? {
        try await bucket.read(BucketLayout.catalogue, limit: ReleaseIndex.maximumSize)?.data
    }

    /// The present index with its version; nil stands for that of a bucket where nothing was published.
    func read() async throws(PackError) -> (index: ReleaseIndex, version: String?) {
        var object = try await bucket.read(BucketLayout.index, limit: ReleaseIndex.maximumSize)
        if object == nil {
            guard try await catalogue() != nil else { return (ReleaseIndex(), nil) }
            // Another publisher may have made both meanwhile; it stores the index first.
            object = try await bucket.read(BucketLayout.index, limit: ReleaseIndex.maximumSize)
        }
        guard let object else { throw ReleaseIndex.missing(at: name, beside: BucketLayout.catalogue) }
        return (try ReleaseIndex(json: object.data, path: "\(name)/\(BucketLayout.index)"), object.version)
    }

    func prepare(
        _ zip: URL,
        for index: ReleaseIndex,
        _ plan: PreparationPlan,
        dryRun isDryRun: Bool
    ) async throws(PackError) -> PreparedRelease {
        let fileSystem = environment.fileSystem
        let staging = try await DiskWork.run("making a temporary directory") {
            let temporary = FileManager.default.temporaryDirectory.path(percentEncoded: false)
            return try StagingDirectory(in: temporary, fileSystem: fileSystem)
        }
        let manifest = try await DiskWork.run("reading \(zip.lastPathComponent)") {
            try PackContents(zip, limits: plan.zipLimits).manifest
        }
        let known = index[manifest.module]
        if known?.release(manifest.version) == nil {
            for base in (known?.releases ?? []).suffix(max(0, plan.deltas)) {
                // Without its file, there is no patch from this version; clients can fetch the whole pack.
                _ = try await bucket.download(
                    base.archive.path,
                    into: Self.base(base, in: staging),
                    limit: base.archive.size
                )
            }
        }
        var plan = plan
        // Two publishers of one version never write the same object, whichever of them is the first.
        plan.attempt = RandomName.make()
        return try await DiskWork.run("preparing \(zip.lastPathComponent)") { [plan] in
            try PreparedRelease(of: zip, for: index, plan, in: staging) {
                Self.base($0, in: staging).path(percentEncoded: false)
            }
        }
    }

    private static func base(_ release: ReleaseIndex.Release, in staging: StagingDirectory) -> URL {
        URL(filePath: staging.path).appending(path: "base-\(release.version).zip")
    }

    func removeUnnamed(removed paths: Set<String>, now: Date) async throws(PackError) {
        let (index, version) = try await read()
        let named = index.filePaths.union(index.catalogue.map { [BucketLayout.staged($0)] } ?? [])
        for prefix in [BucketLayout.packs, BucketLayout.catalogues] {
            let listing = try await bucket.list(prefix)
            // The ages of objects follow from the store's clock, which gave them their times: this machine's clock may be
            // ahead.
            let time = listing.began ?? now
            for object in listing.objects where !named.contains(object.key) {
                // A young file may belong to a publication that has not ended. Objects of other names may belong to
                // others.
                let isLeftOver =
                    BucketLayout.isMadeByPublishers(object.key)
                    && time.timeIntervalSince(object.modified) > Self.longestAttempt
                guard paths.contains(object.key) || isLeftOver else { continue }
                // Without an index, it is not known which files clients need.
                guard version != nil else { throw ReleaseIndex.missing(at: name, beside: object.key) }
                try await bucket.remove(object.key)
            }
        }
    }
}

import Foundation
import Synchronization
import WaystationPacks
import WaystationStorage

/// A release directory in a bucket, which any number of machines may change at once.
///
/// An object is replaced only if it is still the version that was read. The order of a change: the signed catalogue is
/// stored beside the others, `releases.json` is replaced (from then on the change is made), `catalogue.json` is
/// replaced.
final class BucketStorage: ReleaseStorage {
    /// The longest time for which a publication may take, after which files that no release has are left-overs.
    private static let longestAttempt = 86_400.0
    /// The number of attempts after which a change ends with an error, since others changed the index each time.
    static let attempts = 64

    let bucket: any ObjectBucket
    let environment: PackEnvironment
    /// Whether the store was seen to check conditions.
    private let isChecked = Mutex(false)

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

extension BucketStorage {
    func change(
        adding prepared: PreparedRelease?,
        _ signer: CatalogueSigner,
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex {
        let result: Result<ReleaseIndex, PackError>
        do throws(PackError) {
            result = .success(try await attempt(adding: prepared, signer, body))
        } catch {
            result = .failure(error)
        }
        if let prepared { await BlockingWork.uncancelled { prepared.discard() } }
        return try result.get()
    }

    /// Makes a change until no other publisher was in between.
    private func attempt(
        adding prepared: PreparedRelease?,
        _ signer: CatalogueSigner,
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex {
        var uploaded: [String] = []
        for _ in 0..<Self.attempts {
            let (before, version) = try await read()
            if !uploaded.isEmpty, before.filePaths.isSuperset(of: uploaded) {
                // The store has made the change of an earlier attempt, and the reply was lost; others have changed the
                // index since, and their changes stay.
                try await show()
                return before
            }
            let change: (index: ReleaseIndex, catalogue: Data, json: Data)
            do throws(PackError) {
                change = try await DiskWork.run("signing the catalogue of \(name)") { [name] in
                    var index = before
                    try body(&index)
                    let catalogue = try signer.sign(&index, at: name)
                    return (index, catalogue, try index.json())
                }
            } catch {
                // Another publisher made this change impossible, for example by a higher version.
                try? await remove(uploaded)
                throw error
            }
            let digest = PackDigest(of: change.catalogue)
            let staged = BucketLayout.staged(digest)
            _ = try await bucket.write(change.catalogue, to: staged, as: .changing, if: .absent)
            try await checkConditions(on: staged, change.catalogue)
            if let prepared, before[prepared.paths.module]?.release(prepared.release.version) == nil,
                uploaded.isEmpty
            {
                uploaded = try await upload(prepared)
            }
            guard try await replaceIndex(change.json, version) == .stored else {
                try await bucket.remove(staged)
                await pause()
                continue
            }
            if !change.index.filePaths.isSuperset(of: uploaded) {
                // Another publisher was faster with the same pack.
                try? await remove(uploaded)
            }
            try await show()
            // After an error or a kill, the staged catalogue stays until releases are pruned.
            if let old = before.catalogue, old != digest { try? await bucket.remove(BucketLayout.staged(old)) }
            return change.index
        }
        throw PackError(
            .busy,
            "other publishers changed \(name) each of \(Self.attempts) times before this change was written; nothing "
                + "was changed: try again when they have ended"
        )
    }

    /// Replaces the index if it is still this version.
    private func replaceIndex(_ json: Data, _ version: String?) async throws(PackError) -> WriteOutcome {
        let condition = version.map { WriteCondition.matches(version: $0) } ?? .absent
        let failure: PackError?
        do throws(PackError) {
            if try await bucket.write(json, to: BucketLayout.index, as: .changing, if: condition) == .stored {
                return .stored
            }
            failure = nil
        } catch {
            failure = error
        }
        // A connection may break after the store has replaced the object, and the request may have been sent twice. The
        // serial number and the digest of a signature make each index unlike every other one.
        if try await bucket.read(BucketLayout.index, limit: ReleaseIndex.maximumSize)?.data == json { return .stored }
        if let failure { throw failure }
        return .lost
    }

    /// Puts the catalogue of the present index in place, whichever publisher has signed it.
    ///
    /// The version of the present catalogue is read before the index. So if that catalogue is replaced, it is by one that
    /// is at least as new, and a slow publisher cannot put an older one in the place of a newer one.
    private func show() async throws(PackError) {
        for _ in 0..<Self.attempts {
            let present = try await bucket.read(BucketLayout.catalogue, limit: ReleaseIndex.maximumSize)
            guard let wanted = try await read().index.catalogue else { return }
            if let present, PackDigest(of: present.data) == wanted { return }
            guard
                let signed = try await bucket.read(BucketLayout.staged(wanted), limit: ReleaseIndex.maximumSize)?.data
            else {
                // The next publisher has removed it, and so has put a newer one in place.
                await pause()
                continue
            }
            let condition = present.map { WriteCondition.matches(version: $0.version) } ?? .absent
            if try await bucket.write(signed, to: BucketLayout.catalogue, as: .changing, if: condition) == .stored {
                continue
            }
            await pause()
        }
        throw PackError(
            .busy,
            "the change of \(name) is in \(BucketLayout.index), but other publishers replaced \(BucketLayout.catalogue) "
                + "again and again: `waystation renew` puts it in place"
        )
    }

    /// Stores the files of a release.
    ///
    /// - Returns: Their keys.
    private func upload(_ prepared: PreparedRelease) async throws(PackError) -> [String] {
        guard let folder = prepared.folder else {
            throw PackError(.refused, "\(name)/\(BucketLayout.index) was replaced while publishing: try again")
        }
        let release = prepared.release
        let files =
            [(release.archive.path, ObjectDelivery.zip)] + release.patches.map { ($0.file.path, ObjectDelivery.patch) }
        for (path, delivery) in files {
            let file = folder + path.dropFirst(prepared.paths.folder.count)
            let data = try await DiskWork.run("reading \(file)") {
                try Data(contentsOf: URL(filePath: file), options: .mappedIfSafe)
            }
            // No other publisher knows this key, so an object that is there is this one, sent twice.
            _ = try await bucket.write(data, to: path, as: delivery, if: .absent)
        }
        return files.map(\.0)
    }

    private func remove(_ keys: [String]) async throws(PackError) {
        for key in keys { try await bucket.remove(key) }
    }

    /// Checks that the store refuses to replace an object against a condition, before such a refusal is relied upon.
    private func checkConditions(on key: String, _ data: Data) async throws(PackError) {
        guard !isChecked.withLock({ $0 }) else { return }
        for condition in [WriteCondition.absent, .matches(version: "\"00000000000000000000000000000000\"")] {
            guard try await bucket.write(data, to: key, as: .changing, if: condition) == .lost else {
                try? await bucket.remove(key)
                throw PackError(
                    .refused,
                    "the store of \(name) ignores the condition of a write (If-None-Match, If-Match), so publishers could "
                        + "lose each other's releases; nothing was changed: use a store with conditional writes, or "
                        + "publish into a directory and copy that"
                )
            }
        }
        isChecked.withLock { $0 = true }
    }

    /// Waits for a random, short time, so that publishers do not meet again.
    private func pause() async {
        try? await Task.sleep(for: .milliseconds(Int.random(in: 5...100)))
    }
}

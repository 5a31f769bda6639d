import Foundation
import WaystationArchive
import WaystationPacks
import WaystationStorage

/// The settings for preparing a release.
struct PreparationPlan: Sendable {
    /// The number of latest versions to make patches from.
    var deltas: Int
    /// The largest size of a patch, as a share of the whole pack's.
    var largestPatchShare: Double
    /// The limits beyond which a pack is refused.
    var zipLimits: ZipLimits
    /// The folder of this attempt below that of the version, as in ``ReleasePaths/attempt``.
    var attempt: String?
    /// The file system and the clock.
    var environment: PackEnvironment
}

extension PreparationPlan {
    /// The largest size of a patch to a pack of this size; a share that is not a number keeps every patch.
    fileprivate func largestPatch(for size: Int) -> Int {
        let largest = Double(size) * largestPatchShare
        guard largest < Double(Int.max) else { return .max }
        return Int(max(0, largest))
    }
}

/// A release that is complete and synchronised to the disk, but not yet moved into place.
struct PreparedRelease: Sendable {
    let paths: ReleasePaths
    let release: ReleaseIndex.Release
    /// The folder of its files; nil when the very same pack was published before.
    let folder: String?
    let omitted: [Publication.OmittedPatch]
    /// Deleted with its content when the release has been moved into place, or is given up.
    private let staging: StagingDirectory

    /// Deletes the files that were not moved into place; happens anyway with the last reference.
    func discard() { staging.discard() }

    /// Copies a pack, verifies it, and makes the patches that lead to it.
    ///
    /// - Parameters:
    ///   - zip: The pack.
    ///   - index: The present index.
    ///   - plan: The settings.
    ///   - staging: The directory for the files.
    ///   - path: Returns the path of an earlier release's pack on this machine.
    /// - Throws: ``PackError`` when the pack is not valid or may not be published; also errors of the disk.
    init(
        of zip: URL,
        for index: ReleaseIndex,
        _ plan: PreparationPlan,
        in staging: StagingDirectory,
        baseAt path: (ReleaseIndex.Release) -> String
    ) throws {
        self.staging = staging
        let fileSystem = plan.environment.fileSystem
        let folder = staging.path + "/release"
        try fileSystem.createPublicDirectory(folder)

        // The copy is verified rather than the original, which could change after the check.
        let copy = "\(folder)/pack.zip"
        let digests = try fileSystem.copyPublic(zip, to: copy)
        let contents = try PackContents(
            URL(filePath: copy),
            named: zip.path(percentEncoded: false),
            limits: plan.zipLimits
        )
        try contents.verify()
        let manifest = contents.manifest
        paths = ReleasePaths(module: manifest.module, version: manifest.version, attempt: plan.attempt)
        try index.check(digests.sha256, canBePublishedAs: manifest.version, of: manifest.module)
        try PackManifest.checkMinimum(
            manifest.minimumPackVersion,
            of: manifest.module,
            manifest.version,
            remedy: "build it again with"
        )
        if let known = index[manifest.module]?.release(manifest.version) {
            (release, self.folder, omitted) = (known, nil, [])
            return
        }
        try fileSystem.rename(copy, to: "\(folder)/\(paths.archive)")
        let archive = ReleaseIndex.File(
            path: "\(paths.folder)/\(paths.archive)",
            size: digests.size,
            sha256: digests.sha256,
            md5: digests.md5
        )
        var maker = PatchMaker(
            paths: paths,
            archive: archive,
            manifest: contents.manifestDigest,
            folder: folder,
            largestSize: plan.largestPatch(for: digests.size),
            limits: plan.zipLimits,
            fileSystem: fileSystem
        )
        for base in (index[manifest.module]?.releases ?? []).suffix(max(0, plan.deltas)).reversed() {
            try maker.makePatches(from: base, at: path(base))
        }
        try fileSystem.synchronizeDirectory(folder)
        self.folder = folder
        omitted = maker.omitted
        release = ReleaseIndex.Release(
            version: manifest.version,
            published: Date(timeIntervalSince1970: plan.environment.now().timeIntervalSince1970.rounded(.down)),
            released: manifest.released,
            manifest: contents.manifestDigest,
            installedSize: manifest.contentSize,
            fileCount: manifest.files.count,
            baseURLs: manifest.baseURLs,
            minimumAppVersion: manifest.minimumAppVersion,
            minimumPackVersion: manifest.minimumPackVersion,
            archive: archive,
            patches: maker.patches
        )
    }
}

/// Makes the patches to one release, and keeps those that are small enough.
private struct PatchMaker {
    let paths: ReleasePaths
    let archive: ReleaseIndex.File
    let manifest: PackDigest
    let folder: String
    let largestSize: Int
    let limits: ZipLimits
    let fileSystem: any FileSystem
    private(set) var patches: [ReleaseIndex.Patch] = []
    private(set) var omitted: [Publication.OmittedPatch] = []

    mutating func makePatches(from base: ReleaseIndex.Release, at path: String) throws {
        for kind in PatchOffer.Kind.allCases {
            let data: Data
            do throws(PackError) {
                data = try PackDelta.make(
                    kind,
                    from: URL(filePath: path),
                    to: URL(filePath: "\(folder)/\(paths.archive)"),
                    limits: limits
                )
            } catch {
                // An old release that is damaged or too large must not stop the new one: clients can fetch the whole
                // pack.
                omit(kind, from: base, error.description)
                continue
            }
            guard data.count <= largestSize else {
                omit(kind, from: base, "the patch would have \(data.count) bytes; the whole pack has \(archive.size)")
                continue
            }
            let name = paths.patch(kind, from: base.version)
            try fileSystem.createPublicDirectory("\(folder)/\(paths.patches)")
            try fileSystem.createPublicFile("\(folder)/\(name)", data)
            try fileSystem.synchronizeDirectory("\(folder)/\(paths.patches)")
            patches.append(
                ReleaseIndex.Patch(
                    kind: kind,
                    from: base.version,
                    base: kind == .content ? base.manifest : base.archive.sha256,
                    result: kind == .content ? manifest : archive.sha256,
                    file: ReleaseIndex.File(
                        path: "\(paths.folder)/\(name)",
                        size: data.count,
                        sha256: PackDigest(of: data),
                        md5: PackDigest(of: data, .md5)
                    )
                )
            )
        }
    }

    private mutating func omit(_ kind: PatchOffer.Kind, from base: ReleaseIndex.Release, _ reason: String) {
        omitted.append(Publication.OmittedPatch(kind: kind, from: base.version, reason: reason))
    }
}

extension FileSystem {
    /// Copies a file with public read access, and computes its digests.
    fileprivate func copyPublic(
        _ original: URL,
        to path: String
    ) throws -> (size: Int, sha256: PackDigest, md5: PackDigest) {
        let source: FileSource
        do {
            source = try FileSource(original)
        } catch {
            throw PackError(
                .fileSystem,
                "\(original.path(percentEncoded: false)) cannot be opened: give the zip of a pack",
                cause: error
            )
        }
        try createPublicFile(path, Data())
        let file = try openFileForAppending(path)
        var digesters = (Digester(.sha256), Digester(.md5))
        var offset = 0
        while offset < source.length {
            let part = try source.read(at: offset, count: 1 << 20)
            guard !part.isEmpty else {
                throw PackError(.damaged, "\(original.lastPathComponent) became shorter while it was read: try again")
            }
            digesters.0.update(part)
            digesters.1.update(part)
            try write(part, to: file)
            offset += part.count
        }
        try synchronize(file)
        return (offset, digesters.0.digest, digesters.1.digest)
    }
}

import Foundation
import Synchronization
import WaystationFileSystem

extension PackLibrary {
    /// A staged version that is ready to be moved into place.
    struct StagedPack: Sendable {
        let staging: PackStaging
        let manifest: PackManifest
        /// The manifest's bytes, exactly as they were built or signed.
        let json: Data
        /// The zip that the version was unpacked from, if any.
        var archive: ArchiveOrigin?
    }

    /// The zip that a version was unpacked from.
    struct ArchiveOrigin: Sendable {
        var digests: [PackDigest]
        var url: URL?
        var isKept = false
    }

    /// Moves a staged version into its module's folder, and activates it if asked to.
    ///
    /// The version counts as installed from the moment when the module's record names it. If a version with the same
    /// manifest is installed already and can be opened, the staged files are not moved; the installed version only takes
    /// over the staged zip, if it has none or came from another one.
    ///
    /// - Parameters:
    ///   - staged: The complete version, synchronised to the disk.
    ///   - isActivated: Whether the version becomes the active one.
    ///   - isOnTrial: Whether the app must confirm it.
    /// - Returns: The installed version.
    /// - Throws: ``PackError`` when the disk fails; nothing is changed then, except with `notDurable`.
    func commit(
        _ staged: StagedPack,
        activating isActivated: Bool,
        onTrial isOnTrial: Bool
    ) async throws(PackError)
        -> InstalledPack
    {
        defer { staged.staging.discard() }
        let manifest = staged.manifest
        let module = manifest.module
        let digest = PackDigest(of: staged.json).hex
        let made = try await change { [self] in
            let now = environment.now()
            let copies = try readRecord(of: module).versions.filter {
                $0.manifestSHA256 == digest && $0.isDamaged != true
            }
            let damaged = try copies.filter { try isFoundDamaged($0, of: module) }.map(\.folder)
            let known = copies.last { !damaged.contains($0.folder) }
            let folder = known?.folder ?? "\(manifest.version)-\(RandomName.make().prefix(8))"
            let takeOver = known.flatMap { known in staged.archive.map { known.takeOver($0) } }
            try move(staged, takeOver, isNew: known == nil, to: folder)
            var isDone = false
            defer { if !isDone { recover(module) } }
            try environment.fileSystem.synchronizeDirectory(layout.module(module))
            // The folder of the module may be new.
            if known == nil { try environment.fileSystem.synchronizeDirectory(layout.modules) }
            let made = try updateNow(module) { record in
                for folder in damaged { record.change(folder) { $0.isDamaged = true } }
                if known == nil {
                    record.versions.append(
                        ModuleRecord.Version(staged, in: folder, digest: digest, at: now, isOnTrial: isOnTrial)
                    )
                }
                if let takeOver { record.change(folder) { $0 = takeOver.version } }
                guard isActivated, record.active != folder else { return false }
                record.activate(folder)
                // The download of the whole pack works again, so its next failure counts as the first one.
                record.failures.removeAll { $0.way == .whole }
                begin(folder, of: module, in: &record, onTrial: isOnTrial)
                _ = record.dropUnused()
                return true
            }
            isDone = true
            if takeOver?.removesFile == true {
                try? environment.fileSystem.removeFile(layout.archive(of: module, folder))
            }
            sweep(module)
            guard let version = state.withLock({ $0.records[module] })?.version(inFolder: folder) else {
                // The version's manifest or folder was damaged before it was first opened; the event has been reported.
                throw Self.missing(module, manifest.version)
            }
            let commit = Commit(pack: describe(module, version), isNew: known == nil, isNowActive: made.value)
            return Made(value: commit, doubt: made.doubt)
        }
        let commit = made.value
        if commit.isNew { tell(.installed, module, manifest.version, Self.count(manifest.files.count)) }
        if commit.isNowActive { tell(.activated, module, manifest.version) }
        if let doubt = made.doubt { throw doubt }
        return commit.pack
    }

    /// Opens an installed version, and reports its damage if it cannot be used.
    private func isFoundDamaged(_ version: ModuleRecord.Version, of module: ModuleID) throws -> Bool {
        do {
            _ = try openPack(module, version)
            return false
        } catch let error as PackError where error.isDamage {
            tell(.damaged, module, version.version, "\(error)")
            return true
        }
    }

    /// Moves the files of a new version, or the zip that an installed version takes over, into place.
    private func move(_ staged: StagedPack, _ takeOver: TakeOver?, isNew: Bool, to folder: String) throws {
        let module = staged.manifest.module
        if isNew {
            try environment.fileSystem.createDirectory(layout.module(module))
            try environment.fileSystem.rename(staged.staging.root, to: layout.version(folder, of: module))
        }
        if takeOver?.movesFile == true {
            try environment.fileSystem.rename(staged.staging.archive, to: layout.archive(of: module, folder))
            try environment.fileSystem.synchronizeDirectory(layout.version(folder, of: module))
        }
    }

    fileprivate struct TakeOver {
        /// The version with the digests and the URL of the new zip.
        var version: ModuleRecord.Version
        /// Whether the new zip becomes the kept one.
        let movesFile: Bool
        /// Whether the zip that was kept until now is to be removed.
        let removesFile: Bool
    }

    private struct Commit: Sendable {
        let pack: InstalledPack
        let isNew: Bool
        let isNowActive: Bool
    }
}

extension ModuleRecord.Version {
    /// The version that a staged pack becomes in this folder.
    fileprivate init(
        _ staged: PackLibrary.StagedPack,
        in folder: String,
        digest: String,
        at now: Date,
        isOnTrial: Bool
    ) {
        self.init(
            folder: folder,
            version: staged.manifest.version,
            manifestSHA256: digest,
            archiveDigests: staged.archive?.digests,
            archiveURL: staged.archive?.url?.ifRecordable,
            isArchiveKept: staged.archive?.isKept,
            installed: now,
            minimumPackVersion: staged.manifest.minimumPackVersion,
            wasConfirmed: !isOnTrial
        )
    }

    /// The version after the same files were installed again from a zip, which may be another one.
    ///
    /// The digests and the URL of the zip show the next check that the offer is installed already.
    fileprivate func takeOver(_ archive: PackLibrary.ArchiveOrigin) -> PackLibrary.TakeOver {
        let isSame = Set(archive.digests).isSubset(of: archiveDigests ?? [])
        var version = self
        if !isSame { version.archiveDigests = archive.digests }
        version.archiveURL = archive.url?.ifRecordable ?? archiveURL
        version.isArchiveKept = archive.isKept || (isSame && isArchiveKept == true)
        return PackLibrary.TakeOver(
            version: version,
            movesFile: archive.isKept && !(isSame && isArchiveKept == true),
            removesFile: isArchiveKept == true && version.isArchiveKept != true
        )
    }
}

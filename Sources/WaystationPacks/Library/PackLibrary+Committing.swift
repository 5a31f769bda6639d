import Foundation
import Synchronization
import WaystationFileSystem

extension PackLibrary {
    /// A staged version that is ready to take its place.
    struct StagedPack: Sendable {
        let staging: PackStaging
        let manifest: PackManifest
        /// The manifest's bytes, as they were signed or built.
        let json: Data
        /// The zip it came from, when it came from one.
        var archive: ArchiveOrigin?
    }

    /// The zip that a version came from.
    struct ArchiveOrigin: Sendable {
        var digests: [PackDigest]
        var url: URL?
        var isKept = false
    }

    /// Places a staged version among the others, and lets it answer.
    ///
    /// The record that names it is the moment from which it is installed. A version that is installed already with the
    /// same content is not placed again; it takes over the zip of the staged one where it has none.
    ///
    /// - Parameters:
    ///   - staged: The version, complete and on the medium.
    ///   - isActivated: Whether it answers from now on.
    ///   - isOnTrial: Whether the app must confirm it.
    /// - Returns: The version as it is installed.
    /// - Throws: ``PackError`` when the disk fails; what was installed before is untouched then, except with `notDurable`.
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
            let known = try readRecord(of: module).versions.last {
                $0.manifestSHA256 == digest && $0.isDamaged != true
            }
            let folder = known?.folder ?? "\(manifest.version)-\(RandomName.make().prefix(8))"
            if known == nil {
                try environment.fileSystem.createDirectory(layout.module(module))
                try environment.fileSystem.rename(staged.staging.root, to: layout.version(folder, of: module))
            }
            let newArchive = known != nil && known?.isArchiveKept != true && staged.archive?.isKept == true
            if newArchive {
                try environment.fileSystem.rename(staged.staging.archive, to: layout.archive(of: module, folder))
                try environment.fileSystem.synchronizeDirectory(layout.version(folder, of: module))
            }
            var isDone = false
            defer { if !isDone { recover(module) } }
            try environment.fileSystem.synchronizeDirectory(layout.module(module))
            let made = try updateNow(module) { record in
                if known == nil {
                    record.versions.append(
                        ModuleRecord.Version(
                            folder: folder,
                            version: manifest.version,
                            manifestSHA256: digest,
                            archiveDigests: staged.archive?.digests,
                            archiveURL: staged.archive?.url,
                            isArchiveKept: staged.archive?.isKept,
                            installed: now,
                            minimumPackVersion: manifest.minimumPackVersion,
                            wasConfirmed: !isOnTrial
                        )
                    )
                }
                if newArchive {
                    record.change(folder) { version in
                        version.archiveDigests = staged.archive?.digests
                        version.archiveURL = staged.archive?.url ?? version.archiveURL
                        version.isArchiveKept = true
                    }
                }
                guard isActivated, record.active != folder else { return false }
                record.activate(folder)
                // What the whole pack came by works again: its next failure is the first one.
                record.failures.removeAll { $0.way == .whole }
                begin(folder, of: module, in: &record, onTrial: isOnTrial)
                _ = record.dropUnused()
                return true
            }
            isDone = true
            sweep(module)
            guard let version = state.withLock({ $0.records[module] })?.version(inFolder: folder) else {
                // Its files were damaged before it was opened for the first time, which was told.
                throw Self.missing(module, manifest.version)
            }
            let commit = Commit(pack: describe(module, version), isNew: known == nil, isNowActive: made.value)
            return Made(value: commit, doubt: made.doubt)
        }
        let commit = made.value
        if commit.isNew { tell(.installed, module, manifest.version, "\(manifest.files.count) files") }
        if commit.isNowActive { tell(.activated, module, manifest.version) }
        if let doubt = made.doubt { throw doubt }
        return commit.pack
    }

    private struct Commit: Sendable {
        let pack: InstalledPack
        let isNew: Bool
        let isNowActive: Bool
    }
}

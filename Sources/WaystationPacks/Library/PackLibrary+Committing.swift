import Foundation
import Synchronization
import WaystationHTTP
import WaystationStorage

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

/// A file of an installed pack that does not match the manifest.
public struct PackDamage: Hashable, Sendable, CustomStringConvertible {
    /// The module.
    public let module: ModuleID
    /// The version.
    public let version: PackVersion
    /// The file's path in the pack.
    public let path: String
    /// The problem in words.
    public let problem: String

    /// One line for a log.
    public var description: String { "\(module) \(version): \(path.quoted()) \(problem)" }
}

extension PackLibrary {
    /// Compares every file of the active versions with its digest.
    ///
    /// Reads all files, on all cores. A damaged version is marked, so that an updater fetches it again; its undamaged
    /// files continue to answer requests. A file that the process cannot read now, because it lacks descriptors, memory
    /// or permission, does not count as damaged; the event `unreadable` reports it.
    /// - Parameter module: The module, or nil for all.
    /// - Returns: The damaged files.
    /// - Throws: ``PackError`` when the task is cancelled; a version that was not read completely is not marked then.
    public func verify(_ module: ModuleID? = nil) async throws(PackError) -> [PackDamage] {
        try await examine(module) { pack, file in
            let source = try FileSource(self.environment.fileSystem.openFile("\(pack.root.path)/\(file.path)"))
            guard source.length == file.size else { return "has \(source.length) bytes of \(file.size)" }
            return try PackDigest(of: source).hex == file.sha256 ? nil : "has other content"
        }
    }

    /// Checks that every file of the active versions exists and has the right size.
    ///
    /// Reads only the status of each file.
    func reconcile(_ module: ModuleID? = nil) async throws(PackError) -> [PackDamage] {
        try await examine(module) { pack, file in
            let status = try self.environment.fileSystem.status(of: "\(pack.root.path)/\(file.path)")
            guard let status, status.kind == .file else { return "is missing" }
            return status.size == file.size ? nil : "has \(status.size) bytes of \(file.size)"
        }
    }

    private func examine(
        _ module: ModuleID?,
        _ problem: @escaping @Sendable (ActivePack, PackedFile) throws -> String?
    ) async throws(PackError) -> [PackDamage] {
        let packs = state.withLock { state in
            state.packs.values.filter { module == nil || $0.module == module }.sorted { $0.module < $1.module }
        }
        var all: [PackDamage] = []
        for pack in packs {
            let damages = try await blocking("verifying \(pack.module)") {
                try await self.damages(of: pack, problem)
            }
            if let first = damages.first {
                await markDamaged(pack.module, pack.folder, "\(Self.count(damages.count)), the first: \(first)")
            }
            all += damages
        }
        return all
    }

    /// Finds the damaged files of a version, in the order of their paths; an event reports a file that cannot be read.
    private func damages(
        of pack: ActivePack,
        _ problem: @escaping @Sendable (ActivePack, PackedFile) throws -> String?
    ) async throws -> [PackDamage] {
        let damages = Mutex<[PackDamage]>([])
        let unreadable = Mutex<FileError?>(nil)
        try await BlockingWork.forEach(pack.manifest.files) { file in
            let found: String?
            do {
                found = try problem(pack, file)
            } catch let error as CancellationError {
                // The task was cancelled before the file was compared.
                throw error
            } catch let error as FileError where error.isCausedByProcess {
                // The file may be sound; a mark would cost a download of the whole pack.
                unreadable.withLock { $0 = error }
                return
            } catch {
                found = "cannot be read: \(error)"
            }
            guard let found else { return }
            damages.withLock {
                $0.append(
                    PackDamage(
                        module: pack.module,
                        version: pack.manifest.version,
                        path: file.path,
                        problem: found
                    )
                )
            }
        }
        if let error = unreadable.withLock({ $0 }) {
            tell(.unreadable, pack.module, pack.manifest.version, "\(error)")
        } else {
            settleUnreadable(pack.module)
        }
        return damages.withLock { $0.sorted { $0.path < $1.path } }
    }

    /// Marks a version as damaged, and reports the event, unless the version was dropped in the meantime.
    func markDamaged(_ module: ModuleID, _ folder: String, _ detail: String) async {
        var version = state.withLock { $0.records[module]?.version(inFolder: folder)?.version }
        do {
            version = try await update(module) { _, record in
                record.change(folder) { $0.isDamaged = true }
                return record.version(inFolder: folder)?.version
            }
        } catch {
            // The error is ignored: without the mark, the next use of the file finds the damage again.
        }
        if let version { tell(.damaged, module, version, detail) }
    }
}

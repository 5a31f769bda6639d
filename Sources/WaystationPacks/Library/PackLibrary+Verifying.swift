import Foundation
import Synchronization
import WaystationFields
import WaystationFileSystem

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

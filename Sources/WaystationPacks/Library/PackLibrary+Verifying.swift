import Foundation
import Synchronization
import WaystationFileSystem

/// A file of an installed pack that is not what its manifest says.
public struct PackDamage: Hashable, Sendable, CustomStringConvertible {
    /// The module.
    public let module: ModuleID
    /// The version.
    public let version: PackVersion
    /// The file's path in the pack.
    public let path: String
    /// What is wrong with it.
    public let problem: String

    /// One line for a log.
    public var description: String { "\(module) \(version): \"\(path)\" \(problem)" }
}

extension PackLibrary {
    /// Compares every file of the active versions with its digest.
    ///
    /// Reads everything, on all cores. A version with damage is marked, so that an updater fetches it anew; its sound
    /// files go on answering.
    /// - Parameter module: The module, or nil for all.
    /// - Returns: What is not as it was installed.
    /// - Throws: ``PackError`` when the task is cancelled; no version that was not read whole is marked then.
    public func verify(_ module: ModuleID? = nil) async throws(PackError) -> [PackDamage] {
        try await examine(module) { pack, file in
            let source = try FileSource(self.environment.fileSystem.openFile("\(pack.root.path)/\(file.path)"))
            guard source.length == file.size else { return "has \(source.length) bytes of \(file.size)" }
            return try PackDigest(of: source).hex == file.sha256 ? nil : "has other content"
        }
    }

    /// Compares records with the disk: whether every file of the active versions is there and has its size.
    ///
    /// Costs one look at each file's status.
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
                let damages = Mutex<[PackDamage]>([])
                try await BlockingWork.forEach(pack.manifest.files) { file in
                    let found: String?
                    do {
                        found = try problem(pack, file)
                    } catch let error as CancellationError {
                        // Nothing was found out about the file.
                        throw error
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
                return damages.withLock { $0.sorted { $0.path < $1.path } }
            }
            if let first = damages.first {
                await markDamaged(pack.module, pack.folder, "\(damages.count) files, the first: \(first)")
            }
            all += damages
        }
        return all
    }

    /// Notes that a version has a file that is not what was installed.
    func markDamaged(_ module: ModuleID, _ folder: String, _ detail: String) async {
        let version = state.withLock { $0.records[module]?.version(inFolder: folder)?.version }
        // The mark only hastens what the next use would find again.
        _ = try? await update(module) { _, record in record.change(folder) { $0.isDamaged = true } }
        tell(.damaged, module, version, detail)
    }
}

package import Foundation
import Synchronization
package import WaystationFiles
package import WaystationRules

/// What a library has for a URL.
package struct PackLookUp: Sendable {
    /// The files of the pack, pinned to their digests.
    package let directory: OfflineDirectory
    /// What the directory is to be asked for: a percent-encoded path.
    package let path: String
    /// The module.
    package let module: ModuleID
    /// The version.
    package let version: PackVersion
    /// When the version was released, where its manifest says so.
    package let released: Date?
    /// The version's folder, which is never used again for another one.
    package let folder: String
}

extension PackLibrary {
    /// Finds the file of a URL: one access of a dictionary, no disk.
    package func lookUp(_ url: CanonicalURL) -> PackLookUp? {
        guard let entry = state.withLock({ $0.index })[url] else { return nil }
        return PackLookUp(
            directory: entry.pack.directory,
            path: entry.request,
            module: entry.pack.module,
            version: entry.pack.manifest.version,
            released: entry.pack.manifest.released,
            folder: entry.pack.folder
        )
    }

    /// Says that what was found could not be served because it is not what was installed.
    ///
    /// Each file is told of once.
    package func reportDamage(_ found: PackLookUp, _ detail: String) {
        let isNew = state.withLock { $0.toldDamage.insert("\(found.module)/\(found.folder)/\(found.path)").inserted }
        guard isNew else { return }
        Task { await markDamaged(found.module, found.folder, detail) }
    }
}

package import Foundation
import Synchronization
package import WaystationFiles
package import WaystationRules

/// The result of looking up a URL in a library.
package struct PackLookUp: Sendable {
    /// The files of the pack, with their expected digests.
    package let directory: OfflineDirectory
    /// The path to request from the directory, percent-encoded.
    package let path: String
    /// Whether the URL is that of a base or a folder without its slash, and must be answered with a redirect.
    package let lacksSlash: Bool
    /// The module.
    package let module: ModuleID
    /// The version.
    package let version: PackVersion
    /// The release date of the version, if its manifest has one.
    package let released: Date?
    /// The version's folder; its name is never used again for another version.
    package let folder: String
}

extension PackLibrary {
    /// Finds the file for a URL with one dictionary access, without reading the disk.
    package func lookUp(_ url: CanonicalURL) -> PackLookUp? {
        guard let entry = state.withLock({ $0.index })[url] else { return nil }
        return PackLookUp(
            directory: entry.pack.directory,
            path: entry.request,
            lacksSlash: entry.lacksSlash,
            module: entry.pack.module,
            version: entry.pack.manifest.version,
            released: entry.pack.manifest.released,
            folder: entry.pack.folder
        )
    }

    /// Reports that a file was not served because it differs from what was installed.
    ///
    /// Each file is reported once.
    package func reportDamage(_ found: PackLookUp, _ detail: String) {
        let isNew = state.withLock { $0.toldDamage.insert("\(found.module)/\(found.folder)/\(found.path)").inserted }
        guard isNew else { return }
        Task { await markDamaged(found.module, found.folder, detail) }
    }
}

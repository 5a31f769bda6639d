package import Foundation
package import WaystationFiles
package import WaystationRules

/// The installed packs as rules see them: `PackLibrary` of the product `WaystationPacks`.
package protocol InstalledPacks: Sendable {
    /// Finds the file for a URL, without reading the disk.
    func file(for url: CanonicalURL) -> InstalledFile?
    /// The present problems, as the events that reported them.
    var problems: [any SourceEvent] { get }
    /// Adds a listener that is called for every later event until `owner` is released.
    ///
    /// It also gets the name of the module whose active version has changed with the event.
    func listen(
        for owner: any AnyObject & Sendable,
        _ listener: @escaping @Sendable (_ event: any SourceEvent, _ changed: String?) -> Void
    )
}

/// A file of an installed pack.
package struct InstalledFile: Sendable {
    /// The files of the pack, with their expected digests.
    package let directory: OfflineDirectory
    /// The path to request from the directory, percent-encoded.
    package let path: String
    /// Whether the URL is that of a base or a folder without its slash, and must be answered with a redirect.
    package let lacksSlash: Bool
    /// The name of the module.
    package let module: String
    /// The release date of the version, if its manifest has one.
    package let released: Date?
    /// The version's folder; its name is never used again for another version.
    package let folder: String
    /// Reports that the file was not served because it differs from what was installed.
    package let reportDamage: @Sendable (_ detail: String) -> Void

    package init(
        directory: OfflineDirectory,
        path: String,
        lacksSlash: Bool,
        module: String,
        released: Date?,
        folder: String,
        reportDamage: @escaping @Sendable (_ detail: String) -> Void
    ) {
        self.directory = directory
        self.path = path
        self.lacksSlash = lacksSlash
        self.module = module
        self.released = released
        self.folder = folder
        self.reportDamage = reportDamage
    }
}

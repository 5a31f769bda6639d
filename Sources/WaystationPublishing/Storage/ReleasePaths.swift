import WaystationPacks

/// The paths of a release's files: only letters, digits, `.`, `_` and `-`, so that they need no encoding in a URL.
struct ReleasePaths: Sendable {
    let module: ModuleID
    let version: PackVersion
    /// A folder below that of the version; nil where only one publisher at a time can write the files of a version.
    var attempt: String?

    /// The release's folder, relative to the release directory.
    var folder: String { "packs/\(module)/\(version)" + (attempt.map { "/" + $0 } ?? "") }
    /// The whole pack, relative to the release's folder.
    var archive: String { "\(module)-\(version).zip" }
    /// The folder of the patches, relative to the release's folder.
    var patches: String { "patches" }

    /// A patch, relative to the release's folder.
    func patch(_ kind: PatchOffer.Kind, from version: PackVersion) -> String {
        "\(patches)/\(version)-\(kind.rawValue).patch"
    }
}

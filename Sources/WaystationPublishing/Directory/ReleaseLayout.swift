import WaystationFileSystem
import WaystationPacks

/// The paths in a release directory; see ``ReleaseDirectory``.
struct ReleaseLayout: Sendable {
    let root: String

    init(root: String) { self.root = root.trimmingTrailingSlash }

    var lock: String { root + "/lock" }
    var index: String { root + "/releases.json" }
    var catalogue: String { root + "/catalogue.json" }
    var staging: String { root + "/staging" }
    var packs: String { root + "/packs" }

    func module(_ module: ModuleID) -> String { "\(packs)/\(module)" }
    func release(_ version: PackVersion, of module: ModuleID) -> String { "\(self.module(module))/\(version)" }
    func absolute(_ file: ReleaseIndex.File) -> String { "\(root)/\(file.path)" }
}

/// The paths of a release's files: only letters, digits, `.`, `_` and `-`, so that they need no encoding in a URL.
struct ReleasePaths: Sendable {
    let module: ModuleID
    let version: PackVersion

    /// The release's folder, relative to the release directory.
    var folder: String { "packs/\(module)/\(version)" }
    /// The whole pack, relative to the release's folder.
    var archive: String { "\(module)-\(version).zip" }
    /// The folder of the patches, relative to the release's folder.
    var patches: String { "patches" }

    /// A patch, relative to the release's folder.
    func patch(_ kind: PatchOffer.Kind, from version: PackVersion) -> String {
        "\(patches)/\(version)-\(kind.rawValue).patch"
    }
}

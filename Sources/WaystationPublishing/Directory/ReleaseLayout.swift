import WaystationPacks

/// Where a release directory keeps what; see ``ReleaseDirectory``.
struct ReleaseLayout: Sendable {
    let root: String

    init(root: String) {
        self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
    }

    var lock: String { root + "/lock" }
    var index: String { root + "/releases.json" }
    var catalogue: String { root + "/catalogue.json" }
    var staging: String { root + "/staging" }
    var packs: String { root + "/packs" }

    func module(_ module: ModuleID) -> String { "\(packs)/\(module)" }
    func release(_ version: PackVersion, of module: ModuleID) -> String { "\(self.module(module))/\(version)" }
    func absolute(_ file: ReleaseIndex.File) -> String { "\(root)/\(file.path)" }
}

/// The paths of a release's files: of letters, digits, `.`, `_` and `-` alone, so that they are the same in a URL.
struct ReleasePaths: Sendable {
    let module: ModuleID
    let version: PackVersion

    /// The release's folder, relative to the directory.
    var folder: String { "packs/\(module)/\(version)" }
    /// The whole pack, relative to the folder.
    var archive: String { "\(module)-\(version).zip" }
    /// Where the patches are, relative to the folder.
    var patches: String { "patches" }

    /// A patch, relative to the folder.
    func patch(_ kind: PatchOffer.Kind, from version: PackVersion) -> String {
        "\(patches)/\(version)-\(kind.rawValue).patch"
    }
}

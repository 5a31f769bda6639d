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

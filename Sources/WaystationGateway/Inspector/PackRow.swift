#if Gateway
import Foundation
import WaystationFileSystem
import WaystationPacks

/// A module and its installed packs, as the inspector lists them.
struct ModuleRow: Encodable, Sendable {
    struct Version: Encodable, Sendable {
        let version: String
        let installed: Date
        let isActive: Bool
        let isPrevious: Bool
        /// Confirmed, on trial, or bad; in words.
        let health: String
        let isDamaged: Bool
    }

    let module: String
    let isServing: Bool
    let isEnabledByApp: Bool
    let isEnabledByServer: Bool
    let minimumVersion: String?
    let versions: [Version]
    /// Whether a roll-back changes something.
    let canRollBack: Bool

    init(_ module: InstalledModule) {
        self.module = module.module.description
        isServing = module.isServing
        isEnabledByApp = module.isEnabledByApp
        isEnabledByServer = module.isEnabledByServer
        minimumVersion = module.minimumVersion?.description
        canRollBack = module.active != nil
        versions = module.versions.map { pack in
            Version(
                version: pack.version.description,
                installed: pack.installed,
                isActive: pack == module.active,
                isPrevious: pack == module.previous,
                health: Self.words(pack.health),
                isDamaged: pack.isDamaged
            )
        }
    }

    private static func words(_ health: PackHealth) -> String {
        switch health {
        case .confirmed: "confirmed"
        case .trial(let since): "on trial since \(since.formatted(.iso8601))"
        case .bad(let reason, let since): "bad since \(since.formatted(.iso8601)): \(reason)"
        }
    }
}

/// The files of an installed version.
struct PackContents: Encodable, Sendable {
    static let limit = 2_000

    struct File: Encodable, Sendable {
        let path: String
        let bytes: Int
        let type: String?
    }

    let baseURLs: [String]
    let count: Int
    /// The first files.
    let files: [File]

    /// Reads the manifest that is stored beside the files.
    init(_ pack: InstalledPack) throws {
        let file = pack.root.deletingLastPathComponent().appending(path: "manifest.json")
        let manifest = try PackManifest(json: Data(readingFile: file, limit: PackManifest.maximumSize))
        baseURLs = manifest.baseURLs
        count = manifest.files.count
        files = manifest.files.prefix(Self.limit).map { File(path: $0.path, bytes: $0.size, type: $0.mediaType) }
    }
}
#endif

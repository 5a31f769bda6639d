import Foundation
import Measuring
import Waystation
import WaystationPacks

/// The directories that all members share: files, an installed pack, and the cache.
struct Stage: Sendable {
    let directory: URL

    var files: URL { directory.appendingPathComponent("files") }
    var packs: URL { directory.appendingPathComponent("packs") }
    var cache: URL { directory.appendingPathComponent("cache") }

    /// Writes the files, and also installs them as a pack.
    func set() async throws {
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        for number in 0..<Kind.population {
            try Pattern.body(number).write(to: files.appendingPathComponent("\(number).bin"))
        }
        guard let module = ModuleID("site"), let version = PackVersion("1") else { return }
        let description = PackDescription(module: module, version: version, baseURLs: ["http://packs.test/"])
        try await PackLibrary(directory: packs).install(folder: files, as: description)
    }

    func session(origin: String) throws -> InterceptedSession {
        try .everyKind(files: files, packs: PackLibrary(directory: packs), cache: cache, origin: origin)
    }
}

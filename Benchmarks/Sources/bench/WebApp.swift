import Foundation
import Measuring
import Waystation
import WaystationPacks

/// A real web app in successive versions, as packs.
struct WebApp: Sendable {
    struct Missing: Error, CustomStringConvertible {
        let folder: String
        var description: String { "\(folder) is missing: run Scripts/fetch-web-apps.sh or `make bench`, which runs it" }
    }

    let scratch: ScratchDirectory
    let zips: [URL]

    /// Builds packs from the folders that were fetched.
    static func packs(_ names: [String]) throws -> WebApp {
        let scratch = try ScratchDirectory()
        let zips = try names.map { name in
            let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["WEB_APPS"] ?? ".build/web-apps")
                .appendingPathComponent(name)
            guard FileManager.default.fileExists(atPath: folder.path) else { throw Missing(folder: folder.path) }
            let zip = scratch.url.appendingPathComponent("\(name).zip")
            let parts = name.split(separator: "-").map(String.init)
            try PackBuilder.build(folder: folder, as: description(parts[0], parts[1]), to: zip)
            return zip
        }
        return WebApp(scratch: scratch, zips: zips)
    }

    static func description(_ module: String, _ version: String) throws -> PackDescription {
        guard let id = ModuleID(module), let number = PackVersion(version) else {
            throw Missing(folder: "\(module)-\(version)")
        }
        return PackDescription(module: id, version: number, baseURLs: ["http://packs.test/"])
    }

    /// The content patch from the first version to the second.
    func contentPatch() throws -> URL {
        let patch = scratch.url.appendingPathComponent("content.patch")
        try PackBuilder.contentPatch(from: PackContents(zips[0]), to: PackContents(zips[1])).write(to: patch)
        return patch
    }
}

extension PackLibrary {
    /// A library with a pack of one file, `http://packs.test/body.txt`.
    static func ofOneFile(in scratch: ScratchDirectory) async throws -> PackLibrary {
        let site = scratch.url.appendingPathComponent("site")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Floor.body.write(to: site.appendingPathComponent("body.txt"))
        let library = try PackLibrary(directory: scratch.url.appendingPathComponent("packs"))
        try await library.install(folder: site, as: try WebApp.description("site", "1"))
        return library
    }
}

#if Gateway
import Foundation
import Testing
import WaystationPacks

/// A library of packs in a folder of its own.
struct PackFixture: Sendable {
    let library: PackLibrary
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        library = try PackLibrary(directory: folder.url.appending(path: "packs"))
    }

    /// Installs a version of a module, which answers from then on.
    ///
    /// - Parameters:
    ///   - files: The files of the version, by path.
    ///   - version: The version.
    ///   - base: The URL of the files.
    /// - Throws: The error of writing the files, or of installing them.
    func install(_ files: [String: Data], version: String = "1.0", at base: String) async throws {
        let source = folder.url.appending(path: "source-\(version)")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        for (path, data) in files { try data.write(to: source.appending(path: path)) }
        try await library.install(
            folder: source,
            as: PackDescription(
                module: try #require(ModuleID("shop")),
                version: try #require(PackVersion(version)),
                baseURLs: [base]
            )
        )
    }
}
#endif

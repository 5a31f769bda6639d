import Foundation
import Synchronization
import Testing
import Waystation
import WaystationArchive
import WaystationHTTP
import WaystationStorage
import WaystationTesting

@testable import WaystationPacks

/// The way of an update from 1.0 to 1.1.
enum UpdateWay: String, CaseIterable, Sendable, Codable { case contentPatch, zipPatch, whole }

/// A library with version 1.0 and a server that offers 1.1, which each trial copies.
final class UpdateStage: Sendable {
    private let fixture: LibraryFixture

    init(_ way: UpdateWay) async throws {
        fixture = try LibraryFixture()
        let server = fixture.root.appending(path: "stage/server")
        try FileManager.default.createDirectory(at: server, withIntermediateDirectories: true)
        for version in ["1.0", "1.1"] as [StaticString] {
            try PackBuilder.build(
                folder: fixture.folder(Self.files("\(version)")),
                as: .shop(version),
                to: server.appending(path: "\(version).zip")
            )
        }
        let old = server.appending(path: "1.0.zip")
        let new = server.appending(path: "1.1.zip")
        switch way {
        case .contentPatch:
            try PackBuilder.contentPatch(from: PackContents(old), to: PackContents(new))
                .write(to: server.appending(path: "content.patch"))
        case .zipPatch:
            try BSDiffPatch.create(from: FileSource(old), to: FileSource(new))
                .write(to: server.appending(path: "zip.patch"))
        case .whole: break
        }
        let library = try PackLibrary(directory: fixture.root.appending(path: "stage/library"))
        let origin = PackLibrary.ArchiveOrigin(digests: [try PackDigest(ofFile: old)], isKept: true)
        let staged = try await library.stage(zip: old.path, as: nil, origin: origin) { _ in }
        _ = try await library.commit(staged, activating: true, onTrial: false)
    }

    /// The files of a version.
    static func files(_ version: String) -> [String: String] {
        [
            "index.html": "<title>\(version)</title>", "a/same.js": String(repeating: "same ", count: 3000),
            "a/b/app.js": String(repeating: "app ", count: 3000) + version,
        ]
    }

    func copy() throws -> URL {
        let trial = fixture.root.appending(path: UUID().uuidString)
        try FileManager.default.copyItem(at: fixture.root.appending(path: "stage"), to: trial)
        return trial
    }
}

extension PackLibrary {
    /// The library of a copy.
    convenience init(ofTrial trial: URL, _ fileSystem: any FileSystem = LocalFileSystem()) throws {
        var environment = PackEnvironment()
        environment.fileSystem = fileSystem
        try self.init(directory: trial.appending(path: "library"), environment: environment)
    }

    /// The version that answers; fails unless each of its files is served with exactly the published bytes.
    func servedVersion(_ what: String = "") throws -> String {
        let version = try #require(module(.shop)?.active?.version.description, "\(what)")
        for (path, text) in UpdateStage.files(version) {
            let found = try #require(
                CanonicalURL("https://shop.example/app/\(path)").flatMap(file),
                "\(path) is not found, \(what)"
            )
            try #require(found.folder.hasPrefix("\(version)-"), "\(what)")
            guard case .answer(let answer) = found.directory.answer(FileRequest(path: found.path)) else {
                throw FileError("serve", "\(path), \(what)", code: EIO)
            }
            let bytes =
                switch answer.body {
                case .empty: Data()
                case .data(let data): data
                case .slice(let slice): try slice.read(at: 0, count: slice.length)
                }
            try #require(bytes == Data(text.utf8), "\(path) of \(version), \(what)")
        }
        return version
    }
}

extension PackUpdater {
    /// An updater of the library in a copy, with the server that the stage wrote there.
    init(
        ofTrial trial: URL,
        _ fileSystem: any FileSystem = LocalFileSystem(),
        limits: ZipLimits = ZipLimits()
    ) throws {
        try self.init(ofTrial: trial, from: ScriptedServer(ofTrial: trial), fileSystem, limits: limits)
    }

    init(
        ofTrial trial: URL,
        from server: ScriptedServer,
        _ fileSystem: any FileSystem = LocalFileSystem(),
        limits: ZipLimits = ZipLimits()
    ) throws {
        var configuration = Configuration()
        configuration.zipLimits = limits
        configuration.fetcher = server
        configuration.planner.reservedSpace = 0
        configuration.retryPause = RetryPause(first: .zero)
        let app = AppIdentity(code: "shop", version: PackVersion(literal: "5"))
        let library = try PackLibrary(ofTrial: trial, fileSystem)
        self.init(library: library, source: server, app: app, configuration: configuration)
    }
}

extension ScriptedServer {
    /// The server whose files are in a copy: it offers 1.1, with the patches that exist there.
    convenience init(ofTrial trial: URL) throws {
        self.init()
        let folder = trial.appending(path: "server")
        let (old, new) = (
            try PackContents(folder.appending(path: "1.0.zip")), try PackContents(folder.appending(path: "1.1.zip"))
        )
        var offer = ModuleOffer(.shop, version: new.manifest.version)
        offer.archive = try put(Data(contentsOf: folder.appending(path: "1.1.zip")), at: "1.1.zip")
        offer.manifest = new.manifestDigest
        if let patch = try? Data(contentsOf: folder.appending(path: "content.patch")) {
            let artifact = try put(patch, at: "content.patch")
            offer.patches = [
                PatchOffer(.content, base: old.manifestDigest, result: new.manifestDigest, artifact: artifact)
            ]
        }
        if let patch = try? Data(contentsOf: folder.appending(path: "zip.patch")) {
            let base = try PackDigest(ofFile: folder.appending(path: "1.0.zip"))
            let artifact = try put(patch, at: "zip.patch")
            offer.patches = [PatchOffer(.zip, base: base, result: offer.archive?.digest, artifact: artifact)]
        }
        let offered = offer
        offers.withLock { $0 = [offered] }
    }
}

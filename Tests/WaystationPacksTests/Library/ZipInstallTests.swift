import Foundation
import Testing
import WaystationArchive
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("Installing zips")
struct ZipInstallTests {
    private let fixture: LibraryFixture
    private let files = ["index.html": "<title>one</title>", "js/a.js": "a", "js/b.js": "b"]

    init() throws { fixture = try LibraryFixture() }

    private func plainZip(_ files: [String: String]) throws -> URL {
        let zip = fixture.root.appending(path: "\(UUID().uuidString).zip")
        try ZipWriter.write(folder: fixture.folder(files), to: zip)
        return zip
    }

    @Test("a zip with a manifest describes itself")
    func manifest() async throws {
        let zip = fixture.root.appending(path: "pack.zip")
        try PackBuilder.build(folder: fixture.folder(files), as: .shop("1.2"), to: zip)
        let library = try fixture.library()
        let pack = try await library.install(zip: zip)
        #expect(pack.version == PackVersion(literal: "1.2"))
        #expect(try pack.archiveDigests == [PackDigest(ofFile: zip), PackDigest(ofFile: zip, .md5)])
        #expect(try fixture.text("https://shop.example/app/js/a.js", in: library) == "a")
        #expect(!FileManager.default.fileExists(atPath: pack.root.appending(path: PackManifest.fileName).path))
    }

    @Test("a plain zip of web files is installed with a description")
    func plain() async throws {
        let library = try fixture.library()
        try await library.install(zip: plainZip(files), as: .shop("3"))
        #expect(try fixture.text("https://shop.example/app/", in: library) == "<title>one</title>")
        #expect(try await library.verify().isEmpty)
        let zip = try plainZip(files)
        let error = await #expect(throws: PackError.self) { try await library.install(zip: zip) }
        #expect(error?.code == .invalidManifest)
    }

    @Test("progress is reported for each file")
    func progress() async throws {
        let library = try fixture.library()
        let log = ProgressLog()
        try await library.install(zip: plainZip(files), as: .shop("3")) { log.note($0) }
        #expect(Set(log.paths) == ["index.html", "js/a.js", "js/b.js"])
        #expect(log.last?.entriesDone == 3)
    }

    @Test("a damaged zip is refused with the reason and changes nothing")
    func damaged() async throws {
        let library = try fixture.library()
        try await library.install(zip: plainZip(files), as: .shop("1"))
        let zip = try plainZip(["index.html": "next"])
        var bytes = try Data(contentsOf: zip)
        bytes[40] ^= 0xFF
        try bytes.write(to: zip)
        let error = await #expect(throws: PackError.self) { try await library.install(zip: zip, as: .shop("2")) }
        #expect(error?.code == .damaged)
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "1"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.layout.staging).isEmpty)
    }

    @Test("a copy of the zip is kept, unless the app does not want one")
    func keptCopy() async throws {
        let zip = try plainZip(files)
        let library = try fixture.library()
        func archive() throws -> URL {
            let root = try #require(library.module(.shop)?.active?.root)
            return root.deletingLastPathComponent().appending(path: "archive.zip")
        }
        try await library.install(zip: zip, as: .shop("1"), keepingArchive: false)
        #expect(try !FileManager.default.fileExists(atPath: archive().path))
        // Installed again, it has its zip, and is still the same version.
        let before = library.module(.shop)?.active?.root
        let pack = try await library.install(zip: zip, as: .shop("1"))
        #expect(pack.root == before)
        #expect(try Data(contentsOf: archive()) == Data(contentsOf: zip))
        let digests = try [PackDigest(ofFile: zip), PackDigest(ofFile: zip, .md5)]
        #expect(pack.archiveDigests == digests)
        // The copy is not a hard link to the app's file, which may change.
        let handle = try FileHandle(forWritingTo: zip)
        try handle.truncate(atOffset: 3)
        try handle.close()
        #expect(try PackDigest(ofFile: archive()) == digests[0])
        #expect(try fixture.library().module(.shop)?.active?.archiveDigests == digests)
    }

    @Test(
        "a file that is not a zip, or only its beginning, is refused as damaged and not as a disk error",
        arguments: ["text", "cut", "empty"]
    )
    func unreadable(_ what: String) async throws {
        let library = try fixture.library()
        let zip = try plainZip(files)
        switch what {
        case "text": try Data("<title>Sign in to this network</title>".utf8).write(to: zip)
        case "cut": try Data(contentsOf: zip).dropLast(30).write(to: zip)
        default: try Data().write(to: zip)
        }
        let error = await #expect(throws: PackError.self) { try await library.install(zip: zip, as: .shop("1")) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains(zip.path(percentEncoded: false)) == true)
        #expect(library.modules.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.layout.staging).isEmpty)
    }

    @Test("a zip that the disk cannot read does not count as damaged")
    func unreadableDisk() async throws {
        let zip = try plainZip(files)
        let path = zip.path(percentEncoded: false)
        let failing = FaultyFileSystem { operation, file in
            if operation == .openFile, file == path { throw FileError("open", file, code: EIO) }
        }
        let library = try fixture.library(failing)
        let error = await #expect(throws: PackError.self) { try await library.install(zip: zip, as: .shop("1")) }
        #expect(error?.code == .fileSystem)
    }

    @Test("a zip without files is refused as empty, and nothing is changed")
    func empty() async throws {
        let library = try fixture.library()
        try await library.install(zip: plainZip(files), as: .shop("1"))
        let before = library.module(.shop)
        for directories in [[], ["only", "folders"]] {
            let zip = fixture.root.appending(path: "\(UUID().uuidString).zip")
            var bytes = Data()
            let writer = ZipWriter { bytes.append(contentsOf: $0) }
            for directory in directories { try writer.addDirectory(directory) }
            try writer.finish()
            try bytes.write(to: zip)
            let error = await #expect(throws: PackError.self) { try await library.install(zip: zip, as: .shop("2")) }
            #expect(error?.code == .damaged)
            #expect(error?.description.contains("\(zip.path) is empty") == true)
        }
        #expect(library.module(.shop) == before)
    }

    @Test("a zip or a folder with a manifest alone is refused as empty, and so is a folder without files")
    func emptyPacks() async throws {
        let library = try fixture.library()
        let manifest = try PackDescription.shop("1").manifest(of: []).json()
        let zip = fixture.root.appending(path: "bare.zip")
        var bytes = Data()
        let writer = ZipWriter { bytes.append(contentsOf: $0) }
        try writer.add(PackManifest.fileName, from: manifest)
        try writer.finish()
        try bytes.write(to: zip)
        let zipError = await #expect(throws: PackError.self) { try await library.install(zip: zip) }
        #expect(zipError?.description.contains("\(zip.path) is empty") == true)
        let folder = try fixture.folder([PackManifest.fileName: String(decoding: manifest, as: UTF8.self)])
        let bare = await #expect(throws: PackError.self) { try await library.install(folder: folder) }
        #expect(bare?.code == .damaged)
        #expect(bare?.description.contains("is empty, it has no files") == true)
        let none = fixture.root.appending(path: "none/within")
        try FileManager.default.createDirectory(at: none, withIntermediateDirectories: true)
        let error = await #expect(throws: PackError.self) {
            try await library.install(folder: none.deletingLastPathComponent(), as: .shop("1"))
        }
        #expect(error?.code == .damaged)
        #expect(library.modules.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.layout.staging).isEmpty)
    }

    @Test("the caller's limits decide which zip is too large")
    func limits() async throws {
        let deep = fixture.root.appending(path: "deep.zip")
        var limits = ZipLimits()
        limits.maximumDepth = 40
        let path = String(repeating: "d/", count: 39) + "page.html"
        try ZipWriter.write(
            folder: fixture.folder([path: "deep"]).path,
            to: deep.path,
            limits: limits,
            using: LocalFileSystem()
        )
        let library = try fixture.library()
        let refused = await #expect(throws: PackError.self) { try await library.install(zip: deep, as: .shop("1")) }
        #expect(refused?.description.contains("raise `maximumDepth`") == true)
        try await library.install(zip: deep, as: .shop("1"), limits: limits)
        #expect(try fixture.text("https://shop.example/app/\(path)", in: library) == "deep")
        limits.maximumEntries = 2
        let few = await #expect(throws: PackError.self) {
            try await library.install(zip: plainZip(files), as: .shop("2"), limits: limits)
        }
        #expect(few?.description.contains("maximumEntries") == true)
    }

    @Test(
        "an updater's limits decide which zip is too large, also for one that a patch makes",
        arguments: [UpdateWay.whole, .zipPatch]
    )
    func updaterLimits(way: UpdateWay) async throws {
        let stage = try await UpdateStage(way)
        defer { withExtendedLifetime(stage) {} }
        let trial = try stage.copy()
        func kind(_ change: (inout ZipLimits) -> Void) async throws -> ModuleOutcome.Kind? {
            var limits = ZipLimits()
            change(&limits)
            let updater = try PackUpdater(ofTrial: trial, limits: limits)
            return try await updater.check(isForced: true).outcomes.first?.kind
        }
        guard case .failed(let error) = try await kind({ $0.maximumTotalSize = 100 }) else {
            Issue.record("installed")
            return
        }
        #expect(error.code == .damaged)
        guard case .updated = try await kind({ _ in }) else {
            Issue.record("not installed")
            return
        }
    }

    @Test("a zip patch makes the new zip from the one that was kept")
    func zipPatch() async throws {
        let (old, new) = (try plainZip(files), try plainZip(files.merging(["index.html": "<title>two</title>"]) { $1 }))
        let patch = fixture.root.appending(path: "zip.patch")
        try BSDiffPatch.create(from: FileSource(old), to: FileSource(new)).write(to: patch)
        let library = try fixture.library()
        let origin = PackLibrary.ArchiveOrigin(digests: [try PackDigest(ofFile: old)], isKept: true)
        let staged = try await library.stage(zip: old.path, as: .shop("1"), origin: origin) { _ in }
        _ = try await library.commit(staged, activating: true, onTrial: false)
        let next = try await library.stage(
            zipPatch: patch.path,
            for: .shop,
            from: LocalPack(PackVersion(literal: "1")),
            expecting: PackDigest(ofFile: new, .md5),
            as: .shop("2"),
            url: nil
        ) { _ in }
        _ = try await library.commit(next, activating: true, onTrial: false)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "<title>two</title>")
        #expect(library.module(.shop)?.active?.archiveDigests.contains(try PackDigest(ofFile: new)) == true)
        let error = await #expect(throws: PackError.self) {
            _ = try await library.stage(
                zipPatch: patch.path,
                for: .shop,
                from: LocalPack(PackVersion(literal: "2")),
                expecting: PackDigest(ofFile: new),
                as: .shop("3"),
                url: nil
            ) { _ in }
        }
        #expect(error?.code == .damaged)
    }

    @Test("a manifest that is larger than the limit is refused before it is unpacked, also outside the library")
    func longManifest() async throws {
        let zip = fixture.root.appending(path: "pack.zip")
        try PackBuilder.build(folder: fixture.folder(files), as: .shop("1.2"), to: zip)
        let folder = try fixture.folder(files)
        var json = try PackContents(zip).json
        json.append(Data(repeating: UInt8(ascii: " "), count: PackManifest.maximumSize))
        try json.write(to: folder.appending(path: PackManifest.fileName))
        let long = fixture.root.appending(path: "long.zip")
        try ZipWriter.write(folder: folder, to: long, compression: .stored)
        let error = #expect(throws: PackError.self) { try PackContents(long) }
        #expect(error?.code == .invalidManifest)
        let library = try fixture.library()
        #expect(await errorCode { try await library.install(zip: long) } == .invalidManifest)
    }
}

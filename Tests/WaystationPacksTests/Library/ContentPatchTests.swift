import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("A content patch")
struct ContentPatchTests {
    private let fixture: LibraryFixture
    private let oldFiles = [
        "index.html": "<title>one</title>", "same.js": String(repeating: "same ", count: 5000),
        "big.css": String(repeating: "a { color: red } ", count: 4000), "gone.txt": "gone", "empty": "",
    ]
    private let newFiles = [
        "index.html": "<title>two</title>", "moved/same.js": String(repeating: "same ", count: 5000),
        "big.css": String(repeating: "a { color: red } ", count: 4000) + "b {}", "copy.css": "new", "copy2.css": "new",
        "nothing": "", "sub/dir/deep.txt": "deep",
    ]

    init() throws { fixture = try LibraryFixture() }

    private func pack(_ files: [String: String], _ version: StaticString) throws -> URL {
        let zip = fixture.root.appending(path: "\(version)-\(UUID().uuidString).zip")
        try PackBuilder.build(folder: fixture.folder(files), as: .shop(version), to: zip)
        return zip
    }

    private func patch(_ old: URL, _ new: URL) throws -> URL {
        let file = fixture.root.appending(path: "\(UUID().uuidString).patch")
        try PackBuilder.contentPatch(from: PackContents(old), to: PackContents(new)).write(to: file)
        return file
    }

    private func apply(_ patch: URL, in library: PackLibrary) async throws {
        let staged = try await library.stage(contentPatch: patch.path, for: .shop)
        _ = try await library.commit(staged, activating: true, onTrial: false)
    }

    @Test("makes the new pack from the installed one, file by file, and is small")
    func round() async throws {
        let (old, new) = (try pack(oldFiles, "1.0"), try pack(newFiles, "1.1"))
        let patch = try patch(old, new)
        let library = try fixture.library()
        try await library.install(zip: old)
        try await apply(patch, in: library)
        let root = try #require(library.module(.shop)?.active?.root)
        for (path, text) in newFiles {
            #expect(try String(contentsOf: root.appending(path: path), encoding: .utf8) == text, "\(path)")
        }
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted() == [
                "big.css", "copy.css", "copy2.css", "index.html", "moved", "moved/same.js", "nothing", "sub", "sub/dir",
                "sub/dir/deep.txt",
            ]
        )
        #expect(try await library.verify().isEmpty)
        #expect(try Data(contentsOf: patch).count < 1500)
        #expect(library.module(.shop)?.previous?.version == PackVersion(literal: "1.0"))
    }

    @Test("shares equal files with the installed pack on the disk")
    func links() async throws {
        let (old, new) = (try pack(oldFiles, "1.0"), try pack(newFiles, "1.1"))
        let library = try fixture.library()
        let before = try await library.install(zip: old).root
        try await apply(patch(old, new), in: library)
        let after = try #require(library.module(.shop)?.active?.root)
        let fileSystem = LocalFileSystem()
        #expect(
            try fileSystem.identity(of: before.appending(path: "same.js").path)
                == fileSystem.identity(of: after.appending(path: "moved/same.js").path)
        )
    }

    @Test("is refused for another base, and nothing changes")
    func wrongBase() async throws {
        let (old, new) = (try pack(oldFiles, "1.0"), try pack(newFiles, "1.1"))
        let library = try fixture.library()
        try await library.install(zip: pack(["index.html": "other"], "1.0"))
        let patch = try patch(old, new)
        let error = await #expect(throws: PackError.self) { try await apply(patch, in: library) }
        #expect(error?.code == .notInstalled)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "other")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.layout.staging).isEmpty)
    }

    @Test("is refused if an installed file that it keeps or builds on is damaged", arguments: ["same.js", "big.css"])
    func damagedBase(_ path: String) async throws {
        let (old, new) = (try pack(oldFiles, "1.0"), try pack(newFiles, "1.1"))
        let library = try fixture.library()
        let file = try await library.install(zip: old).root.appending(path: path)
        var bytes = try Data(contentsOf: file)
        bytes[100] ^= 1
        try bytes.write(to: file)
        let patch = try patch(old, new)
        let error = await #expect(throws: PackError.self) { try await apply(patch, in: library) }
        #expect(error?.code == .damaged)
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "1.0"))
    }

    @Test("with any byte changed is refused or leads to the same pack", arguments: 0..<8)
    func damaged(_ part: Int) async throws {
        let (old, new) = (try pack(oldFiles, "1.0"), try pack(newFiles, "1.1"))
        let library = try fixture.library()
        try await library.install(zip: old)
        let whole = try Data(contentsOf: patch(old, new))
        let file = fixture.root.appending(path: "damaged.patch")
        for index in stride(from: part, to: whole.count, by: 8) {
            var bytes = whole
            bytes[index] ^= UInt8(1 << (index % 8))
            try bytes.write(to: file)
            do {
                let staged = try await library.stage(contentPatch: file.path, for: .shop)
                #expect(staged.manifest == (try PackContents(new).manifest), "byte \(index)")
            } catch let error {
                #expect([.damaged, .notInstalled, .tooLarge].contains(error.code), "byte \(index): \(error)")
            }
        }
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "1.0"))
    }

    @Test("is the same each time it is made")
    func reproducible() throws {
        let (old, new) = (try pack(oldFiles, "1.0"), try pack(newFiles, "1.1"))
        #expect(try Data(contentsOf: patch(old, new)) == Data(contentsOf: patch(old, new)))
        #expect(try Data(contentsOf: old) == Data(contentsOf: pack(oldFiles, "1.0")))
    }
}

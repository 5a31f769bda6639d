import Foundation
import Testing
import WaystationStorage
import WaystationTesting

@testable import WaystationPacks

@Suite("A library's directory that others have changed")
struct HostileDirectoryTests {
    private let fixture: LibraryFixture
    /// A folder outside the library.
    private let victim: URL

    init() throws {
        fixture = try LibraryFixture()
        victim = try fixture.folder(["letter.txt": "a", "1.0-0123abcd/photo.jpg": "b", "lock": ""], named: "victim")
    }

    private var root: String { fixture.layout.root }
    private var remains: [String] {
        FileManager.default.subpaths(atPath: victim.path)?.sorted() ?? []
    }

    private func plant(linkAt name: String) throws {
        let path = "\(root)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim.path)
    }

    @Test(
        "with a link in place of a directory is refused, and the link's target stays unchanged",
        arguments: ["modules/shop", "modules", "staging", "downloads"]
    )
    func links(name: String) throws {
        let before = remains
        try plant(linkAt: name)
        let error = #expect(throws: PackError.self) { try fixture.library() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("symbolic link"))
        #expect(remains == before)
        #expect(before.count == 4)
    }

    @Test("with a link among the staging directories or versions works, and the link's target stays unchanged")
    func leftOvers() async throws {
        _ = try fixture.library()
        try FileManager.default.createDirectory(atPath: "\(root)/modules/shop", withIntermediateDirectories: true)
        for name in ["staging/\(RandomName.make())", "modules/shop/1.0-0123abcd"] { try plant(linkAt: name) }
        let before = remains
        _ = try fixture.library()
        #expect(remains == before)
        #expect(!FileManager.default.fileExists(atPath: "\(root)/modules/shop/1.0-0123abcd"))
    }

    @Test("that is not a file URL is refused, and nothing is made at its path")
    func remote() throws {
        let url = try #require(URL(string: "https://packs.example\(root)"))
        let error = #expect(throws: PackError.self) { try PackLibrary(directory: url) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("https://packs.example") == true)
        #expect(!FileManager.default.fileExists(atPath: root))
    }

    @Test("that all other users may write to is refused")
    func writableByOthers() throws {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try #require(chmod(root, 0o777) == 0)
        let error = #expect(throws: PackError.self) { try fixture.library() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("other users may write to this directory"))
    }

    @Test("that belongs to another user, or has another user's directories, is refused", .enabled(if: geteuid() == 0))
    func foreignOwner() throws {
        for name in ["modules/shop", "modules", ""] {
            let path = name.isEmpty ? root : "\(root)/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try #require(chown(path, 65_534, 65_534) == 0)
            let error = #expect(throws: PackError.self) { try fixture.library() }
            #expect("\(error.map { "\($0)" } ?? "")".contains("belongs to user 65534"), "\(name)")
        }
    }

    @Test("keeps every file whose name does not follow the library's pattern")
    func foreignNames() throws {
        _ = try fixture.library()
        let foreign = ["modules/shop/notes.txt", "modules/shop/draft/a", "staging/notes/a"]
        let own = "modules/shop/1.0-0123abcd/files/a"
        for name in foreign + [own] {
            let file = fixture.directory.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("x".utf8).write(to: file)
        }
        _ = try fixture.library()
        for name in foreign { #expect(FileManager.default.fileExists(atPath: "\(root)/\(name)"), "\(name)") }
        #expect(!FileManager.default.fileExists(atPath: "\(root)/modules/shop/1.0-0123abcd"))
    }

    @Test("for downloads follows no link in its place, and keeps what others put into it")
    func downloads() async throws {
        let before = remains
        let link = fixture.root.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: victim)
        let linked = ArtifactDownloader(directory: link)
        await #expect(throws: PackError.self) { try await linked.discardAll(except: []) }
        let artifact = Artifact(url: try #require(URL(string: "http://127.0.0.1:9/a.zip")))
        await #expect(throws: PackError.self) { try await linked.download(artifact) }
        #expect(remains == before)
        let real = try fixture.folder(
            ["letter.txt": "a", String(repeating: "0", count: 64) + ".part": "b"],
            named: "downloads"
        )
        try await ArtifactDownloader(directory: real).discardAll(except: [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: real.path) == ["letter.txt"])
    }
}

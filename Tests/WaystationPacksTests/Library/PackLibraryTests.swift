import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("A pack library")
struct PackLibraryTests {
    private let fixture: LibraryFixture
    private let one = PackVersion(literal: "1.9")
    private let two = PackVersion(literal: "1.10")

    init() throws { fixture = try LibraryFixture() }

    private func installTwo() async throws -> PackLibrary {
        let library = try fixture.library()
        try await library.install(folder: fixture.folder(["index.html": "one", "old.js": "o"]), as: .shop("1.9"))
        try await library.install(folder: fixture.folder(["index.html": "two", "a/b c.js": "n"]), as: .shop("1.10"))
        return library
    }

    @Test("answers with the version that was installed last, and keeps the previous one")
    func activation() async throws {
        let library = try await installTwo()
        #expect(try fixture.text("https://shop.example/app/index.html", in: library) == "two")
        #expect(library.module(.shop)?.active?.version == two)
        #expect(library.module(.shop)?.previous?.version == one)
        #expect(fixture.events == ["installed 1.9", "activated 1.9", "installed 1.10", "activated 1.10"])
    }

    @Test(
        "finds a file by each spelling of its URL and by no other URL",
        arguments: [
            ("https://shop.example/app/", true), ("HTTPS://SHOP.example:443/app/./index.html?x=1#top", true),
            ("https://shop.example/app/a/b%20c.js", true), ("https://shop.example/app", true),
            ("https://shop.example/ap", false), ("https://shop.example/app/a", false),
            ("https://shop.example/app/old.js", false), ("https://shop.example/app/A/b%20c.js", false),
            ("https://shop.example/app/a%2Fb%20c.js", false), ("http://shop.example/app/index.html", false),
            ("https://shop.example/app/waystation-pack.json", false), ("https://me@shop.example/app/index.html", false),
        ]
    )
    func spellings(_ url: String, _ isHeld: Bool) async throws {
        let library = try await installTwo()
        #expect(library.canServeOffline(try #require(URL(string: url))) == isHeld)
        #expect((library.fileURL(for: try #require(URL(string: url))) != nil) == isHeld)
    }

    @Test(
        "finds a file whose name has characters that some clients escape and browsers do not",
        arguments: ["@scope/a+b,(c)=d.js", "%40scope/a%2Bb%2c%28c%29%3Dd.js", "@scope/a%2bb,(c)=d.js?v=1%40"]
    )
    func unescaped(_ path: String) async throws {
        let library = try fixture.library()
        let folder = try fixture.folder(["@scope/a+b,(c)=d.js": "scoped", "%40scope/other.js": "escaped name"])
        try await library.install(folder: folder, as: .shop("1.0"))
        #expect(try fixture.text("https://shop.example/app/\(path)", in: library) == "scoped")
        #expect(try fixture.text("https://shop.example/app/%2540scope/other.js", in: library) == "escaped name")
        let other = try #require(URL(string: "https://shop.example/app/%40scope/other.js"))
        #expect(!library.canServeOffline(other))
    }

    @Test("returns the file and the folder that may be read with it")
    func localFile() async throws {
        let library = try await installTwo()
        let url = try #require(URL(string: "https://shop.example/app/a/b%20c.js"))
        let local = try #require(library.fileURL(for: url))
        #expect(local.file.path == local.root.path + "/a/b c.js")
        #expect(local.version == two)
        #expect(FileManager.default.fileExists(atPath: local.root.path + "/index.html"))
    }

    @Test("finds the installed versions after another start")
    func reopening() async throws {
        _ = try await installTwo()
        let library = try fixture.library()
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
        #expect(library.module(.shop)?.previous?.version == one)
    }

    @Test("goes back to the previous version, with the reason, and forward again on request")
    func rollBack() async throws {
        let library = try await installTwo()
        try await library.rollBack(.shop, reason: "white page")
        #expect(try fixture.text("https://shop.example/app/", in: library) == "one")
        let bad = try #require(library.module(.shop)?.versions.first)
        guard case .bad("white page", _) = bad.health else { throw Unexpected("\(bad.health)") }
        try await library.activate(.shop, version: two)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
        #expect(library.module(.shop)?.active?.health == .confirmed)
        #expect(library.module(.shop)?.previous?.version == one)
    }

    @Test("answers nothing after the last version was rolled back")
    func rollBackToNothing() async throws {
        let library = try fixture.library()
        try await library.install(folder: fixture.folder(["index.html": "one"]), as: .shop("1"))
        try await library.rollBack(.shop, reason: "bad")
        #expect(!library.canServeOffline(try #require(URL(string: "https://shop.example/app/"))))
        await #expect(throws: PackError.self) { try await library.rollBack(.shop, reason: "again") }
    }

    @Test("removes versions that are neither active nor the previous one")
    func collection() async throws {
        let library = try await installTwo()
        try await library.install(folder: fixture.folder(["index.html": "three"]), as: .shop("2"))
        #expect(library.module(.shop)?.versions.map(\.version.description) == ["2", "1.10"])
        let folders = try FileManager.default.contentsOfDirectory(atPath: fixture.layout.module(.shop))
        #expect(folders.filter { $0 != "module.json" }.count == 2)
    }

    @Test("answers nothing for a module that is switched off, even after another start")
    func disabling() async throws {
        let library = try await installTwo()
        let url = try #require(URL(string: "https://shop.example/app/"))
        try await library.setEnabled(false, .shop)
        #expect(!library.canServeOffline(url))
        #expect(try !fixture.library().canServeOffline(url))
        try await library.setEnabled(true, .shop)
        #expect(library.canServeOffline(url))
    }

    @Test("answers nothing with a version below the minimum")
    func minimumVersion() async throws {
        let library = try await installTwo()
        let url = try #require(URL(string: "https://shop.example/app/"))
        var offer = ModuleOffer(.shop)
        offer.minimumVersion = PackVersion(literal: "1.11")
        try await library.take(offer)
        #expect(!library.canServeOffline(url))
        offer.minimumVersion = two
        try await library.take(offer)
        #expect(library.canServeOffline(url))
    }

    @Test("answers only the URLs of a server's whitelist, if there is one")
    func whitelist() async throws {
        let library = try await installTwo()
        var offer = ModuleOffer(.shop)
        offer.whitelist = ["https://shop.example/app/a/**", "not a URL"]
        try await library.take(offer)
        #expect(!library.canServeOffline(try #require(URL(string: "https://shop.example/app/index.html"))))
        #expect(library.canServeOffline(try #require(URL(string: "https://shop.example/app/a/b%20c.js"))))
        offer.whitelist = nil
        try await library.take(offer)
        #expect(library.canServeOffline(try #require(URL(string: "https://shop.example/app/index.html"))))
    }

    @Test("removes a module with all its files")
    func removal() async throws {
        let library = try await installTwo()
        try await library.remove(.shop)
        #expect(library.module(.shop) == nil)
        #expect(!FileManager.default.fileExists(atPath: fixture.layout.module(.shop)))
        #expect(try fixture.library().modules.isEmpty)
    }

    @Test("does not install an installed version again")
    func sameAgain() async throws {
        let library = try fixture.library()
        let folder = try fixture.folder(["index.html": "one"])
        let first = try await library.install(folder: folder, as: .shop("1"))
        let second = try await library.install(folder: folder, as: .shop("1"))
        #expect(first == second)
        #expect(library.module(.shop)?.versions.count == 1)
    }

    @Test(
        "refuses files that its manifest does not describe, and keeps its versions",
        arguments: [
            ["index.html": "other"], ["index.html": "page", "extra.js": "x"], [:],
        ]
    )
    func refusal(_ files: [String: String]) async throws {
        let library = try await installTwo()
        let manifest = try PackDescription.shop("3").manifest(of: [
            PackedFile(path: "index.html", size: 4, sha256: PackDigest(of: Data("page".utf8)).hex)
        ])
        var files = files
        files[PackManifest.fileName] = String(decoding: try manifest.json(), as: UTF8.self)
        let folder = try fixture.folder(files)
        let error = await #expect(throws: PackError.self) { try await library.install(folder: folder) }
        #expect(error?.code == .damaged)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.layout.staging).isEmpty)
    }

    @Test("refuses a folder without a manifest or description")
    func undescribed() async throws {
        let library = try fixture.library()
        let folder = try fixture.folder(["index.html": "page"])
        let error = await #expect(throws: PackError.self) { try await library.install(folder: folder) }
        #expect(error?.message.contains("PackDescription") == true)
    }

    @Test("refuses links in a folder")
    func links() async throws {
        let library = try fixture.library()
        let folder = try fixture.folder(["index.html": "page"])
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link",
            withDestinationPath: "/etc/hostname"
        )
        let error = await #expect(throws: PackError.self) { try await library.install(folder: folder, as: .shop("1")) }
        #expect(error?.message.contains("/link") == true)
    }

    // MARK: - Damage

    @Test("falls back to the previous version if the manifest of the active one is damaged")
    func damagedManifest() async throws {
        let installed = try await installTwo()
        let folder = try #require(installed.module(.shop)?.active?.root.deletingLastPathComponent())
        try Data("{}".utf8).write(to: folder.appending(path: "manifest.json"))
        let library = try fixture.library()
        #expect(try fixture.text("https://shop.example/app/", in: library) == "one")
        #expect(fixture.events.last == "damaged 1.10")
        #expect(library.module(.shop)?.versions.map(\.version) == [one])
    }

    @Test("keeps every version if the disk fails once while it is read")
    func unreadable() async throws {
        _ = try await installTwo()
        let fault = Switch()
        let failing = FaultyFileSystem { operation, path in
            if operation == .openFile, path.hasSuffix("/manifest.json"), fault.isOn {
                throw FileError("open", path, code: EIO)
            }
        }
        let library = try fixture.library(failing)
        #expect(!library.canServeOffline(try #require(URL(string: "https://shop.example/app/"))))
        #expect(fixture.events.last == "unreadable 1.10")
        fault.isOn = false
        try await library.refresh()
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
        #expect(library.module(.shop)?.versions.count == 2)
    }

    @Test("drops a version whose files are missing, and goes back")
    func lostFiles() async throws {
        let installed = try await installTwo()
        let root = try #require(installed.module(.shop)?.active?.root)
        try FileManager.default.removeItem(at: root)
        #expect(try fixture.text("https://shop.example/app/", in: fixture.library()) == "one")
    }

    @Test("refuses a manifest with more base URLs than an index can hold")
    func manyBases() throws {
        let bases = (0..<33).map { "https://shop.example/\($0)/" }
        #expect(throws: PackError.self) {
            try PackManifest(module: .shop, version: one, baseURLs: bases, files: [])
        }
        #expect(throws: Never.self) {
            try PackManifest(module: .shop, version: one, baseURLs: Array(bases.prefix(32)), files: [])
        }
    }

    @Test("drops a module that another process has removed")
    func removedElsewhere() async throws {
        let library = try await installTwo()
        try await fixture.library().remove(.shop)
        try await library.refresh()
        #expect(library.module(.shop) == nil)
        #expect(!library.canServeOffline(try #require(URL(string: "https://shop.example/app/"))))
    }

    @Test(
        "rebuilds its record from the versions that it finds if the record is damaged",
        arguments: ["not JSON", String(repeating: " ", count: 4 << 20) + "{}"]
    )
    func damagedRecord(_ text: String) async throws {
        _ = try await installTwo()
        try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.layout.record(of: .shop)))
        let library = try fixture.library()
        #expect(library.module(.shop)?.active?.version == two)
        #expect(library.module(.shop)?.previous?.version == one)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
    }

    @Test("leaves a record of a later format unchanged and reports it")
    func laterRecord() async throws {
        _ = try await installTwo()
        let record = URL(fileURLWithPath: fixture.layout.record(of: .shop))
        let text = try String(contentsOf: record, encoding: .utf8)
        let later = text.replacing("\"formatVersion\":1", with: "\"formatVersion\":2")
        try Data(later.utf8).write(to: record)
        let error = #expect(throws: PackError.self) { try fixture.library() }
        #expect(error?.code == .unsupportedVersion)
        #expect(try String(contentsOf: record, encoding: .utf8) == later)
    }

    @Test("finds damage by comparing every byte, and missing or cut files by a quick check")
    func verification() async throws {
        let library = try await installTwo()
        #expect(try await library.verify().isEmpty)
        let root = try #require(library.module(.shop)?.active?.root)
        try Data("TWO".utf8).write(to: root.appending(path: "index.html"))
        #expect(try await library.reconcile().isEmpty)
        #expect(try await library.verify().map(\.path) == ["index.html"])
        #expect(library.module(.shop)?.active?.isDamaged == true)
        try FileManager.default.removeItem(at: root.appending(path: "a/b c.js"))
        #expect(try await library.reconcile().map(\.problem) == ["is missing"])
    }

    @Test("installs a damaged version again next to its damaged copy")
    func repair() async throws {
        let library = try await installTwo()
        let root = try #require(library.module(.shop)?.active?.root)
        try Data("TWO".utf8).write(to: root.appending(path: "index.html"))
        _ = try await library.verify()
        try await library.install(folder: fixture.folder(["index.html": "two", "a/b c.js": "n"]), as: .shop("1.10"))
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
        #expect(library.module(.shop)?.active?.isDamaged == false)
        #expect(library.module(.shop)?.previous?.version == one)
    }

    // MARK: - Several processes

    @Test("installs a version anew whose installed copy was damaged on the disk", arguments: [true, false])
    func damagedCopy(isOlder: Bool) async throws {
        let library = try await installTwo()
        let module = try #require(library.module(.shop))
        let copy = try #require(isOlder ? module.previous : module.active)
        let files = fixture.root.appending(path: "files")
        try FileManager.default.copyItem(at: copy.root, to: files)
        try Data("{}".utf8).write(to: copy.root.deletingLastPathComponent().appending(path: "manifest.json"))
        let told = fixture.events.count
        let pack = try await library.install(folder: files, as: isOlder ? .shop("1.9") : .shop("1.10"))
        #expect(pack.root != copy.root)
        let expected = ["damaged", "installed", "activated"].map { "\($0) \(copy.version)" }
        #expect(Array(fixture.events.dropFirst(told)) == expected)
        let page = "https://shop.example/app/index.html"
        #expect(try fixture.text(page, in: library) == (isOlder ? "one" : "two"))
        #expect(library.modules == (try fixture.library()).modules)
        try await library.rollBack(.shop, reason: "white page")
        #expect(try fixture.text(page, in: library) == (isOlder ? nil : "one"))
    }

    @Test("sees the versions that another process has installed after a refresh")
    func refresh() async throws {
        let library = try fixture.library()
        let other = try fixture.library()
        try await other.install(folder: fixture.folder(["index.html": "one"]), as: .shop("1"))
        #expect(library.module(.shop) == nil)
        try await library.refresh()
        #expect(try fixture.text("https://shop.example/app/", in: library) == "one")
        try await other.install(folder: fixture.folder(["index.html": "two"]), as: .shop("2"))
        try await library.setEnabled(true, .shop)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "two")
    }

    @Test("reports no damage of a version that was dropped, or of a module that was removed, before")
    func damageOfDropped() async throws {
        let library = try await installTwo()
        let first = try #require(library.module(.shop)?.previous?.root.deletingLastPathComponent().lastPathComponent)
        let second = try #require(library.module(.shop)?.active?.root.deletingLastPathComponent().lastPathComponent)
        try await library.install(folder: fixture.folder(["index.html": "three"]), as: .shop("1.11"))
        await library.markDamaged(.shop, first, "a file was changed")
        #expect(library.condition.isEmpty)
        await library.markDamaged(.shop, second, "a file was changed")
        #expect(library.condition.map(\.version) == [two])
        try await library.remove(.shop)
        await library.markDamaged(.shop, second, "a file was changed")
        #expect(library.condition.isEmpty)
        #expect(library.modules.isEmpty)
    }

    @Test(
        "takes no whitelist that leaves too little space in the record for later changes",
        arguments: [ModuleRecord.maximumSize / 2 - 100, ModuleRecord.maximumSize / 2 + 100, ModuleRecord.maximumSize]
    )
    func longWhitelist(_ size: Int) async throws {
        let library = try await installTwo()
        let record = URL(fileURLWithPath: fixture.layout.record(of: .shop))
        var offer = ModuleOffer(.shop)
        offer.whitelist = ["https://shop.example/app/"]
        try await library.take(offer)
        let rest = size == ModuleRecord.maximumSize ? try Data(contentsOf: record).count : 29
        offer.whitelist = ["https://shop.example/app/" + String(repeating: "a", count: size - rest)]
        let isTooLong = size > ModuleRecord.maximumSize / 2
        #expect(await errorCode { try await library.take(offer) } == (isTooLong ? .tooLarge : nil))
        try await library.setEnabled(false, .shop)
        try await library.rollBack(.shop, reason: "white page")
        try await library.install(folder: fixture.folder(["index.html": "three"]), as: .shop("1.11"))
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "1.11"))
    }

    @Test("stores no immensely long URL, of a failure or of a zip, that would leave no space in the record")
    func longURLs() async throws {
        let library = try await installTwo()
        for digit in 0..<3 {
            let name = String(repeating: "\(digit)", count: ModuleRecord.maximumSize / 2)
            let url = try #require(URL(string: "https://packs.example/\(name)"))
            let failure = FailedUpdate(to: one, way: .whole, artifact: url, retryAt: .distantFuture)
            try await library.note(failure, of: .shop, pausing: RetryPause(), at: fixture.now())
            let zip = fixture.root.appending(path: "\(digit).zip")
            let description = PackDescription(
                module: .shop,
                version: try #require(PackVersion("2.\(digit)")),
                baseURLs: ["https://shop.example/app/"]
            )
            try PackBuilder.build(folder: fixture.folder(["index.html": "\(digit)"]), as: description, to: zip)
            let origin = PackLibrary.ArchiveOrigin(digests: [try PackDigest(ofFile: zip)], url: url)
            let path = zip.path(percentEncoded: false)
            for _ in 0..<2 {
                let staged = try await library.stage(zip: path, as: nil, origin: origin) { _ in }
                _ = try await library.commit(staged, activating: true, onTrial: false)
            }
        }
        try await library.setEnabled(false, .shop)
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "2.2"))
    }

    private final class Switch: Sendable {
        private let state = Mutex(true)

        var isOn: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private struct Unexpected: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }
}

import Foundation
import Testing
import WaystationArchive
import WaystationStorage

@testable import WaystationPacks

/// Tests with zips that only contain web files, offered by servers of the two older formats to an updater with default
/// settings.
@Suite("Zips without a manifest, in the older formats")
struct PlainZipTests {
    private let home: LibraryFixture
    private let library: PackLibrary
    private let server = ScriptedServer()

    init() throws {
        home = try LibraryFixture()
        library = try home.library()
    }

    /// Writes a zip of only these files, and serves it under the name.
    @discardableResult
    private func put(_ files: [String: String], at name: String) throws -> URL {
        let zip = home.root.appending(path: "\(UUID().uuidString).zip")
        try ZipWriter.write(folder: home.folder(files), to: zip)
        _ = try server.put(Data(contentsOf: zip), at: name)
        return zip
    }

    private func check(_ source: some PackSource) async throws -> UpdateReport {
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = server
        configuration.planner.reservedSpace = 0
        let app = AppIdentity(code: "shop", version: PackVersion(literal: "5.0"))
        let updater = PackUpdater(library: library, source: source, app: app, configuration: configuration)
        return try await updater.check(isForced: true)
    }

    private func single(_ answer: String) throws -> SinglePackSource {
        SinglePackSource(try Sample.url("https://packs.example/check"), module: .shop, fetcher: CannedFetcher(answer))
    }

    private func modules(_ entry: String) throws -> ModuleListSource {
        let answer = #"{"resultData": [\#(entry)]}"#
        return ModuleListSource(try Sample.url("https://packs.example/check"), fetcher: CannedFetcher(answer))
    }

    private func text(_ path: String) throws -> String? { try home.text("https://shop.example/\(path)", in: library) }

    @Test(
        "one pack: the whitelist gives the place of the files, by folders, by globs or by single files",
        arguments: [
            #"["https://shop.example/app/"]"#, #"["https://shop.example/app/**"]"#,
            #"["https://shop.example/app/index.html", "https://shop.example/app/js/a.js"]"#,
            #"["https://shop.example/app/js/a.js", "https://shop.example/app/index.html"]"#,
            #"["https://shop.example/app/*.html", "https://shop.example/app/js/*.js"]"#,
            #""https://shop.example/app/, https://shop.example/app/js/""#,
        ]
    )
    func singlePack(whitelist: String) async throws {
        try put(["index.html": "one", "js/a.js": "a"], at: "app.zip")
        let report = try await check(
            single(
                #"{"updatePackageVersion": "1.0", "updatePackageUrl": "app.zip", "whitelist": \#(whitelist)}"#
            )
        )
        #expect(report.failures.isEmpty, "\(report)")
        #expect(try text("app/index.html") == "one")
        #expect(try text("app/js/a.js") == "a")
        #expect(try text("index.html") == nil)
        #expect(try text("app/js/js/a.js") == nil)
    }

    @Test("one pack: files outside the whitelist are not served")
    func notOnTheWhitelist() async throws {
        try put(["index.html": "one", "js/a.js": "a"], at: "app.zip")
        _ = try await check(
            single(
                """
                {"updatePackageVersion": "1.0", "updatePackageUrl": "app.zip",
                 "whitelist": ["https://shop.example/app/index.html"]}
                """
            )
        )
        #expect(try text("app/index.html") == "one")
        #expect(try text("app/js/a.js") == nil)
    }

    @Test("a zip that contains the folders of its whitelist is served at their URLs")
    func wrapped() async throws {
        try put(["a/index.html": "a", "b/index.html": "b"], at: "app.zip")
        _ = try await check(
            single(
                """
                {"updatePackageVersion": "1.0", "updatePackageUrl": "app.zip",
                 "whitelist": ["https://shop.example/a/", "https://shop.example/b/**"]}
                """
            )
        )
        #expect(try text("a/") == "a")
        #expect(try text("b/index.html") == "b")
        #expect(try text("a/b/index.html") == nil)
    }

    @Test("one pack: a patch to a zip without a manifest applies")
    func singlePatch() async throws {
        let old = try put(["index.html": "one"], at: "1.zip")
        let new = try put(["index.html": "two", "js/a.js": "a"], at: "2.zip")
        _ = try server.put(BSDiffPatch.create(from: FileSource(old), to: FileSource(new)), at: "1-2.patch")
        let members = #""whitelist": ["https://shop.example/app/"]"#
        _ = try await check(single(#"{"updatePackageVersion": "1", "updatePackageUrl": "1.zip", \#(members)}"#))
        let report = try await check(
            single(#"{"updatePackageVersion": "2", "updatePackageUrl": "1-2.patch", "isPatch": 1, \#(members)}"#)
        )
        #expect(report.outcomes.first?.isUpdated(by: .zipPatch) == true, "\(report)")
        #expect(try text("app/") == "two")
    }

    @Test("many modules: an entry's whitelist gives the place of the files, and its address or digest the version")
    func modules() async throws {
        let zip = try put(["index.html": "one"], at: "cart.zip")
        let digest = try PackDigest(ofFile: zip, .md5).hex
        func entry(_ name: String) -> String {
            """
            {"moduleId": "shop", "packageUrl": "\(name)", "packageMD5": "\(digest)", "mode": 1, "isActive": true,
             "whitelist": ["https://shop.example/cart/"]}
            """
        }
        var report = try await check(modules(entry("cart.zip")))
        #expect(report.failures.isEmpty, "\(report)")
        #expect(try text("cart/") == "one")
        #expect(library.module(.shop)?.active?.version.description == "0-\(digest.prefix(12))")
        // The same file again has the same version, and another file another one.
        report = try await check(modules(entry("cart.zip?signed=anew")))
        #expect(report.outcomes.first?.kind.isUpToDate == true, "\(report)")
        try put(["index.html": "two"], at: "cart-1.4.2.zip")
        report = try await check(
            modules(
                """
                {"moduleId": "shop", "packageUrl": "cart-1.4.2.zip", "whitelist": "https://shop.example/cart/"}
                """
            )
        )
        #expect(try text("cart/") == "two", "\(report)")
        #expect(library.module(.shop)?.active?.version.description == "1.4.2")
    }

    /// Two zips of the same files.
    private func zips() throws -> [URL] {
        let folder = try home.folder(["index.html": String(repeating: "one ", count: 500)])
        return try [ZipWriter.Compression.deflated, .stored].map { compression in
            let zip = home.root.appending(path: "\(UUID().uuidString).zip")
            try ZipWriter.write(folder: folder, to: zip, compression: compression)
            return zip
        }
    }

    /// A source that offers a zip without saying which version it is.
    private func offer(_ zip: URL) throws -> ModuleListSource {
        _ = try server.put(Data(contentsOf: zip), at: "cart-1.4.2.zip")
        return try modules(
            """
            {"moduleId": "shop", "packageUrl": "cart-1.4.2.zip", "packageMD5": "\(PackDigest(ofFile: zip, .md5).hex)",
             "mode": 1, "whitelist": ["https://shop.example/cart/"]}
            """
        )
    }

    @Test("many modules: the same files in another zip are fetched once, and that zip is the base of the next patch")
    func zippedAgain() async throws {
        let zips = try zips()
        _ = try await check(offer(zips[0]))
        #expect(try await check(offer(zips[1])).failures.isEmpty)
        let fetched = server.fetched
        let report = try await check(offer(zips[1]))
        #expect(report.outcomes.first?.kind.isUpToDate == true, "\(report)")
        #expect(server.fetched == fetched)
        #expect(library.module(.shop)?.active?.archiveDigests.contains(try PackDigest(ofFile: zips[1])) == true)
        let new = try put(["index.html": "two"], at: "cart-2.zip")
        let patch = try BSDiffPatch.create(from: FileSource(zips[1]), to: FileSource(new))
        _ = try server.put(patch, at: "1-2.patch")
        let patched = try await check(
            modules(
                """
                {"moduleId": "shop", "packageMD5": "\(PackDigest(ofFile: new, .md5).hex)", "patchUrl": "1-2.patch",
                 "patchMD5": "\(PackDigest(of: patch, .md5).hex)", "mode": 2, "whitelist": ["https://shop.example/cart/"]}
                """
            )
        )
        #expect(patched.outcomes.first?.isUpdated(by: .zipPatch) == true, "\(patched)")
    }

    @Test("many modules: files that were found bad are not installed again from another zip")
    func zippedAgainAfterRollBack() async throws {
        let zips = try zips()
        _ = try await check(offer(zips[0]))
        try await library.rollBack(.shop, reason: "white page")
        let report = try await check(offer(zips[1]))
        #expect(report.failures.first?.error.message.contains("found bad") == true, "\(report)")
        #expect(library.module(.shop)?.active == nil)
    }

    @Test("many modules: a patch to a zip without a manifest applies")
    func modulesPatch() async throws {
        let old = try put(["index.html": "one"], at: "cart-1.zip")
        let new = try put(["index.html": "two"], at: "cart-2.zip")
        let patch = try BSDiffPatch.create(from: FileSource(old), to: FileSource(new))
        _ = try server.put(patch, at: "1-2.patch")
        let whitelist = #""whitelist": ["https://shop.example/cart/"]"#
        _ = try await check(modules(#"{"moduleId": "shop", "packageUrl": "cart-1.zip", "mode": 1, \#(whitelist)}"#))
        let report = try await check(
            modules(
                """
                {"moduleId": "shop", "packageMD5": "\(try PackDigest(ofFile: new, .md5).hex)", "patchUrl": "1-2.patch",
                 "patchMD5": "\(PackDigest(of: patch, .md5).hex)", "mode": 2, \(whitelist)}
                """
            )
        )
        #expect(report.outcomes.first?.isUpdated(by: .zipPatch) == true, "\(report)")
        #expect(try text("cart/") == "two")
    }

    @Test("without a whitelist the error says what the server can send")
    func nothingSaid() async throws {
        try put(["index.html": "one"], at: "app.zip")
        let report = try await check(single(#"{"updatePackageVersion": "1.0", "updatePackageUrl": "app.zip"}"#))
        let error = try #require(report.failures.first?.error)
        #expect(error.code == .invalidManifest)
        #expect(error.message.contains("whitelist"))
    }

    @Test("a version is looked for only at the end of a long file name")
    func longName() throws {
        func version(_ name: String) throws -> String? {
            let offer = ModuleOffer(.shop, archive: Artifact(url: try Sample.url("https://packs.example/\(name).zip")))
            return PackDescription(of: offer)?.version.description
        }
        #expect(try version("shop-1.4.2" + String(repeating: "a", count: 200)) == "1.4.2")
        #expect(try version("shop-1.4.2" + String(repeating: "a", count: 300)) == nil)
        #expect(try version(String(repeating: "1a", count: 200_000) + "-2.5") == "2.5")
        #expect(try version(String(repeating: "1", count: 300)) == nil)
    }

    @Test("a zip that was installed by hand is the base of the server's next patch")
    func installedByHand() async throws {
        let old = try put(["index.html": "one"], at: "1.0.zip")
        let new = try put(["index.html": "two"], at: "1.1.zip")
        _ = try server.put(BSDiffPatch.create(from: FileSource(old), to: FileSource(new)), at: "1.0-1.1.patch")
        try await library.install(zip: old, as: .shop("1.0"))
        // The app's own file may be removed or changed: the library has a copy.
        let handle = try FileHandle(forWritingTo: old)
        try handle.truncate(atOffset: 10)
        try handle.close()
        try FileManager.default.removeItem(at: old)
        let report = try await check(
            single(
                """
                {"updatePackageVersion": "1.1", "updatePackageUrl": "1.0-1.1.patch", "isPatch": true,
                 "whitelist": ["https://shop.example/app/"]}
                """
            )
        )
        #expect(report.outcomes.first?.isUpdated(by: .zipPatch) == true, "\(report)")
        #expect(try text("app/") == "two")
    }
}

extension ModuleOutcome {
    fileprivate func isUpdated(by way: FailedUpdate.Way) -> Bool {
        if case .updated(way, _, _) = kind { true } else { false }
    }
}

extension ModuleOutcome.Kind {
    fileprivate var isUpToDate: Bool { if case .upToDate = self { true } else { false } }
}

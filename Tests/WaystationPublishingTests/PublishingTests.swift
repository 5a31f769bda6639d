import Foundation
import Testing
import WaystationPacks
import WaystationStorage

@testable import WaystationPublishing

@Suite("Publishing")
struct PublishingTests {
    @Test("a published pack is live in a catalogue that is signed with the publisher's key")
    func first() async throws {
        let publisher = try Publisher()
        let pack = try publisher.pack("1.4")
        let publication = try await publisher.releases.publish(zip: pack, signedBy: [publisher.key])
        #expect(publication.isNew)
        #expect(publication.release.fileCount == 2)

        let catalogue = try publisher.catalogue()
        #expect(catalogue.serial == 1)
        #expect(catalogue.issued == Publisher.start)
        #expect(catalogue.expires == Publisher.start + 7 * 86_400)
        let entry = try #require(catalogue.modules.first)
        #expect(entry.module.description == "shop")
        #expect(entry.live == (try version("1.4")))
        let release = try #require(entry.releases.first)
        #expect(release.archive.url == "packs/shop/1.4/shop-1.4.zip")
        #expect(release.manifest == (try PackContents(pack).manifestDigest))
        #expect(release.patches == nil)
        let published = try publisher.bytes(release.archive.url)
        #expect(published == (try Data(contentsOf: pack)))
        #expect(release.archive.size == published.count)
        #expect(release.archive.digest == PackDigest(of: published))
    }

    @Test("patches of both kinds lead from the earlier versions to the new one, byte for byte")
    func patches() async throws {
        let publisher = try Publisher()
        try await publisher.publish("1.4")
        let publication = try await publisher.publish("1.5")
        #expect(publication.omitted.isEmpty)
        #expect(publication.release.patches.map(\.kind) == [.content, .zip])
        let old = try publisher.bytes("packs/shop/1.4/shop-1.4.zip")
        for patch in publication.release.patches {
            let file = publisher.root.appending(path: patch.file.path)
            let bytes = try Data(contentsOf: file)
            #expect(patch.file.size == bytes.count)
            #expect(patch.file.sha256 == PackDigest(of: bytes))
            #expect(patch.file.md5 == PackDigest(of: bytes, .md5))
            switch try PackInspection(file) {
            case .contentPatch(let base, let result, _):
                #expect(patch.file.path == "packs/shop/1.5/patches/1.4-content.patch")
                #expect(base == patch.base)
                #expect(result == patch.result)
                #expect(result == publication.release.manifest)
            case .zipPatch:
                #expect(patch.file.path == "packs/shop/1.5/patches/1.4-zip.patch")
                #expect(patch.base == PackDigest(of: old))
                var made = Data()
                try BSDiffPatch(DataSource(bytes)).apply(to: DataSource(old)) { made.append(contentsOf: $0) }
                #expect(made == (try publisher.bytes("packs/shop/1.5/shop-1.5.zip")))
                #expect(patch.result == PackDigest(of: made))
            case .zip, .folder: Issue.record("no patch: \(file)")
            }
        }
    }

    @Test(
        "patches are kept from as many versions as requested",
        arguments: [(0, []), (1, ["1.4"]), (3, ["1.4", "1.3", "1.2"])]
    )
    func kept(count: Int, expected: [String]) async throws {
        let publisher = try Publisher()
        for number in ["1.1", "1.2", "1.3", "1.4"] { try await publisher.publish(number) }
        let publication = try await publisher.releases.publish(
            zip: publisher.pack("1.5"),
            keepingDeltas: count,
            signedBy: [publisher.key]
        )
        let bases = publication.release.patches.filter { $0.kind == .content }.map(\.from.description)
        #expect(bases == expected)
        #expect(publication.release.patches.count == 2 * count)
    }

    @Test("a patch that is hardly smaller than the pack is not kept, and is reported as omitted")
    func uselessPatches() async throws {
        let publisher = try Publisher()
        let releases = publisher.releases
        for (number, seed) in [("1.0", 1), ("2.0", 2)] as [(String, UInt64)] {
            let pack = try publisher.pack(number, files: ["a.bin": Publisher.noise(30_000, seed: seed)])
            try await releases.publish(zip: pack, signedBy: [publisher.key])
        }
        let pack = try publisher.pack("3.0", files: ["a.bin": Publisher.noise(30_000, seed: 3)])
        let publication = try await releases.publish(zip: pack, keepingDeltas: 1, signedBy: [publisher.key])
        #expect(publication.release.patches.isEmpty)
        #expect(publication.omitted.map(\.kind) == [.content, .zip])
        #expect(publication.omitted.allSatisfy { $0.from.description == "2.0" })
        #expect(!FileManager.default.fileExists(atPath: publisher.root.appending(path: "packs/shop/3.0/patches").path))
    }

    @Test("every patch is kept if the largest share is infinite", arguments: [Double.infinity, .nan])
    func everyPatch(share: Double) async throws {
        let publisher = try Publisher()
        let releases = publisher.releases(on: LocalFileSystem(), .init(largestPatchShare: share))
        for (number, seed) in [("1.0", 1), ("2.0", 2)] as [(String, UInt64)] {
            let pack = try publisher.pack(number, files: ["a.bin": Publisher.noise(30_000, seed: seed)])
            let publication = try await releases.publish(zip: pack, signedBy: [publisher.key])
            #expect(publication.omitted.isEmpty)
        }
    }

    @Test("a damaged older pack prevents its patches, not the release")
    func damagedBase() async throws {
        let publisher = try Publisher()
        try await publisher.publish("1.4")
        try Data("gone".utf8).write(to: publisher.root.appending(path: "packs/shop/1.4/shop-1.4.zip"))
        let publication = try await publisher.publish("1.5")
        #expect(publication.release.patches.map(\.kind).contains(.content) == false)
        #expect(publication.omitted.contains { $0.kind == .content })
        #expect(try publisher.catalogue().modules.first?.live == version("1.5"))
    }

    @Test("a pack that does not match its manifest is refused, and nothing changes")
    func damaged() async throws {
        let publisher = try Publisher()
        try await publisher.publish("1.4")
        let before = try publisher.bytes("catalogue.json")
        let zip = try publisher.pack("1.5")
        var bytes = try Data(contentsOf: zip)
        bytes[bytes.count / 2] ^= 0xFF
        try bytes.write(to: zip)
        let code = await errorCode { try await publisher.releases.publish(zip: zip, signedBy: [publisher.key]) }
        #expect(code == .damaged)
        #expect(try publisher.bytes("catalogue.json") == before)
        #expect(!FileManager.default.fileExists(atPath: publisher.root.appending(path: "packs/shop/1.5").path))
        let staged = try FileManager.default.contentsOfDirectory(atPath: publisher.root.appending(path: "staging").path)
        #expect(staged.isEmpty)
    }

    @Test("a file that is not the zip of a pack is refused", arguments: ["", "no zip"])
    func noPack(text: String) async throws {
        let publisher = try Publisher()
        let file = publisher.folder.appending(path: "pack.zip")
        try Data(text.utf8).write(to: file)
        #expect(
            await errorCode { try await publisher.releases.publish(zip: file, signedBy: [publisher.key]) } == .damaged
        )
        let missing = publisher.folder.appending(path: "missing.zip")
        let code = await errorCode { try await publisher.releases.publish(zip: missing, signedBy: [publisher.key]) }
        #expect(code == .fileSystem)
        let folder = await errorCode {
            try await publisher.releases.publish(zip: publisher.folder, signedBy: [publisher.key])
        }
        #expect(folder == .fileSystem)
    }

    @Test("nothing is published without a key, or with an impossible share")
    func invalidArguments() async throws {
        let publisher = try Publisher()
        let pack = try publisher.pack("1.0")
        #expect(await errorCode { try await publisher.releases.publish(zip: pack, signedBy: []) } == .invalidArgument)
        for share in [-1, 100.5, .nan, .infinity] as [Double] {
            let code = await errorCode {
                try await publisher.releases.publish(zip: pack, rollout: share, signedBy: [publisher.key])
            }
            #expect(code == .invalidArgument)
        }
        #expect(!FileManager.default.fileExists(atPath: publisher.root.path))
    }

    @Test("every user can read the files that clients fetch, and only the owner the rest")
    func modes() async throws {
        let publisher = try Publisher()
        try await publisher.publish("1.4")
        try await publisher.publish("1.5")
        func mode(_ path: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: publisher.root.appending(path: path).path(percentEncoded: false)
            )
            return try #require(attributes[.posixPermissions] as? Int)
        }
        for path in ["catalogue.json", "packs/shop/1.5/shop-1.5.zip", "packs/shop/1.5/patches/1.4-zip.patch"] {
            #expect(try mode(path) == 0o644, "\(path)")
        }
        for path in ["", "packs", "packs/shop", "packs/shop/1.5", "packs/shop/1.5/patches"] {
            #expect(try mode(path) == 0o755, "\(path)")
        }
        #expect(try mode("releases.json") == 0o600)
        #expect(try mode("staging") == 0o700)
    }

    @Test("the next publication removes what a killed one left behind")
    func leftOvers() async throws {
        let publisher = try Publisher()
        // The name follows the publisher's pattern for staging directories, since it removes only those.
        let random = String(repeating: "0f", count: 16)
        let left = publisher.root.appending(path: "staging/\(random)/release")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        try Data("half".utf8).write(to: left.appending(path: "pack.zip"))
        // Renamed to its final place, but not yet in the index.
        let placed = publisher.root.appending(path: "packs/shop/1.4")
        try FileManager.default.createDirectory(at: placed, withIntermediateDirectories: true)
        try Data("other".utf8).write(to: placed.appending(path: "shop-1.4.zip"))
        // Written, but not yet renamed over the previous file.
        for name in ["catalogue.json.\(random)", "releases.json.\(random)", "catalogue.json.gz"] {
            try Data("half".utf8).write(to: publisher.root.appending(path: name))
        }
        try await publisher.publish("1.4")
        let names = try FileManager.default.contentsOfDirectory(atPath: publisher.root.path).sorted()
        #expect(names == ["catalogue.json", "catalogue.json.gz", "lock", "packs", "releases.json", "staging"])
        let staged = try FileManager.default.contentsOfDirectory(atPath: publisher.root.appending(path: "staging").path)
        #expect(staged.isEmpty)
        let archive = try #require(try publisher.catalogue().modules.first?.releases.first?.archive)
        #expect(PackDigest(of: try publisher.bytes(archive.url)) == archive.digest)
    }

    @Test("publications and rollbacks at the same time all take effect, one after another")
    func concurrent() async throws {
        let publisher = try Publisher()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["cart", "home", "search"] {
                group.addTask { try await publisher.publish("1.0", of: name) }
            }
            try await group.waitForAll()
        }
        let index = try await publisher.releases.index()
        #expect(index.serial == 3)
        #expect(index.modules.map(\.module.description) == ["cart", "home", "search"])
        #expect(try publisher.catalogue().serial == 3)
    }
}

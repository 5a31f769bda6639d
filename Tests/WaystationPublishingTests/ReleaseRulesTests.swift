import Foundation
import Testing
import WaystationArchive
import WaystationPacks

@testable import WaystationPublishing

@Suite("The rules for the live version")
struct ReleaseRulesTests {
    private let publisher: Publisher

    init() throws { publisher = try Publisher() }

    private func live() throws -> String? { try publisher.catalogue().modules.first?.live?.description }

    @Test("a rollback makes the previous version live again, and then the one before that")
    func rollBack() async throws {
        for number in ["1.0", "1.1", "1.2"] { try await publisher.publish(number) }
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        #expect(try live() == "1.1")
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        #expect(try live() == "1.0")
        let code = await errorCode { try await publisher.releases.rollBack(module(), signedBy: [publisher.key]) }
        #expect(code == .invalidArgument)
        #expect(try publisher.catalogue().serial == 5)
    }

    @Test("a rollback can name a version; later rollbacks do not return to a skipped one")
    func rollBackTo() async throws {
        for number in ["1.0", "1.1", "1.2"] { try await publisher.publish(number) }
        try await publisher.releases.rollBack(module(), to: version("1.0"), signedBy: [publisher.key])
        #expect(try live() == "1.0")
        try await publisher.publish("1.3")
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        #expect(try live() == "1.0")
    }

    @Test("after a rollback, patches to the fix also start at the withdrawn version")
    func patchesFromWithdrawn() async throws {
        for number in ["1.0", "1.1"] { try await publisher.publish(number) }
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        let fix = try await publisher.publish("1.2")
        #expect(Set(fix.release.patches.map(\.from.description)) == ["1.0", "1.1"])
    }

    @Test("an impossible rollback is refused", arguments: [("1.1", "1.1"), ("1.1", "2.0"), ("1.1", "0.9")])
    func refusedRollBack(highest: String, target: String) async throws {
        for number in ["1.0", highest] { try await publisher.publish(number) }
        let serial = try publisher.catalogue().serial
        let code = await errorCode {
            try await publisher.releases.rollBack(module(), to: version(target), signedBy: [publisher.key])
        }
        #expect(code == (target == "1.1" ? .invalidArgument : .notInstalled))
        #expect(try publisher.catalogue().serial == serial)
    }

    @Test("a version is published once: other contents under its number are refused, and so is a lower version")
    func versions() async throws {
        try await publisher.publish("1.1")
        let other = try publisher.pack("1.1", files: ["index.html": Data("other".utf8)])
        let lower = try publisher.pack("1.0")
        for pack in [other, lower] {
            let code = await errorCode { try await publisher.releases.publish(zip: pack, signedBy: [publisher.key]) }
            #expect(code == .invalidArgument)
        }
        // The same version, spelled in another way.
        let same = try publisher.pack("1.1.0", files: ["index.html": Data("other".utf8)])
        let code = await errorCode { try await publisher.releases.publish(zip: same, signedBy: [publisher.key]) }
        #expect(code == .invalidArgument)
        #expect(try publisher.catalogue().modules.first?.releases.count == 1)
    }

    @Test("the same pack can be published again, and is live again after a rollback")
    func again() async throws {
        try await publisher.publish("1.0")
        let pack = try publisher.pack("1.1")
        try await publisher.releases.publish(zip: pack, signedBy: [publisher.key])
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        let second = try await publisher.releases.publish(zip: pack, signedBy: [publisher.key])
        #expect(!second.isNew)
        #expect(second.release.patches.count == 2)
        #expect(try live() == "1.1")
        #expect(try publisher.catalogue().modules.first?.releases.count == 2)
    }

    @Test("a rollout leaves the live version, grows with the same salt, and becomes live at 100 per cent")
    func rollout() async throws {
        try await publisher.publish("1.0")
        let pack = try publisher.pack("1.1")
        var salts: Set<String> = []
        for share in [10, 50.5] {
            try await publisher.releases.publish(zip: pack, rollout: share, signedBy: [publisher.key])
            let entry = try #require(try publisher.catalogue().modules.first)
            #expect(entry.live?.description == "1.0")
            #expect(entry.rollout?.version.description == "1.1")
            #expect(entry.rollout?.percentage == share)
            salts.insert(entry.rollout?.salt ?? "")
        }
        #expect(salts.count == 1)
        try await publisher.releases.publish(zip: pack, rollout: 100, signedBy: [publisher.key])
        let entry = try #require(try publisher.catalogue().modules.first)
        #expect(entry.live?.description == "1.1")
        #expect(entry.rollout == nil)
    }

    @Test("a rollout stays if its pack or the live one is published again, and if the catalogue is signed again")
    func rolloutStays() async throws {
        let packs = try ["1.0", "1.1"].map { try publisher.pack($0) }
        try await publisher.releases.publish(zip: packs[0], signedBy: [publisher.key])
        try await publisher.releases.publish(zip: packs[1], rollout: 10, signedBy: [publisher.key])
        let rollout = try #require(try publisher.catalogue().modules.first?.rollout)
        for pack in packs {
            try await publisher.releases.publish(zip: pack, signedBy: [publisher.key])
            #expect(try publisher.catalogue().modules.first?.rollout == rollout)
            #expect(try live() == "1.0")
        }
        try await publisher.releases.publish(zip: packs[0], rollout: 50, signedBy: [publisher.key])
        try await publisher.releases.resign(signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.rollout == rollout)
        #expect(try live() == "1.0")
    }

    @Test("a rollout continues if a lower version goes live, and ends if a higher one does")
    func rolloutBesideLive() async throws {
        try await publisher.publish("1.0")
        try await publisher.publish("1.2", rollout: 10)
        try await publisher.publish("1.1")
        #expect(try live() == "1.1")
        #expect(try publisher.catalogue().modules.first?.rollout?.version.description == "1.2")
        try await publisher.publish("1.3")
        #expect(try live() == "1.3")
        #expect(try publisher.catalogue().modules.first?.rollout == nil)
    }

    @Test("a rollback ends a rollout and leaves the live version")
    func endRollout() async throws {
        try await publisher.publish("1.0")
        try await publisher.publish("1.1", rollout: 10)
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        let entry = try #require(try publisher.catalogue().modules.first)
        #expect(entry.live?.description == "1.0")
        #expect(entry.rollout == nil)
    }

    @Test("a module that is switched off stays off until it is switched on, even if a version is published")
    func disable() async throws {
        try await publisher.publish("1.0")
        try await publisher.releases.disable(module(), signedBy: [publisher.key])
        try await publisher.publish("1.1")
        #expect(try publisher.catalogue().modules.first?.isActive == false)
        #expect(try live() == "1.1")
        try await publisher.releases.enable(module(), signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.isActive == true)
    }

    @Test("the catalogue has the minimum version, and a rollback below it is refused")
    func minimum() async throws {
        for number in ["1.0", "1.1"] { try await publisher.publish(number) }
        let above = await errorCode {
            try await publisher.releases.setMinimumVersion(version("1.2"), of: module(), signedBy: [publisher.key])
        }
        #expect(above == .invalidArgument)
        try await publisher.releases.setMinimumVersion(version("1.1"), of: module(), signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.minimumVersion == version("1.1"))
        let code = await errorCode { try await publisher.releases.rollBack(module(), signedBy: [publisher.key]) }
        #expect(code == .invalidArgument)
        try await publisher.releases.setMinimumVersion(nil, of: module(), signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.minimumVersion == nil)
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        #expect(try live() == "1.0")
    }

    @Test("the requirements in the live pack's manifest apply to clients as long as it is live")
    func manifestDemands() async throws {
        try await publisher.publish("1.0")
        let pack = try publisher.pack("1.1", minimumAppVersion: "3.0", minimumPackVersion: "1.1")
        try await publisher.releases.publish(zip: pack, rollout: 5, signedBy: [publisher.key])
        var entry = try #require(try publisher.catalogue().modules.first)
        #expect(entry.minimumVersion == nil)
        #expect(entry.minimumAppVersion?.description == "3.0")
        try await publisher.releases.publish(zip: pack, rollout: 100, signedBy: [publisher.key])
        entry = try #require(try publisher.catalogue().modules.first)
        #expect(entry.minimumVersion?.description == "1.1")
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        entry = try #require(try publisher.catalogue().modules.first)
        #expect(entry.minimumVersion == nil)
        #expect(entry.minimumAppVersion == nil)
    }

    @Test("a pack that asks for a higher version than its own is neither built nor published")
    func impossibleMinimum() async throws {
        let built = #expect(throws: PackError.self) { try publisher.pack("1.5", minimumPackVersion: "15") }
        #expect(built?.code == .invalidArgument)
        let manifest = try PackManifest(
            module: module(),
            version: version("1.5"),
            baseURLs: ["https://shop.example/"],
            minimumPackVersion: version("15"),
            files: [PackedFile(path: "a", size: 1, sha256: PackDigest(of: Data("a".utf8)).hex)]
        )
        var bytes = Data()
        let writer = ZipWriter { bytes.append(contentsOf: $0) }
        try writer.add(PackManifest.fileName, from: manifest.json())
        try writer.add("a", from: Data("a".utf8))
        try writer.finish()
        let zip = publisher.folder.appending(path: "pack.zip")
        try bytes.write(to: zip)
        let error = await #expect(throws: PackError.self) {
            try await publisher.releases.publish(zip: zip, signedBy: [publisher.key])
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("15") == true)
    }

    @Test("a pack without files is never published, whatever the caller allows", arguments: [false, true])
    func noFiles(isFewerAllowed: Bool) throws {
        let (module, version) = try (module(), version("1.0"))
        let error = #expect(throws: PackError.self) {
            try ReleaseIndex().check(fileCount: 0, of: version, of: module, allowingFewerFiles: isFewerAllowed)
        }
        #expect(error?.code == .invalidArgument)
        try ReleaseIndex().check(fileCount: 1, of: version, of: module, allowingFewerFiles: isFewerAllowed)
    }

    @Test("a pack's file count is compared with the live version's, or without one with that of the rollout")
    func fewerFiles() async throws {
        func pack(_ version: String, files count: Int) throws -> URL {
            try publisher.pack(
                version,
                files: Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0).js", Data("\($0)".utf8)) })
            )
        }
        let releases = publisher.releases
        try await releases.publish(zip: pack("1.0", files: 8), rollout: 10, signedBy: [publisher.key])
        let small = try pack("1.1", files: 3)
        #expect(
            await errorCode { try await releases.publish(zip: small, signedBy: [publisher.key]) } == .invalidArgument
        )
        try await releases.publish(zip: pack("1.1.1", files: 4), signedBy: [publisher.key])
        try await releases.publish(zip: pack("1.2", files: 40), rollout: 10, signedBy: [publisher.key])
        // Half the files of the live version, a twentieth of those of the rollout.
        try await releases.publish(zip: pack("1.1.2", files: 2), signedBy: [publisher.key])
        #expect(try live() == "1.1.2")
    }

    @Test("a dry run returns what would be published, and does not change the directory")
    func dryRun() async throws {
        let releases = publisher.releases
        let first = try publisher.pack("1.0")
        let planned = try await releases.publish(zip: first, dryRun: true, signedBy: [publisher.key])
        #expect(planned.isNew)
        #expect(planned.index[try module()]?.live == planned.release.version)
        #expect(!FileManager.default.fileExists(atPath: publisher.root.path))

        try await publisher.publish("1.0")
        let before = try publisher.bytes("releases.json")
        let again = try await releases.publish(zip: publisher.pack("1.1"), dryRun: true, signedBy: [publisher.key])
        #expect(again.release.patches.count == 2)
        #expect(again.index.serial == 2)
        #expect(try publisher.bytes("releases.json") == before)
        #expect(!FileManager.default.fileExists(atPath: publisher.root.appending(path: "packs/shop/1.1").path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: publisher.root.path + "/staging").isEmpty)
    }

    @Test("an unpublished module cannot be changed")
    func unknown() async throws {
        let releases = publisher.releases
        let keys = [publisher.key]
        #expect(await errorCode { try await releases.rollBack(module(), signedBy: keys) } == .notInstalled)
        #expect(await errorCode { try await releases.disable(module(), signedBy: keys) } == .notInstalled)
        #expect(await errorCode { try await releases.enable(module(), signedBy: keys) } == .notInstalled)
        let code = await errorCode { try await releases.setMinimumVersion(nil, of: module(), signedBy: keys) }
        #expect(code == .notInstalled)
        #expect(try await releases.index().modules.isEmpty)
    }
}

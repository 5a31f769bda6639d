import Foundation
import Testing
import WaystationPacks
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPublishing

@Suite("Signing the catalogue")
struct SigningTests {
    private let publisher: Publisher

    init() throws { publisher = try Publisher() }

    @Test("a renewal waits until half of the validity is over, and keeps the contents under the next serial number")
    func renewal() async throws {
        try await publisher.publish("1.0")
        let before = try publisher.catalogue()
        publisher.pass(.seconds(3 * 86_400))
        #expect(try await publisher.releases.renew(signedBy: [publisher.key]) == false)
        #expect(try publisher.catalogue() == before)
        publisher.pass(.seconds(86_400))
        #expect(try await publisher.releases.renew(signedBy: [publisher.key]))
        let after = try publisher.catalogue()
        #expect(after.serial == before.serial + 1)
        #expect(after.modules == before.modules)
        #expect(after.expires == before.expires + 4 * 86_400)
    }

    @Test("a key file that is too large is refused, with the limit")
    func largeKeyFile() throws {
        let file = publisher.root.deletingLastPathComponent().appending(path: "large.key")
        try SparseFile.make(at: file)
        let error = #expect(throws: PackError.self) { try KeyFile.read(file) }
        #expect(error?.description.contains("it has \(64 << 30) bytes, more than the 4096 bytes") == true)
        try FileManager.default.removeItem(at: file)
    }

    @Test("an index that is too large is refused, with the limit")
    func largeIndex() async throws {
        try await publisher.publish("1.0")
        try SparseFile.make(at: publisher.root.appending(path: "releases.json"))
        let error = await #expect(throws: PackError.self) { try await publisher.releases.index() }
        #expect(error?.description.contains("\(ReleaseIndex.maximumSize) bytes") == true)
    }

    @Test("a catalogue that is missing, or does not match the index, is written again")
    func lost() async throws {
        try await publisher.publish("1.0")
        let old = try publisher.bytes("catalogue.json")
        try await publisher.publish("1.1")
        let file = publisher.root.appending(path: "catalogue.json")
        try FileManager.default.removeItem(at: file)
        #expect(try await publisher.releases.renew(signedBy: [publisher.key]))
        #expect(try publisher.catalogue().serial == 3)
        try old.write(to: file)
        #expect(try await publisher.releases.renew(signedBy: [publisher.key]))
        #expect(try publisher.catalogue().serial == 4)
        #expect(try publisher.catalogue().modules.first?.live == version("1.1"))
    }

    @Test("a new key makes the catalogue be signed again, and two keys sign it for clients of both")
    func keys() async throws {
        try await publisher.publish("1.0")
        let new = try SigningKey.generate()
        #expect(try await publisher.releases.renew(signedBy: [publisher.key, new]))
        #expect(try publisher.catalogue().serial == 2)
        #expect(try publisher.catalogue(trusting: new).serial == 2)
        #expect(try await publisher.releases.index().keys == [publisher.key.trusted.id, new.trusted.id])
        #expect(try await publisher.releases.renew(signedBy: [new]))
        #expect(throws: PackError.self) { try publisher.catalogue() }
    }

    @Test("the catalogue's validity can be configured")
    func validity() async throws {
        let releases = publisher.releases(.init(validity: .seconds(3600)))
        try await releases.publish(zip: publisher.pack("1.0"), signedBy: [publisher.key])
        #expect(try publisher.catalogue().expires == Publisher.start + 3600)
    }

    @Test("an index of a later format, or a damaged one, is refused and not replaced")
    func unreadable() async throws {
        try await publisher.publish("1.0")
        let file = publisher.root.appending(path: "releases.json")
        for (text, code) in [("{\"formatVersion\":2}", PackError.Code.unsupportedVersion), ("{", .damaged)] {
            try Data(text.utf8).write(to: file)
            #expect(await errorCode { try await publisher.publish("1.1") } == code)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test("without its index, a directory with a catalogue is not changed, since serial numbers would begin anew")
    func missingIndex() async throws {
        try await publisher.publish("1.0")
        try FileManager.default.removeItem(at: publisher.root.appending(path: "releases.json"))
        let catalogue = try publisher.bytes("catalogue.json")
        #expect(await errorCode { try await publisher.publish("1.1") } == .damaged)
        #expect(await errorCode { try await publisher.releases.renew(signedBy: [publisher.key]) } == .damaged)
        #expect(try publisher.bytes("catalogue.json") == catalogue)
    }
}

extension Publisher {
    func releases(_ configuration: ReleaseDirectory.Configuration) -> ReleaseDirectory {
        releases(on: LocalFileSystem(), configuration)
    }
}

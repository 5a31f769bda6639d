import Foundation
import Testing
import WaystationPacks

@testable import WaystationPublishing

@Suite("A URL that is not a file URL")
struct RemoteURLTests {
    private let publisher: Publisher
    /// A path where nothing exists yet, as the path of an address on the web.
    private let remote: URL

    init() throws {
        publisher = try Publisher()
        remote = try #require(URL(string: "https://packs.example\(publisher.folder.path)/new"))
    }

    private func expectRefusal(_ operation: () async throws -> Void) async {
        let error = await #expect(throws: PackError.self) { try await operation() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("\(remote) is not a file URL") == true)
        #expect(!FileManager.default.fileExists(atPath: remote.path))
    }

    @Test("names no release directory: it is neither read nor changed, and nothing is made at its path")
    func releaseDirectory() async throws {
        let releases = ReleaseDirectory(remote)
        let (pack, shop, keys) = (try publisher.pack("1.0"), try module(), [publisher.key])
        await expectRefusal { _ = try await releases.index() }
        await expectRefusal { try await releases.publish(zip: pack, signedBy: keys) }
        await expectRefusal { try await releases.publish(zip: pack, dryRun: true, signedBy: keys) }
        await expectRefusal { try await releases.disable(shop, signedBy: keys) }
        await expectRefusal { try await releases.renew(signedBy: keys) }
        await expectRefusal { try await releases.prune(keeping: 1, signedBy: keys) }
    }

    @Test("is refused as the file of a key")
    func key() async {
        await expectRefusal { try KeyFile.write(publisher.key, to: remote) }
    }

    @Test("is refused as the file of a patch", arguments: PatchOffer.Kind.allCases)
    func patch(_ kind: PatchOffer.Kind) async throws {
        let (old, new) = (try publisher.pack("1.0"), try publisher.pack("1.1"))
        await expectRefusal { try PackDelta.write(kind, from: old, to: new, into: remote) }
    }

    @Test("is refused as the zip of a new pack")
    func pack() async throws {
        let source = publisher.folder.appending(path: "source")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: false)
        try Data("<p>".utf8).write(to: source.appending(path: "index.html"))
        let description = PackDescription(
            module: try module(),
            version: try version("1.0"),
            baseURLs: ["https://shop.example/"]
        )
        await expectRefusal { try PackBuilder.build(folder: source, as: description, to: remote) }
    }
}

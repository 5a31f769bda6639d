import Foundation
import Testing
import WaystationPacks

@testable import WaystationPublishing

@Suite("Old releases")
struct PruningTests {
    private let publisher: Publisher

    init() throws { publisher = try Publisher() }

    private func published() throws -> [String] {
        try publisher.catalogue().modules.first?.releases.map(\.version.description) ?? []
    }

    private var folders: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: publisher.root.appending(path: "packs/shop").path)
                .sorted()
        }
    }

    private func publish(_ versions: [String], deltas: Int = 1) async throws {
        for version in versions {
            try await publisher.releases.publish(
                zip: publisher.pack(version),
                keepingDeltas: deltas,
                signedBy: [publisher.key]
            )
        }
    }

    @Test("are removed with their files, and the catalogue does not name them any more")
    func pruning() async throws {
        try await publish(["1.0", "1.1", "1.2", "1.3"])
        let pruning = try await publisher.releases.prune(keeping: 1, signedBy: [publisher.key])
        #expect(pruning.removed.map(\.version.description) == ["1.0", "1.1"])
        // A rollback leads to 1.2, and the patch to 1.3 starts at it.
        #expect(try published() == ["1.2", "1.3"])
        #expect(try folders == ["1.2", "1.3"])
        for release in try publisher.catalogue().modules.first?.releases ?? [] {
            #expect(try publisher.bytes(release.archive.url).count == release.archive.size)
        }
        try await publisher.releases.rollBack(module(), signedBy: [publisher.key])
        let nothingLeft = await errorCode { try await publisher.releases.rollBack(module(), signedBy: [publisher.key]) }
        #expect(nothingLeft == .invalidArgument)
    }

    @Test("stay while a patch to the live version starts at them")
    func bases() async throws {
        try await publish(["1.0", "1.1", "1.2", "1.3"], deltas: 3)
        #expect(try await publisher.releases.prune(keeping: 1, signedBy: [publisher.key]).removed.isEmpty)
        #expect(try published().count == 4)
    }

    @Test("stay while they are live, are rolled out, or are higher than the live one")
    func live() async throws {
        try await publish(["1.0", "1.1", "1.2", "1.3"], deltas: 0)
        try await publisher.releases.rollBack(module(), to: version("1.1"), signedBy: [publisher.key])
        _ = try await publisher.releases.prune(module(), keeping: 1, signedBy: [publisher.key])
        #expect(try published() == ["1.0", "1.1", "1.2", "1.3"])
        try await publisher.publish("1.4", rollout: 10)
        _ = try await publisher.releases.prune(module(), keeping: 1, signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.rollout?.version == version("1.4"))
        #expect(try published().contains("1.4"))
        #expect(try published().contains("1.1"))
    }

    @Test("cause no new signature if there are none to remove")
    func nothing() async throws {
        try await publish(["1.0", "1.1"])
        let serial = try publisher.catalogue().serial
        #expect(try await publisher.releases.prune(keeping: 2, signedBy: [publisher.key]).removed.isEmpty)
        #expect(try publisher.catalogue().serial == serial)
    }

    @Test("whose files survived a kill are removed the next time, and folders that are not named like a version stay")
    func leftOver() async throws {
        try await publish(["1.0"])
        for name in ["0.9", "notes"] {
            let folder = publisher.root.appending(path: "packs/shop/\(name)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        _ = try await publisher.releases.prune(keeping: 1, signedBy: [publisher.key])
        #expect(try folders == ["1.0", "notes"])
    }

    @Test("of an unpublished module, or in an impossible number, cannot be pruned", arguments: [0, -1, 1])
    func refused(_ count: Int) async throws {
        let code = await errorCode {
            try await publisher.releases.prune(module(), keeping: count, signedBy: [publisher.key])
        }
        #expect(code == (count < 1 ? .invalidArgument : .notInstalled))
    }
}

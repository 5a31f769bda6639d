import Foundation
import Synchronization
import Testing

@testable import WaystationPacks

/// A version may be installed twice: damaged and installed again, or published again under its own number.
@Suite("Two copies of one version")
struct SameVersionTests {
    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    /// Installs two packs under the number 1.0; the second one answers.
    private func installTwo() async throws -> (first: ModuleOffer, second: ModuleOffer) {
        let updater = fixture.updater()
        let first = try fixture.publish("1.0", files: ["index.html": "first"])
        _ = try await updater.check(isForced: true)
        let second = try fixture.publish("1.0", files: ["index.html": "second"])
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "second")
        #expect(fixture.library.module(.shop)?.versions.count == 2)
        return (first, second)
    }

    @Test("the offered copy answers, and not another under the same number")
    func offered() async throws {
        var (first, _) = try await installTwo()
        first.isExact = true
        let offer = first
        fixture.server.offers.withLock { $0 = [offer] }
        let report = try await fixture.updater().check(isForced: true)
        guard case .activated? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(try fixture.title() == "first")
        #expect(fixture.server.fetched.count == 2)
    }

    @Test("an app that only names the number gets the sound copy, and of two sound ones the one installed last")
    func named() async throws {
        _ = try await installTwo()
        let version = PackVersion(literal: "1.0")
        try await fixture.library.activate(.shop, version: version)
        #expect(try fixture.title() == "second")
        let folder = try #require(fixture.library.module(.shop)?.active?.root.deletingLastPathComponent())
        await fixture.library.markDamaged(.shop, folder.lastPathComponent, "a file was changed")
        try await fixture.library.activate(.shop, version: version)
        #expect(try fixture.title() == "first")
    }

    @Test("a patch is applied to the copy that it was made for")
    func zipPatch() async throws {
        let first = try fixture.publish("1.0", files: ["index.html": "first"])
        let base = try fixture.server.file("1.0.zip")
        _ = try await fixture.updater().check(isForced: true)
        try fixture.publish("1.0", files: ["index.html": "second"])
        _ = try await fixture.updater().check(isForced: true)
        try fixture.publish("1.1")
        _ = try fixture.server.put(base, at: "1.0.zip")
        try fixture.offerZipPatch(from: "1.0", to: "1.1")
        #expect(first.archive?.digest == PackDigest(of: base))
        let report = try await fixture.updater().check(isForced: true)
        guard case .updated(.zipPatch, _, _)? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(try fixture.title() == "<title>1.1</title>")
    }

    @Test("a content patch uses the sound copy, and an installation returns the sound one")
    func damagedBase() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        let active = try #require(fixture.library.module(.shop)?.active)
        try Data("x".utf8).write(to: active.root.appending(path: "js/same.js"))
        let damaged = active.root.deletingLastPathComponent().lastPathComponent
        await fixture.library.markDamaged(.shop, damaged, "a file was changed")
        let again = fixture.home.root.appending(path: "again.zip")
        try fixture.server.file("1.0.zip").write(to: again)
        // Installed next to the damaged copy, which stays the active one.
        let installed = try await fixture.library.install(zip: again, activating: false)
        #expect(!installed.isDamaged)
        try fixture.publish("1.1")
        try fixture.offerPatch(from: "1.0", to: "1.1")
        let report = try await updater.check(isForced: true)
        guard case .updated(.contentPatch, _, _)? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(try await fixture.library.verify().isEmpty)
    }
}

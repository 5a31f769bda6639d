import Foundation
import Synchronization
import Testing

@testable import WaystationPacks

@Suite("A rollback")
struct RollBackTests {
    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    private func check() async throws { _ = try await fixture.updater().check(isForced: true) }

    /// Lets the server withdraw all versions but one, and checks.
    private func withdrawAll(but version: ModuleOffer) async throws {
        var order = version
        order.isExact = true
        fixture.server.offers.withLock { [order] in $0 = [order] }
        try await check()
    }

    @Test(
        "never leads up to a version that the server withdrew; the module's pages then load online",
        arguments: ["kept", "fetched"]
    )
    func withdrawn(_ way: String) async throws {
        let first = try fixture.publish("1.0")
        if way == "kept" { try await check() }
        try fixture.publish("1.1")
        try await check()
        try await withdrawAll(but: first)
        #expect(try fixture.title() == "<title>1.0</title>")
        #expect(fixture.library.module(.shop)?.previous == nil)
        try await fixture.library.rollBack(.shop, reason: "white page")
        #expect(try fixture.title() == nil)
        #expect(fixture.library.module(.shop)?.active == nil)
    }

    @Test("or a confirmation of a version changes nothing if another version is active by now")
    func otherVersion() async throws {
        let updater = fixture.updater { $0.healthWindow = .seconds(10) }
        let (one, two) = (PackVersion(literal: "1.0"), PackVersion(literal: "1.1"))
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        try await fixture.library.confirm(.shop, version: one)
        try await fixture.library.rollBack(.shop, version: one, reason: "white page")
        #expect(try fixture.title() == "<title>1.1</title>")
        guard case .trial? = fixture.library.module(.shop)?.active?.health else {
            Issue.record("the confirmation of 1.0 ended the trial of 1.1")
            return
        }
        #expect(!fixture.home.events.contains { $0.hasPrefix("rolledBack") })
        try await fixture.library.confirm(.shop, version: two)
        #expect(fixture.library.module(.shop)?.active?.health == .confirmed)
        try await fixture.library.rollBack(.shop, version: two, reason: "white page")
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("skips the withdrawn version even after the next one was installed")
    func after() async throws {
        let first = try fixture.publish("1.0")
        try await check()
        try fixture.publish("1.1")
        try await check()
        try await withdrawAll(but: first)
        try fixture.publish("1.2")
        try await check()
        #expect(try fixture.title() == "<title>1.2</title>")
        try await fixture.library.rollBack(.shop, reason: "white page")
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("does not lead to another pack under the same number that the server withdrew")
    func sameNumber() async throws {
        let first = try fixture.publish("1.0", files: ["index.html": "first"])
        try await check()
        try fixture.publish("1.0", files: ["index.html": "second"])
        try await check()
        #expect(try fixture.title() == "second")
        try await withdrawAll(but: first)
        #expect(try fixture.title() == "first")
        try await fixture.library.rollBack(.shop, reason: "white page")
        #expect(try fixture.title() == nil)
    }

    @Test("does not lead up if a record names a higher version as the previous one")
    func olderRecord() async throws {
        try fixture.publish("1.0")
        try await check()
        try fixture.publish("1.1")
        try await check()
        try await fixture.library.update(.shop) { _, record in
            (record.active, record.previous) = (record.previous, record.active)
        }
        let library = try fixture.home.library()
        #expect(try fixture.home.text("https://shop.example/app/", in: library) == "<title>1.0</title>")
        try await library.rollBack(.shop, reason: "white page")
        #expect(library.module(.shop)?.active == nil)
    }

    /// Damage that is found when a version is to be activated.
    enum Damage: CaseIterable { case missingManifest, changedManifest, missingFiles }

    private func damage(_ pack: InstalledPack, by damage: Damage) throws {
        let manifest = pack.root.deletingLastPathComponent().appending(path: "manifest.json")
        switch damage {
        case .missingManifest: try FileManager.default.removeItem(at: manifest)
        case .changedManifest: try Data("{}".utf8).write(to: manifest)
        case .missingFiles: try FileManager.default.removeItem(at: pack.root)
        }
    }

    @Test(
        "that the server orders fetches the version again if its installed files are damaged",
        arguments: Damage.allCases
    )
    func damagedTarget(_ damage: Damage) async throws {
        var first = try fixture.publish("1.0")
        try await check()
        try fixture.publish("1.1")
        try await check()
        try self.damage(try #require(fixture.library.module(.shop)?.previous), by: damage)
        first.isExact = true
        let order = first
        fixture.server.offers.withLock { $0 = [order] }
        let report = try await fixture.updater().check(isForced: true)
        guard case .updated(.whole, _, _)? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(try fixture.title() == "<title>1.0</title>")
        #expect(fixture.home.events.contains("damaged 1.0"))
        #expect(try await fixture.library.verify().isEmpty)
    }

    @Test("to a damaged version changes nothing when the app asks for it, except that the version is marked")
    func damagedWish() async throws {
        try fixture.publish("1.0")
        try await check()
        try fixture.publish("1.1")
        try await check()
        try damage(try #require(fixture.library.module(.shop)?.previous), by: .missingManifest)
        let code = await errorCode {
            try await fixture.library.activate(.shop, version: PackVersion(literal: "1.0"))
        }
        #expect(code == .damaged)
        #expect(try fixture.title() == "<title>1.1</title>")
        #expect(fixture.library.module(.shop)?.previous?.isDamaged == true)
    }
}

import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import WaystationPacks

@Suite("The switches of a module")
struct SwitchTests {
    /// A reason for which an offered version cannot be installed.
    enum Obstacle: String, CaseIterable, Sendable {
        case missingFile, networkCondition, failedBefore, appTooOld, brokenOff
    }

    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    /// Makes the server send this offer, with the module switched on or off.
    private func offer(_ offer: ModuleOffer, isActive: Bool = true) {
        var offer = offer
        offer.isActive = isActive
        let offered = offer
        fixture.server.offers.withLock { $0 = [offered] }
    }

    /// Publishes 1.0 and installs it by a check.
    private func installFirst(_ updater: PackUpdater) async throws -> ModuleOffer {
        let first = try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
        return first
    }

    @Test(
        "A module that the server switches on serves its installed version if the offered one cannot be installed",
        arguments: Obstacle.allCases
    )
    func serverSwitchesOn(_ obstacle: Obstacle) async throws {
        let updater = fixture.updater { $0.networkProbe = MeteredNetwork() }
        let first = try await installFirst(updater)
        var next = try fixture.publish("1.1")
        switch obstacle {
        case .missingFile: fixture.server.refusals.withLock { $0["1.1.zip"] = (404, [:]) }
        case .networkCondition: next.network = .unmetered
        case .failedBefore:
            _ = try fixture.server.put(Data("damaged".utf8), at: "1.1.zip")
            _ = try await updater.check(isForced: true)
        case .appTooOld: next.minimumAppVersion = PackVersion(literal: "6.0")
        case .brokenOff: fixture.server.cut.withLock { $0 = ["1.1.zip"] }
        }
        offer(first, isActive: false)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == nil)
        offer(next)
        let report = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>", "\(report)")
        #expect(fixture.home.events.contains("enabled -"))
        #expect(try fixture.home.text("https://shop.example/app/", in: fixture.home.library()) != nil)
    }

    @Test("A module that the server switches on serves before the first byte of another version arrives")
    func servesAtOnce() async throws {
        let updater = fixture.updater()
        let first = try await installFirst(updater)
        offer(first, isActive: false)
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        let (library, home) = (fixture.library, fixture.home)
        fixture.server.duringFetch.withLock {
            $0 = {
                #expect((try? home.text("https://shop.example/app/", in: library)) == "<title>1.0</title>")
            }
        }
        _ = try await updater.check(isForced: true)
        #expect(fixture.server.fetched == ["1.0.zip", "1.1.zip"])
        #expect(try fixture.title() == "<title>1.1</title>")
    }

    @Test("A module that is switched on with another installed version never serves the one that was active")
    func switchedOnWithAnother() async throws {
        let updater = fixture.updater()
        var first = try await installFirst(updater)
        let next = try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        offer(next, isActive: false)
        _ = try await updater.check(isForced: true)
        first.isExact = true
        offer(first)
        let report = try await updater.check(isForced: true)
        #expect(report.description == "shop 1.1 → 1.0, which was installed")
        #expect(Array(fixture.home.events.suffix(2)) == ["activated 1.0", "enabled -"])
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("A module that the app switched off stays off, whatever the server offers, until the app switches it on")
    func appSwitchesOff() async throws {
        let updater = fixture.updater()
        let first = try await installFirst(updater)
        try await fixture.library.setEnabled(false, .shop)
        offer(first)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == nil)
        offer(first, isActive: false)
        _ = try await updater.check(isForced: true)
        offer(first)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == nil)
        let next = try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == nil)
        offer(next)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.home.text("https://shop.example/app/", in: fixture.home.library()) == nil)
        try await fixture.library.setEnabled(true, .shop)
        #expect(try fixture.title() == "<title>1.1</title>")
    }

    @Test("A module that the server switched off stays off when the app switches it on")
    func serverSwitchesOff() async throws {
        let updater = fixture.updater()
        let first = try await installFirst(updater)
        offer(first, isActive: false)
        _ = try await updater.check(isForced: true)
        try await fixture.library.setEnabled(false, .shop)
        try await fixture.library.setEnabled(true, .shop)
        #expect(try fixture.title() == nil)
        offer(first)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("A module that the app asks for stays off if the server switched it off before its first version came")
    func switchedOffBeforeInstallation() async throws {
        let updater = fixture.updater { $0.modules = [.shop] }
        let first = try fixture.publish("1.0")
        offer(first, isActive: false)
        _ = try await updater.check(isForced: true)
        #expect(fixture.server.fetched.isEmpty)
        let zip = fixture.home.root.appending(path: "bundled.zip")
        try fixture.server.file("1.0.zip").write(to: zip)
        try await fixture.library.install(zip: zip)
        #expect(try fixture.title() == nil)
        offer(first)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("A version on trial loses no time while its module is switched off")
    func trial() async throws {
        let updater = fixture.updater {
            $0.healthWindow = .seconds(100)
            $0.healthStarts = 2
        }
        _ = try await installFirst(updater)
        try await fixture.library.confirm(.shop)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        try await fixture.library.setEnabled(false, .shop)
        for _ in 0..<5 {
            fixture.home.advance(1000)
            // Every start would count, and no start can confirm a version that does not answer.
            let library = try fixture.home.library()
            _ = try await fixture.updater(of: library) {
                $0.healthWindow = .seconds(100)
                $0.healthStarts = 2
            }.check(isForced: true)
            _ = try await updater.check(isForced: true)
        }
        fixture.home.advance(1000)
        try await fixture.library.setEnabled(true, .shop)
        fixture.home.advance(99)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.1</title>")
        fixture.home.advance(2)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("A record with only one switch is read as the server's switch")
    func olderRecord() async throws {
        let updater = fixture.updater()
        let first = try await installFirst(updater)
        let file = URL(fileURLWithPath: fixture.home.layout.record(of: .shop))
        let record = try String(contentsOf: file, encoding: .utf8)
        let older = record.replacing("\"isEnabled\":true", with: "\"isEnabled\":false")
        #expect(older != record)
        try Data(older.utf8).write(to: file)
        let library = try fixture.home.library()
        #expect(try fixture.home.text("https://shop.example/app/", in: library) == nil)
        offer(first)
        _ = try await fixture.updater(of: library).check(isForced: true)
        #expect(try fixture.home.text("https://shop.example/app/", in: library) == "<title>1.0</title>")
    }
}

/// A network that fulfils no condition.
private struct MeteredNetwork: NetworkProbe {
    func result(of condition: NetworkCondition) async -> NetworkConditionResult { .unfulfilled }
}

import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("A pack updater")
struct PackUpdaterTests {
    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    private func version(_ text: StaticString) -> PackVersion { PackVersion(literal: text) }

    /// The text of the only outcome of a forced check.
    private func check(_ updater: PackUpdater) async throws -> String {
        let report = try await updater.check(isForced: true)
        return report.outcomes.map(\.description).joined(separator: "\n")
    }

    @Test("fetches the whole pack first, and only the difference later")
    func patching() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        #expect(try await check(updater).hasPrefix("shop none → 1.0 by whole"))
        #expect(try fixture.title() == "<title>1.0</title>")
        let whole = try #require(try fixture.publish("1.1").archive?.size)
        try fixture.offerPatch(from: "1.0", to: "1.1")
        let report = try await updater.check(isForced: true)
        guard case .updated(.contentPatch, let fetched, whole)? = report.outcomes.first?.kind else {
            Issue.record("\(report)")
            return
        }
        #expect(fetched < whole)
        #expect(try fixture.title() == "<title>1.1</title>")
        #expect(try await fixture.library.verify().isEmpty)
        #expect(fixture.server.fetched == ["1.0.zip", "1.0-1.1.patch"])
        #expect(try await check(updater) == "shop 1.1 is up to date")
        #expect(fixture.server.fetched.count == 2)
    }

    @Test("fetches the whole pack in the same check after a damaged patch, and remembers the failed pair")
    func damagedPatch() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        try fixture.offerPatch(from: "1.0", to: "1.1", damaging: true)
        #expect(try await check(updater).hasPrefix("shop 1.0 → 1.1 by whole"))
        #expect(fixture.server.fetched == ["1.0.zip", "1.0-1.1.patch", "1.1.zip"])
        try await fixture.library.activate(.shop, version: version("1.0"))
        // The patch is not tried again; the pack that is already installed is used.
        #expect(try await check(updater) == "shop 1.0 → 1.1, which was installed")
        #expect(fixture.server.fetched.count == 3)
    }

    @Test(
        "asks again for the whole pack if only a patch was offered and failed, and installs what is offered then",
        arguments: ["1.1", "1.2"]
    )
    func askingAgain(_ second: String) async throws {
        let updater = fixture.updater { $0.retryPause = RetryPause(first: .zero) }
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        try fixture.offerPatch(from: "1.0", to: "1.1", damaging: true)
        var patchOnly = try #require(fixture.server.offers.withLock { $0.first })
        patchOnly.archive = nil
        let whole = second == "1.1" ? patchOnly : try fixture.publish("1.2")
        let again = second == "1.1" ? try fixture.publish("1.1") : whole
        let (first, next) = (patchOnly, again)
        fixture.server.answering { $0.modules.first?.version == nil ? [next] : [first] }
        let report = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>\(second)</title>", "\(report)")
    }

    @Test("tries each way once in a check, however short the retry pause is")
    func onceEach() async throws {
        let updater = fixture.updater { $0.retryPause = RetryPause(first: .zero) }
        var offer = try fixture.publish("1.0")
        offer.manifest = PackDigest(of: Data("other".utf8))
        let lie = offer
        fixture.server.offers.withLock { $0 = [lie] }
        #expect(try await check(updater).hasPrefix("shop none stays: damaged"))
        #expect(fixture.server.fetched == ["1.0.zip"])
    }

    @Test(
        "falls back to the whole pack if the installed zip or file that a patch needs is missing",
        arguments: ["zip", "file"]
    )
    func lostBase(_ what: String) async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        let root = try #require(fixture.library.module(.shop)?.active?.root)
        try fixture.publish("1.1")
        if what == "zip" {
            try FileManager.default.removeItem(at: root.deletingLastPathComponent().appending(path: "archive.zip"))
            try fixture.offerZipPatch(from: "1.0", to: "1.1")
        } else {
            try fixture.offerPatch(from: "1.0", to: "1.1")
            // A check of each file's status does not find this.
            let file = root.appending(path: "js/app.js")
            var bytes = try Data(contentsOf: file)
            bytes[0] ^= 1
            try bytes.write(to: file)
        }
        #expect(try await check(updater).hasPrefix("shop 1.0 → 1.1 by whole"))
    }

    /// An updater whose first check was cancelled while it fetched the version 1.0.
    private func interruptedUpdater() async throws -> PackUpdater {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        let server = fixture.server
        let checking = Task { try await updater.check() }
        server.duringFetch.withLock { $0 = { checking.cancel() } }
        _ = try? await checking.value
        server.duringFetch.withLock { $0 = nil }
        return updater
    }

    @Test("continues an interrupted update, without waiting for the interval")
    func unfinished() async throws {
        let updater = try await interruptedUpdater()
        #expect(try fixture.title() == nil)
        #expect(try await updater.check().throttledUntil == nil)
        #expect(try fixture.title() == "<title>1.0</title>")
        #expect(try await updater.check().throttledUntil != nil)
    }

    @Test("does not put a version on trial again that the app confirmed before")
    func confirmedBefore() async throws {
        let updater = fixture.updater { $0.healthWindow = .seconds(10) }
        var first = try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try await fixture.library.confirm(.shop)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        try await fixture.library.confirm(.shop)
        first.isExact = true
        let order = first
        fixture.server.offers.withLock { $0 = [order] }
        _ = try await updater.check(isForced: true)
        #expect(fixture.library.module(.shop)?.active?.health == .confirmed)
    }

    @Test("respects a confirmation by another process")
    func confirmedElsewhere() async throws {
        let updater = fixture.updater { $0.healthWindow = .seconds(10) }
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try await fixture.home.library().confirm(.shop)
        fixture.home.advance(60)
        #expect(try await check(updater) == "shop 1.0 is up to date")
    }

    @Test("refuses a whitelist that is too long for the record, and can be opened again")
    func longWhitelist() async throws {
        let updater = fixture.updater()
        var offer = try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        offer.whitelist = Array(repeating: "https://a/", count: 400_000)
        let long = offer
        fixture.server.offers.withLock { $0 = [long] }
        let report = try await updater.check(isForced: true)
        #expect(report.failures.first?.error.code == .tooLarge, "\(report)")
        #expect(try fixture.home.text("https://shop.example/app/", in: fixture.home.library()) == "<title>1.0</title>")
    }

    @Test("keeps the active version if the pack is not the announced one")
    func lies() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        for lie in ["digest", "version", "module", "manifest"] {
            var offer = try fixture.publish("2.0")
            switch lie {
            case "digest": offer.archive?.digest = PackDigest(of: Data("other".utf8))
            case "version": offer.version = version("3.0")
            case "module":
                offer = try fixture.publish(
                    "2.0",
                    as: PackDescription(module: ModuleID(literal: "other"), version: version("2.0"), baseURLs: [])
                )
            default: offer.manifest = PackDigest(of: Data("other".utf8))
            }
            fixture.server.offers.withLock { $0 = [offer] }
            let report = try await updater.check(isForced: true)
            guard case .failed(let error)? = report.outcomes.first?.kind else {
                Issue.record("\(lie): \(report)")
                continue
            }
            #expect(error.code == .damaged, "\(lie)")
            #expect(try fixture.title() == "<title>1.0</title>", "\(lie)")
            fixture.home.advance(90_000)
        }
    }

    @Test("asks once in five minutes, and at once when forced")
    func throttle() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        #expect(try await updater.check().throttledUntil == nil)
        #expect(try await updater.check().throttledUntil != nil)
        #expect(fixture.server.inquiries.withLock { $0.count } == 1)
        #expect(try await updater.check(isForced: true).throttledUntil == nil)
        fixture.home.advance(331)
        #expect(try await fixture.updater().check().throttledUntil == nil)
        #expect(fixture.server.inquiries.withLock { $0.count } == 3)
    }

    @Test("waits for the time that a refusing server states")
    func retryAfter() async throws {
        let updater = fixture.updater()
        fixture.server.failure.withLock { $0 = PackError(.refused, "busy", retryAfter: .seconds(4000)) }
        await #expect(throws: PackError.self) { try await updater.check() }
        fixture.server.failure.withLock { $0 = nil }
        fixture.home.advance(3900)
        #expect(try await updater.check().throttledUntil != nil)
        fixture.home.advance(200)
        #expect(try await updater.check().throttledUntil == nil)
    }

    @Test("waits for the time that a refusing server states, also after an update that was interrupted")
    func retryAfterInterruption() async throws {
        let updater = try await interruptedUpdater()
        let server = fixture.server
        server.failure.withLock { $0 = PackError(.refused, "busy", retryAfter: .seconds(4000)) }
        await #expect(throws: PackError.self) { try await updater.check() }
        server.failure.withLock { $0 = nil }
        fixture.home.advance(3900)
        #expect(try await updater.check().throttledUntil != nil)
        #expect(server.inquiries.withLock { $0.count } == 2)
        fixture.home.advance(200)
        #expect(try await updater.check().throttledUntil == nil)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("continues without waiting after a check that was cancelled while the server was asked")
    func cancelledWhileAsking() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        fixture.server.gate.withLock {
            $0 = {
                start.yield()
                // Ends when the check is cancelled.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
        fixture.server.failure.withLock { $0 = PackError(.cancelled, "the request was cancelled") }
        let checking = Task { try await updater.check() }
        for await _ in started { break }
        checking.cancel()
        await #expect(throws: PackError.self) { try await checking.value }
        fixture.server.gate.withLock { $0 = nil }
        fixture.server.failure.withLock { $0 = nil }
        #expect(try await updater.check().throttledUntil == nil)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("rolls back a version that the app did not confirm in time, and tries it again a day later")
    func health() async throws {
        let updater = fixture.updater { $0.healthWindow = .seconds(10) }
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try await fixture.library.confirm(.shop)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        fixture.home.advance(9)
        #expect(try await check(updater) == "shop 1.1 is up to date")
        fixture.home.advance(2)
        #expect(
            try await check(updater).hasPrefix("shop 1.0 stays: the offered version failed before; the next try is at ")
        )
        #expect(try fixture.title() == "<title>1.0</title>")
        #expect(fixture.home.details.contains { $0.contains("did not confirm") })
        fixture.home.advance(86_400)
        #expect(try await check(updater) == "shop 1.0 → 1.1, which was installed")
        guard case .trial? = fixture.library.module(.shop)?.active?.health else {
            Issue.record("the version that is tried again is not on trial")
            return
        }
        try await fixture.library.confirm(.shop)
        fixture.home.advance(1000)
        #expect(try await check(updater) == "shop 1.1 is up to date")
    }

    @Test("skips a version for a while that the app reported bad, but installs the next one")
    func reportedBad() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        try await fixture.library.rollBack(.shop, reason: "white page")
        #expect(try await check(updater).hasPrefix("shop 1.0 stays"))
        try fixture.publish("1.2")
        #expect(try await check(updater).hasPrefix("shop 1.0 → 1.2 by whole"))
    }

    @Test("goes back to an installed version if the server orders it")
    func orderedRollBack() async throws {
        let updater = fixture.updater()
        var first = try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1")
        _ = try await updater.check(isForced: true)
        fixture.server.offers.withLock { $0 = [first] }
        #expect(
            try await check(updater)
                == "shop 1.1 stays: a higher version is in use, and the server does not order a rollback"
        )
        first.isExact = true
        fixture.server.offers.withLock { $0 = [first] }
        #expect(try await check(updater) == "shop 1.1 → 1.0, which was installed")
        #expect(try fixture.title() == "<title>1.0</title>")
        #expect(fixture.server.fetched == ["1.0.zip", "1.1.zip"])
    }

    @Test("switches a module off and on when the server says so")
    func disabling() async throws {
        let updater = fixture.updater()
        var offer = try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        offer.isActive = false
        fixture.server.offers.withLock { $0 = [offer] }
        #expect(try await check(updater) == "shop 1.0 switched off")
        #expect(try fixture.title() == nil)
        offer.isActive = true
        fixture.server.offers.withLock { $0 = [offer] }
        #expect(try await check(updater) == "shop 1.0 switched on")
        #expect(try fixture.title() == "<title>1.0</title>")
        #expect(fixture.server.fetched == ["1.0.zip"])
    }

    @Test("stops serving a version below the minimum before the new one has arrived")
    func minimumVersion() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        var offer = try fixture.publish("1.1")
        offer.minimumVersion = version("1.1")
        offer.minimumAppVersion = version("6.0")
        fixture.server.offers.withLock { $0 = [offer] }
        #expect(try await check(updater).contains("stays"))
        #expect(try fixture.title() == nil)
        offer.minimumAppVersion = nil
        fixture.server.offers.withLock { $0 = [offer] }
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.1</title>")
    }

    @Test("fetches a damaged or missing version again", arguments: ["cut", "removed", "found by digest"])
    func damage(_ way: String) async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        let file = try #require(fixture.library.module(.shop)?.active?.root.appending(path: "js/app.js"))
        switch way {
        case "cut": try Data("x".utf8).write(to: file)
        case "removed": try FileManager.default.removeItem(at: file)
        default:
            var bytes = try Data(contentsOf: file)
            bytes[9] ^= 1
            try bytes.write(to: file)
            _ = try await fixture.library.verify()
        }
        #expect(try await check(updater).hasPrefix("shop 1.0 → 1.0 by whole"))
        #expect(try await fixture.library.verify().isEmpty)
        #expect(fixture.library.module(.shop)?.active?.isDamaged == false)
    }

    @Test("does not mark a version as damaged while the process cannot read its files")
    func unreadable() async throws {
        let failing = Mutex(false)
        let fixture = try UpdateFixture(
            FaultyFileSystem { operation, path in
                guard operation == .status, path.hasSuffix("/files/js/app.js"), failing.withLock({ $0 }) else { return }
                throw FileError("open", path, code: EMFILE)
            }
        )
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        failing.withLock { $0 = true }
        #expect(try await check(updater) == "shop 1.0 is up to date")
        #expect(fixture.library.module(.shop)?.active?.isDamaged == false)
        #expect(fixture.home.details.contains { $0.contains("Too many open files") })
        failing.withLock { $0 = false }
        #expect(try await check(updater) == "shop 1.0 is up to date")
        #expect(fixture.server.fetched == ["1.0.zip"])
    }

    @Test("keeps a partial download for the next check, and discards it if another version is offered")
    func parts() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        fixture.server.cut.withLock { $0 = ["1.0.zip"] }
        #expect(try await check(updater).hasPrefix("shop none stays: interrupted"))
        let downloads = fixture.home.layout.downloads
        #expect(try !FileManager.default.contentsOfDirectory(atPath: downloads).isEmpty)
        try fixture.publish("1.1")
        #expect(try await check(updater).hasPrefix("shop none → 1.1 by whole"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: downloads).isEmpty)
    }

    @Test("runs one check at a time")
    func oneAtATime() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        try await withThrowingTaskGroup(of: UpdateReport.self) { group in
            for _ in 0..<8 { group.addTask { try await updater.check(isForced: false) } }
            for try await _ in group {}
        }
        #expect(fixture.server.fetched == ["1.0.zip"])
        #expect(fixture.server.inquiries.withLock { $0.count } == 1)
    }

    @Test("runs another check for callers that ask again, however many received the first result")
    func askedAgain() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        let callers = 2_000
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let server = fixture.server
        let hold: @Sendable () async -> Void = {
            server.gate.withLock { $0 = nil }
            for await _ in arrivals.prefix(callers) {}
        }
        server.gate.withLock { $0 = hold }
        let stale = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    arrival.yield()
                    _ = try await updater.check(isForced: true)
                    return try await updater.check(isForced: true).outcomes.contains { outcome in
                        if case .updated = outcome.kind { true } else { false }
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(stale == 0)
    }

    @Test("returns to a cancelled caller at once, and continues for the others")
    func cancelledCaller() async throws {
        let updater = fixture.updater()
        try fixture.publish("1.0")
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        fixture.server.gate.withLock {
            $0 = {
                start.yield()
                for await _ in released { break }
            }
        }
        let one = Task { try await updater.check(isForced: true) }
        for await _ in started { break }
        let other = Task { try await updater.check(isForced: true) }
        one.cancel()
        await #expect(throws: PackError.self) { try await one.value }
        release.yield()
        #expect(try await other.value.outcomes.count == 1)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("does not work while another updater uses the same directory")
    func twoUpdaters() async throws {
        try fixture.publish("1.0")
        let lock = try LocalFileSystem().waitForLock(fixture.home.layout.updaterLock)
        let error = await #expect(throws: PackError.self) { try await fixture.updater().check() }
        #expect(error?.code == .busy)
        withExtendedLifetime(lock) {}
    }

    @Test("reports its progress")
    func progress() async throws {
        try fixture.publish("1.0")
        let phases = Mutex<[UpdateProgress.Phase]>([])
        _ = try await fixture.updater().check(isForced: true) { progress in
            phases.withLock { $0.append(progress.phase) }
        }
        let told = phases.withLock { $0 }
        #expect(told.contains { if case .downloading(let done, let all?) = $0 { done == all } else { false } })
        #expect(told.contains { if case .unpacking(let done, let all, _, _) = $0 { done == all } else { false } })
    }

    @Test(
        "takes the version of a pack without a manifest from its file name",
        arguments: [
            ("shop-1.4.2.zip", "1.4.2"), ("1.10.zip", "1.10"), ("shop_v2-3.0.1.zip", "3.0.1"),
            ("h5-2.0-beta.1.zip", "2.0-beta.1"),
        ]
    )
    func nameOfFile(_ name: String, _ expected: String) throws {
        let url = try #require(URL(string: "https://packs.example/\(name)"))
        let description = PackDescription(of: ModuleOffer(.shop, archive: Artifact(url: url)))
        #expect(description?.version.description == expected)
    }
}

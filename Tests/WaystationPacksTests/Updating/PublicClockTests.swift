import Foundation
import Synchronization
import Testing
import WaystationPacks
import WaystationTestSupport

/// Uses only public declarations, as the tests of an app do.
@Suite("With a clock of its own")
struct PublicClockTests {
    private struct Offer: PackSource {
        let offer: ModuleOffer
        func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer { UpdateAnswer(offers: [offer]) }
    }

    private let root: TemporaryDirectory
    private let clock = SteppedClock()
    private let start: ContinuousClock.Instant

    init() throws {
        root = try TemporaryDirectory()
        start = clock.now
    }

    private var now: @Sendable () -> Date {
        { [clock, start] in
            Date(timeIntervalSince1970: 1_800_000_000 + (start.duration(to: clock.now) / .seconds(1)))
        }
    }

    private func pack(_ version: String) throws -> URL {
        let zip = root.url.appending(path: "\(version).zip")
        let folder = root.url.appending(path: version)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(version.utf8).write(to: folder.appending(path: "index.html"))
        let module = try #require(ModuleID("shop"))
        let number = try #require(PackVersion(version))
        let description = PackDescription(module: module, version: number, baseURLs: ["https://shop.example/"])
        try PackBuilder.build(folder: folder, as: description, to: zip)
        return zip
    }

    @Test("a test decides when a check is due, and when a trial and the day after it are over")
    func driven() async throws {
        let library = try PackLibrary(directory: root.url.appending(path: "library"), now: now, clock: clock)
        let shop = try #require(ModuleID("shop"))
        let (first, next) = (try #require(PackVersion("1.0")), try #require(PackVersion("1.1")))
        let installed = try await library.install(zip: pack("1.0"))
        #expect(installed.installed == now())
        let server = ScriptedServer()
        let archive = try server.put(Data(contentsOf: pack("1.1")), at: "1.1.zip")
        server.offers.withLock { $0 = [ModuleOffer(shop, version: next, archive: archive)] }
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = server
        configuration.planner.reservedSpace = 0
        configuration.healthWindow = .seconds(3600)
        configuration.interval = .init(.seconds(300), jitter: 0)
        let updater = PackUpdater(
            library: library,
            source: server,
            app: AppIdentity(code: "shop", version: first),
            configuration: configuration
        )
        _ = try await updater.check()
        #expect(library.module(shop)?.active?.version == next)
        #expect(try await updater.check().throttledUntil == now().addingTimeInterval(300))
        clock.advance(by: .seconds(3600))
        #expect(try await updater.check().throttledUntil == nil)
        #expect(library.module(shop)?.active?.version == next)
        clock.advance(by: .seconds(301))
        _ = try await updater.check()
        #expect(library.module(shop)?.active?.version == first)
        clock.advance(by: .seconds(86_000))
        _ = try await updater.check()
        #expect(library.module(shop)?.active?.version == first)
        clock.advance(by: .seconds(500))
        _ = try await updater.check()
        #expect(library.module(shop)?.active?.version == next)
    }

    @Test("an updater may have another wall clock than its library")
    func updaterAlone() async throws {
        let library = try PackLibrary(directory: root.url.appending(path: "library"))
        let shop = try #require(ModuleID("shop"))
        let updater = PackUpdater(
            library: library,
            source: Offer(offer: ModuleOffer(shop)),
            app: AppIdentity(code: "shop", version: try #require(PackVersion("1"))),
            now: now
        )
        #expect(try await updater.check().throttledUntil == nil)
        #expect(
            try await updater.check().throttledUntil.map { $0 > now() && $0 < now().addingTimeInterval(331) } == true
        )
        clock.advance(by: .seconds(331))
        #expect(try await updater.check().throttledUntil == nil)
    }
}

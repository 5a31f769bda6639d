import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("After a kill in the middle of an update")
struct OfflineAfterKillTests {
    /// The operation at which the process is killed: the first one of this kind on a path that contains this text.
    static let points: [(FaultyFileSystem.Operation, String)] = [
        (.write, "/downloads/"), (.write, "/staging/"), (.synchronizeDirectory, "/staging/"), (.rename, "/staging/"),
    ]

    @Test("the old version loads without a server", arguments: points.indices)
    func old(_ point: Int) async throws {
        let fixture = try UpdateFixture()
        try fixture.publish("1.0")
        _ = try await fixture.updater().check(isForced: true)
        try fixture.publish("1.1")
        let zip = fixture.home.root.appending(path: "1.1.zip")
        try fixture.server.file("1.1.zip").write(to: zip)
        let root = fixture.home.root.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, point = point as Int] in
            try await Self.updateAndDie(in: URL(fileURLWithPath: root, isDirectory: true), at: Self.points[point])
        }
        let library = try fixture.home.library()
        fixture.server.failure.withLock { $0 = PackError(.network, "there is no network") }
        let error = await #expect(throws: PackError.self) {
            try await fixture.updater(of: library).check(isForced: true)
        }
        #expect(error?.code == .network)
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "1.0"))
        for (path, text) in UpdateFixture.files("1.0") {
            #expect(try fixture.home.text("https://shop.example/app/\(path)", in: library) == text)
        }
        #expect(try await library.verify().isEmpty)
    }

    private static func updateAndDie(in root: URL, at point: (FaultyFileSystem.Operation, String)) async throws {
        var environment = PackEnvironment()
        environment.fileSystem = FaultyFileSystem { operation, path in
            if operation == point.0, path.contains(point.1) { kill(getpid(), SIGKILL) }
        }
        let library = try PackLibrary(directory: root.appending(path: "library"), environment: environment)
        let server = ScriptedServer()
        var offer = ModuleOffer(.shop, version: PackVersion(literal: "1.1"))
        offer.archive = try server.put(Data(contentsOf: root.appending(path: "1.1.zip")), at: "1.1.zip")
        let offered = offer
        server.offers.withLock { $0 = [offered] }
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = server
        configuration.planner.reservedSpace = 0
        let app = AppIdentity(code: "shop", version: PackVersion(literal: "5.0"))
        let updater = PackUpdater(library: library, source: server, app: app, configuration: configuration)
        _ = try await updater.check(isForced: true)
    }
}

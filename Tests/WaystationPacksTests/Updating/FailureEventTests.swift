import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("The failure of one module's update")
struct FailureEventTests {
    enum End: CaseIterable, Sendable { case cancelled, diskFull }

    @Test("is an event also if the check itself is cancelled or fails after it", arguments: End.allCases)
    func told(end: End) async throws {
        let isFull = Mutex(false)
        let fixture = try UpdateFixture(
            FaultyFileSystem { _, path in
                guard path.contains("/updater.json"), isFull.withLock({ $0 }) else { return }
                throw FileError("write", path, code: ENOSPC)
            }
        )
        let shop = try fixture.publish("1.0")
        var news = ModuleOffer(try #require(ModuleID("news")), version: PackVersion("1.0"))
        news.archive = try fixture.server.put(Data("news".utf8), at: "news.zip")
        fixture.server.offers.withLock { $0 = [shop, news] }
        fixture.server.refusals.withLock { $0["1.0.zip"] = (404, [:]) }
        let updater = fixture.updater()
        let check = Task { try await updater.check(isForced: true) }
        fixture.server.duringFetch.withLock {
            $0 = { [server = fixture.server] in
                guard server.fetched.last == "news.zip" else { return }
                if end == .cancelled { check.cancel() } else { isFull.withLock { $0 = true } }
            }
        }
        let error = await #expect(throws: PackError.self) { try await check.value }
        #expect(error?.code == (end == .cancelled ? .cancelled : .noSpace))
        #expect(fixture.home.events.contains("updateFailed -"))
    }
}

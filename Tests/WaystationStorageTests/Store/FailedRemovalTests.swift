import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("A removal that fails")
struct FailedRemovalTests {
    private let fixture: StoreFixture
    private let delays = DrivenDelays()

    init() throws { fixture = try StoreFixture() }

    /// A store whose removal of the response of `a` has failed, because another process held the index.
    private func storeAfterFailure() async throws -> ResponseStore {
        let store = fixture.store {
            $0.busyTimeout = 0.01
            delays.drive(&$0)
        }
        try await store.store(.get("a"), .random(10))
        try await store.store(.get("b"), .random(20))
        #expect(await store.lookup(.get("a")).count == 1)
        await store.flush()
        let holder = try fixture.holdIndex()
        await #expect(throws: StoreError.self) { try await store.remove(.url(RequestKey.get("a").url)) }
        try holder.use { try $0.execute("ROLLBACK") }
        return store
    }

    /// Whether the response of `a` is on disk, for this process and all others.
    private func isOnDisk() async -> Bool { await !fixture.store().lookup(.get("a")).isEmpty }

    @Test("hides the responses in memory and on disk, and no others")
    func hidden() async throws {
        let store = try await storeAfterFailure()
        #expect(store.resident(.get("a")) == nil)
        #expect(store.lookUpInMemory(.get("a"))?.isEmpty ?? true)
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(store.resident(.get("a")) == nil)
        #expect(try await store.bodies(.get("b")) == [.random(20)])
    }

    @Test("is completed before the next change, so that a new response is found")
    func nextChange() async throws {
        let store = try await storeAfterFailure()
        try await store.store(.get("b"), .random(30))
        #expect(await !isOnDisk())
        try await store.store(.get("a"), .random(40))
        #expect(try await store.bodies(.get("a")) == [.random(40)])
        #expect(store.resident(.get("a"))?.count == 1)
    }

    @Test("is completed before a large response is stored")
    func largeResponse() async throws {
        let store = try await storeAfterFailure()
        try await store.store(.get("b"), .random(100_000))
        #expect(await !isOnDisk())
    }

    @Test("is completed before a response is freshened")
    func freshening() async throws {
        let store = try await storeAfterFailure()
        let response = try #require(await store.lookup(.get("b")).first)
        let clock = fixture.clock
        let isStored = await withCheckedContinuation { continuation in
            store.freshen(response, headerFields: [:], requestTime: clock.now, responseTime: clock.now) {
                continuation.resume(returning: $0)
            }
            store.writeGathered()
        }
        #expect(try isStored.get())
        #expect(await !isOnDisk())
    }

    @Test("is tried again after 30 s without another change")
    func later() async throws {
        let store = try await storeAfterFailure()
        #expect(await isOnDisk())
        delays.end { $0 == 30 }
        await store.settle()
        #expect(await !isOnDisk())
    }

    @Test("because the store does not work is completed when it opens")
    func opening() async throws {
        try await fixture.store().store(.get("a"), .random(10))
        let isBroken = Switch(true)
        let store = fixture.store(fileSystem: FaultyFileSystem.failing([.createDirectory], with: EIO, while: isBroken))
        await #expect(throws: StoreError.self) { try await store.remove(.all) }
        isBroken.value = false
        fixture.clock.advance(.seconds(31))
        #expect(await store.lookup(.get("a")).isEmpty)
        await store.flush()
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(await !isOnDisk())
    }
}

import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("An idle store", .timeLimit(.minutes(10)))
struct CleanUpTests {
    private let fixture: StoreFixture
    private let delays = DrivenDelays()

    init() throws { fixture = try StoreFixture() }

    private func store(keeping age: Duration) -> ResponseStore {
        fixture.store(limits: StoreLimits(maximumAge: age)) { delays.drive(&$0) }
    }

    /// The delays of clean-ups: those of gathered writes and of the rest are shorter, and those of the look-up timer
    /// longer.
    private var cleanUps: [Double] { delays.durations.filter { (10...60).contains($0) } }

    /// Lets the next clean-up run.
    private func pass(in store: ResponseStore) async {
        delays.end()
        await store.flush()
    }

    @Test("removes expired responses within a minute, and schedules no clean-up when it is empty")
    func expiry() async throws {
        let store = store(keeping: .seconds(2))
        try await store.store(.get("a"), .random(10))
        try await store.store(.get("b"), .random(100_000))
        await store.flush()
        #expect(cleanUps == [10])
        fixture.clock.advance(.seconds(10))
        await pass(in: store)
        #expect(await store.statistics().entries == 0)
        #expect(fixture.events.of(.expired).map(\.count) == [2])
        #expect(fixture.files(in: "bodies").isEmpty)
        await pass(in: store)
        #expect(cleanUps == [10])
    }

    @Test("cleans up when its oldest response expires, and after a minute at the latest")
    func pace() async throws {
        let store = store(keeping: .seconds(100))
        try await store.store(.get("a"), .random(10))
        await store.flush()
        fixture.clock.advance(.seconds(60))
        await pass(in: store)
        fixture.clock.advance(.seconds(30))
        try await store.store(.get("b"), .random(10))
        await pass(in: store)
        #expect(cleanUps == [60, 40, 10])
        fixture.clock.advance(.seconds(11))
        await pass(in: store)
        #expect(await store.lookup(.get("b")).count == 1)
        #expect(fixture.events.of(.expired).map(\.count) == [1])
        #expect(cleanUps == [60, 40, 10, 60])
    }

    @Test("removes what an earlier process left behind")
    func earlierProcess() async throws {
        try await fixture.store().store(.get("a"), .random(10))
        let store = store(keeping: .seconds(20))
        await store.flush()
        #expect(cleanUps == [20])
        fixture.clock.advance(.seconds(21))
        await pass(in: store)
        #expect(fixture.events.of(.expired).count == 1)
    }

    @Test("tries again to remove expired responses when another process held the index for too long")
    func heldIndex() async throws {
        let store = fixture.store(limits: StoreLimits(maximumAge: .seconds(2))) {
            delays.drive(&$0)
            $0.busyTimeout = 0.01
        }
        try await store.store(.get("a"), .random(10))
        await store.flush()
        fixture.clock.advance(.seconds(10))
        let holder = try fixture.holdIndex()
        await pass(in: store)
        #expect(fixture.events.of(.unavailable).count == 1)
        #expect(cleanUps == [10, 60])
        try holder.use { try $0.execute("ROLLBACK") }
        await pass(in: store)
        #expect(fixture.events.of(.expired).map(\.count) == [1])
        #expect(cleanUps == [10, 60])
    }

    @Test("that is empty, or keeps responses for ever, schedules no clean-up")
    func nothingToDo() async throws {
        let empty = store(keeping: .seconds(2))
        await empty.flush()
        #expect(cleanUps.isEmpty)
        let eternal = store(keeping: StoreLimits.unlimited.maximumAge)
        try await eternal.store(.get("a"), .random(10))
        await eternal.flush()
        #expect(cleanUps.isEmpty)
    }

    /// Returns when no work on the store's queues holds a reference to it.
    private func drain(_ store: ResponseStore) {
        for queue in [store.readQueue, store.writeQueue, store.watchQueue] { queue.sync {} }
    }

    @Test("is deallocated with its owner's last reference, even if a clean-up is still scheduled")
    func lifetime() async throws {
        weak var store: ResponseStore?
        do {
            let strong = self.store(keeping: .seconds(2))
            try await strong.store(.get("a"), .random(10))
            await strong.flush()
            // Once the interval of gathered writes is over, only the clean-up and the rest are still scheduled.
            delays.end(where: { $0 < 1 })
            drain(strong)
            store = strong
        }
        #expect(cleanUps == [10])
        #expect(store == nil)
        delays.end()
    }
}

import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Writing together", .timeLimit(.minutes(10)))
struct WritingTogetherTests {
    private let fixture: StoreFixture
    private let delays = DrivenDelays()
    private let watch = IndexWatch()
    private let results = Results()
    /// Makes the index.
    ///
    /// It lives as long as the test, because a store that closes holds the index for a moment.
    private let first: ResponseStore

    init() throws {
        fixture = try StoreFixture()
        first = fixture.store()
    }

    /// A store that has just made a write, so that it gathers the next ones.
    private func busyStore(limits: StoreLimits = StoreLimits(), busyTimeout: Double = 5) async throws -> ResponseStore {
        // The index exists before the watch is set.
        try await first.store(.get("before"), .random(10))
        await first.flush()
        let store = fixture.store(limits: limits) {
            $0.busyTimeout = busyTimeout
            delays.drive(&$0)
            watch.watch(&$0)
        }
        try await store.store(.get("first"), .random(10))
        await store.flush()
        watch.transactions = 0
        return store
    }

    private func commit(_ name: String, _ body: Data = .random(10), vary: VaryKey = .none, to store: ResponseStore) {
        store.write(.get(name), body, vary: vary)?.commit { [results] in results.append(name, $0.map { _ in 1 }) }
    }

    @Test("takes one transaction for the writes of an interval, and calls each completion, in order")
    func together() async throws {
        let store = try await busyStore()
        for name in ["a", "b", "c"] { commit(name, to: store) }
        await store.settle()
        #expect(results.all.isEmpty)
        #expect(await fixture.store().lookup(.get("a")).isEmpty)
        delays.end()
        await store.settle()
        #expect(results.all == ["a", "b", "c"])
        #expect(watch.transactions == 1)
        #expect(fixture.events.of(.stored).suffix(3).map(\.key) == [.get("a"), .get("b"), .get("c")])
        let other = fixture.store()
        for name in ["a", "b", "c"] { #expect(try await other.bodies(.get(name)) == [.random(10)]) }
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("does not wait for an interval after idleness")
    func idleness() async throws {
        let store = try await busyStore()
        delays.end()
        // The delays of clean-ups are longer.
        let intervals = { delays.durations.filter { $0 < 1 } }
        #expect(intervals() == [0.02])
        commit("a", to: store)
        await store.settle()
        #expect(results.all == ["a"])
        #expect(intervals() == [0.02, 0.02])
    }

    @Test("ends early when many writes are gathered")
    func much() async throws {
        let store = try await busyStore()
        for number in 0..<64 { commit("\(number)", to: store) }
        await store.settle()
        #expect(results.all == (0..<64).map { "\($0)" })
        #expect(watch.transactions == 1)
    }

    @Test("gives way to other threads as long as no job waits for it")
    func givingWay() async throws {
        let store = try await busyStore()
        let before = watch.commitsGivingWay.count
        commit("a", to: store)
        delays.end()
        await store.settle()
        commit("b", to: store)
        await store.flush()
        store.writeQueue.suspend()
        for number in 0..<128 { commit("\(number)", to: store) }
        store.writeQueue.resume()
        await store.settle()
        // The interval has ended; a flush waits; the second batch of 64 waits for the first; none waits for the second.
        #expect(watch.commitsGivingWay.dropFirst(before) == [true, false, false, true])
    }

    @Test("does not delay callers that wait for the result")
    func waiting() async throws {
        let store = try await busyStore()
        commit("a", to: store)
        try await store.store(.get("b"), .random(10))
        #expect(results.all == ["a"])
        let response = try #require(await store.lookup(.get("b")).first)
        #expect(try await store.remove([response]) == 1)
    }

    @Test("keeps the order of requests: before later ones, and after earlier ones")
    func order() async throws {
        let store = try await busyStore()
        commit("a", .random(10, seed: 1), to: store)
        store.invalidate(url: RequestKey.get("a").url, partition: "") { [results] in results.append("gone", $0) }
        commit("a", .random(10, seed: 2), to: store)
        commit("large", .random(100_000, seed: 1), to: store)
        commit("large", .random(10, seed: 2), to: store)
        #expect(try await store.bodies(.get("a")) == [.random(10, seed: 2)])
        #expect(try await store.bodies(.get("large")) == [.random(10, seed: 2)])
        #expect(results.all == ["a: invalidated", "gone", "a", "large", "large"])
        #expect(fixture.files(in: "bodies").isEmpty)
    }

    @Test(
        "is completed before a look-up of its key, statistics or a flush are",
        arguments: ["look-up", "statistics", "flush"]
    )
    func demands(_ demand: String) async throws {
        let store = try await busyStore()
        commit("a", to: store)
        switch demand {
        case "look-up": #expect(await store.lookup(.get("a")).count == 1)
        case "statistics": #expect(await store.statistics().entries == 3)
        default: await store.flush()
        }
        #expect(results.all == ["a"])
    }

    @Test("does not fail other writes when one of them fails")
    func failure() async throws {
        let store = try await busyStore()
        watch.refuse(.get("b"))
        for name in ["a", "b", "c"] { commit(name, to: store) }
        delays.end()
        await store.settle()
        #expect(results.all == ["a", "b: unavailable", "c"])
        #expect(fixture.events.of(.unavailable).map(\.key) == [.get("b")])
        #expect(fixture.events.of(.stored).suffix(2).map(\.key) == [.get("a"), .get("c")])
        for name in ["a", "c"] { #expect(await store.lookup(.get(name)).count == 1) }
        #expect(await store.lookup(.get("b")).isEmpty)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("reports a write that may not be stored in its turn")
    func refusal() async throws {
        let store = try await busyStore()
        commit("a", to: store)
        let invalidated = try #require(store.write(.get("b"), .random(10)))
        store.invalidate(url: RequestKey.get("b").url, partition: "")
        commit("c", to: store)
        invalidated.commit { [results] in results.append("b", $0.map { _ in 1 }) }
        store.write(.get("d"), .random(10), expecting: 11)?.commit { [results] in results.append("d", $0.map { _ in 1 })
        }
        commit("e", to: store)
        watch.transactions = 0
        delays.end()
        await store.settle()
        #expect(results.all == ["a", "c", "b: invalidated", "d: truncated", "e"])
        #expect(fixture.events.of(.truncated).count == 1)
        #expect(await store.lookup(.get("b")).isEmpty)
    }

    @Test("waits once for another process that holds the index, not once for each write")
    func busy() async throws {
        let store = try await busyStore(busyTimeout: 0.01)
        // The store may still be doing the upkeep after opening.
        let holder = try Connection(Database(path: fixture.layout.index, busyTimeout: 60))
        try holder.use { try $0.execute("BEGIN IMMEDIATE") }
        for name in ["a", "b"] { commit(name, to: store) }
        delays.end()
        await store.settle()
        #expect(results.all == ["a: unavailable", "b: unavailable"])
        #expect(fixture.events.of(.unavailable).map(\.key) == [.get("a"), .get("b")])
        #expect(watch.transactions == 1)
        try holder.use { try $0.execute("ROLLBACK") }
    }

    @Test("keeps the newest variants, replaces, and counts correctly")
    func variants() async throws {
        let store = try await busyStore(limits: StoreLimits(maximumVariants: 3))
        func cookie(_ number: Int) -> VaryKey { VaryKey([.init(name: .cookie, value: "\(number)")]) }
        for number in [0, 1, 2, 1, 3, 4] {
            fixture.clock.advance(.seconds(1))
            commit("a", Data([UInt8(number)]), vary: cookie(number), to: store)
        }
        delays.end()
        await store.settle()
        #expect(watch.transactions == 1)
        #expect(try await store.bodies(.get("a")) == [Data([4]), Data([3]), Data([1])])
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("is followed by eviction when it makes the store too large")
    func eviction() async throws {
        let store = try await busyStore(limits: StoreLimits(maximumSize: .kilobytes(100)))
        for number in 0..<12 { commit("\(number)", .random(10_000), to: store) }
        await store.flush()
        #expect(fixture.events.of(.evicted).count == 1)
        #expect(await store.statistics().bytes <= 80_000)
    }

    @Test("completes the writes of a store that was released")
    func release() async throws {
        var store: ResponseStore? = try await busyStore()
        weak let released = store
        commit("a", to: try #require(store))
        store = nil
        #expect(released != nil)
        delays.end()
        await released?.settle()
        #expect(results.all == ["a"])
        #expect(await fixture.store().lookup(.get("a")).count == 1)
        delays.end()
        #expect(await eventually { released == nil })
    }
}

/// The results that completions received, in order.
private final class Results: Sendable {
    private let entries = Mutex<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func append(_ name: String, _ result: Result<Int, StoreError>) {
        switch result {
        case .success: entries.withLock { $0.append(name) }
        case .failure(let error): entries.withLock { $0.append("\(name): \(error.code)") }
        }
    }
}

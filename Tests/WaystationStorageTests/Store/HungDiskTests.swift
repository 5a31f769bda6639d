import Foundation
import Synchronization
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("A disk that hangs", .timeLimit(.minutes(10)))
struct HungDiskTests {
    private let fixture: StoreFixture
    private let barrier = Barrier()
    private let delays = DrivenDelays()
    private let answers = Answers()

    init() throws { fixture = try StoreFixture() }

    /// A store that contains `small` and `large`, and whose disk hangs while the barrier is closed.
    ///
    /// Only these operations hang, and only on paths that contain the directory.
    private func store(
        hangingIn operations: Set<FaultyFileSystem.Operation>,
        below directory: String = "",
        before: @escaping @Sendable () throws -> Void = {}
    ) async throws -> ResponseStore {
        let filler = fixture.store()
        try await filler.store(.get("small"), .random(10))
        try await filler.store(.get("large"), .random(100_000))
        await filler.flush()
        let path = fixture.layout.root + directory
        let fileSystem = FaultyFileSystem { [barrier] operation, place in
            guard operations.contains(operation), place.hasPrefix(path) else { return }
            barrier.pass()
            try before()
        }
        return fixture.store(fileSystem: fileSystem) {
            $0.lookUpInterval = StoreEnvironment().lookUpInterval
            delays.drive(&$0)
        }
    }

    private func lookUp(_ name: String, in store: ResponseStore) {
        store.lookup(.get(name)) { [answers] in answers.append("\(name): \($0.count)") }
    }

    /// Lets one interval of the timer pass.
    private func pass(in store: ResponseStore) async {
        delays.end()
        await store.settleWatch()
    }

    private var hangs: [StoreEvent] { fixture.events.of(.unavailable) }
    private var recoveries: [StoreEvent] { fixture.events.of(.recovered) }

    @Test("in the first opening makes look-ups miss, first after 10 s and then at once, until the disk continues")
    func opening() async throws {
        barrier.close()
        let store = try await store(hangingIn: [.createDirectory])
        await barrier.arrival()
        lookUp("small", in: store)
        lookUp("large", in: store)
        await pass(in: store)
        #expect(answers.all.isEmpty)
        #expect(hangs.isEmpty)
        await pass(in: store)
        #expect(answers.all == ["small: 0", "large: 0"])
        #expect(hangs.count == 1)
        #expect(hangs.first?.detail.contains(fixture.layout.root) == true)
        lookUp("small", in: store)
        await store.settleWatch()
        #expect(answers.all == ["small: 0", "large: 0", "small: 0"])
        #expect(store.write(.get("new"), .random(10)) == nil)
        barrier.open()
        let statistics = await store.statistics()
        #expect(statistics.misses == 3)
        #expect(statistics.diskHits == 0)
        await store.settleWatch()
        #expect(hangs.count == 1)
        #expect(recoveries.count == 1)
        #expect(await store.lookup(.get("small")).count == 1)
        try await store.store(.get("new"), .random(10))
        #expect(await store.lookup(.get("new")).count == 1)
        #expect(answers.all.count == 3, "each completion is called once")
    }

    @Test("and then fails the opening does not report a recovery; a later successful attempt does")
    func failingOpening() async throws {
        let isBroken = Switch(true)
        barrier.close()
        let store = try await store(hangingIn: [.createDirectory]) {
            if isBroken.value { throw FileError("createDirectory", "", code: EIO) }
        }
        await barrier.arrival()
        lookUp("small", in: store)
        await pass(in: store)
        await pass(in: store)
        barrier.open()
        #expect(await !store.statistics().isAvailable)
        await store.settleWatch()
        #expect(hangs.count == 2)
        #expect(recoveries.isEmpty)
        isBroken.value = false
        fixture.clock.advance(.seconds(31))
        #expect(await store.lookup(.get("small")).isEmpty)
        await store.flush()
        #expect(await store.lookup(.get("small")).count == 1)
        #expect(recoveries.count == 1)
    }

    @Test("in a read makes that look-up and those behind it miss, each after 10 s, and drops the late answer")
    func reading() async throws {
        let store = try await store(hangingIn: [.openFile], below: "/bodies")
        await store.flush()
        barrier.close()
        lookUp("large", in: store)
        await barrier.arrival()
        lookUp("small", in: store)
        await pass(in: store)
        lookUp("none", in: store)
        #expect(answers.all.isEmpty)
        await pass(in: store)
        #expect(answers.all == ["large: 0", "small: 0"])
        await pass(in: store)
        #expect(answers.all == ["large: 0", "small: 0", "none: 0"])
        lookUp("small", in: store)
        await store.settleWatch()
        #expect(answers.all == ["large: 0", "small: 0", "none: 0", "small: 0"])
        #expect(hangs.count == 1)
        barrier.open()
        let statistics = await store.statistics()
        #expect((statistics.diskHits, statistics.misses, statistics.memoryHits) == (0, 4, 0))
        #expect(statistics.residentEntries == 0, "the abandoned look-ups were not read")
        await store.settleWatch()
        #expect(recoveries.count == 1)
        #expect(try await store.bodies(.get("large")) == [.random(100_000)])
        #expect(try await store.bodies(.get("small")) == [.random(10)])
        #expect(answers.all.count == 4, "each completion is called once")
        #expect(hangs.count == 1)
    }

    @Test("in a write makes only the look-ups miss that wait for it")
    func writing() async throws {
        let store = try await store(hangingIn: [.rename])
        await store.flush()
        barrier.close()
        store.write(.get("new"), .random(100_000, seed: 2))?.commit { _ in }
        await barrier.arrival()
        lookUp("new", in: store)
        await pass(in: store)
        await pass(in: store)
        #expect(answers.all == ["new: 0"])
        #expect(hangs.count == 1)
        lookUp("new", in: store)
        await store.settleWatch()
        #expect(answers.all == ["new: 0", "new: 0"])
        lookUp("small", in: store)
        await store.settleLookUps()
        #expect(answers.all == ["new: 0", "new: 0", "small: 1"])
        #expect(recoveries.isEmpty)
        #expect(store.write(.get("other"), .random(10)) == nil)
        barrier.open()
        await store.flush()
        await store.settleLookUps()
        #expect(recoveries.count == 1)
        #expect(try await store.bodies(.get("new")) == [.random(100_000, seed: 2)])
        #expect(answers.all.count == 3)
        #expect(hangs.count == 1)
    }

    @Test("may hang again, and reports it again")
    func again() async throws {
        let store = try await store(hangingIn: [.openFile], below: "/bodies")
        for count in 1...2 {
            barrier.close()
            lookUp("large", in: store)
            await barrier.arrival()
            await pass(in: store)
            await pass(in: store)
            #expect(hangs.count == count)
            barrier.open()
            await store.settleLookUps()
            #expect(recoveries.count == count)
        }
        #expect(answers.all == ["large: 0", "large: 0"])
    }

    @Test("needs one timer while look-ups wait, and none afterwards, as long as it does not hang")
    func timer() async throws {
        let store = try await store(hangingIn: [])
        for _ in 1...3 { #expect(await store.lookup(.get("small")).count == 1) }
        #expect(delays.durations.filter { $0 == 10 }.count == 1)
        await pass(in: store)
        await pass(in: store)
        #expect(delays.durations.filter { $0 == 10 }.count == 1)
        #expect(await store.lookup(.get("large")).count == 1)
        #expect(delays.durations.filter { $0 == 10 }.count == 2)
        #expect(fixture.events.all.allSatisfy { $0.kind == .stored })
    }

    @Test("counts the bytes of large bodies that wait for it, until look-ups are abandoned")
    func unwritten() async throws {
        let store = try await store(hangingIn: [.write])
        await store.flush()
        #expect(store.unwrittenBytes == 0)
        barrier.close()
        let writer = store.write(.get("new"), .random(1_000_000, seed: 3))
        await barrier.arrival()
        #expect((900_000...1_000_000).contains(store.unwrittenBytes))
        writer?.commit { _ in }
        lookUp("new", in: store)
        await pass(in: store)
        await pass(in: store)
        #expect(hangs.count == 1)
        #expect(store.unwrittenBytes == 0)
        barrier.open()
        await store.flush()
        #expect(store.unwrittenBytes == 0)
        #expect(await store.lookup(.get("new")).count == 1)
    }

    @Test("ends a wait for its writes after a while, which alone is no sign that it hangs")
    func waits() async throws {
        let store = try await store(hangingIn: [.write])
        await store.flush()
        await withCheckedContinuation { continuation in store.afterWrites { continuation.resume() } }
        barrier.close()
        let writer = store.write(.get("new"), .random(1_000_000, seed: 3))
        await barrier.arrival()
        let ended = AsyncStream<Int>.makeStream()
        store.afterWrites { ended.continuation.yield(1) }
        await pass(in: store)
        await pass(in: store)
        #expect(await ended.stream.first { _ in true } == 1)
        #expect(hangs.isEmpty)
        writer?.commit { _ in }
        lookUp("new", in: store)
        await pass(in: store)
        await pass(in: store)
        #expect(hangs.count == 1)
        // While it hangs, a wait ends at once.
        await withCheckedContinuation { continuation in store.afterWrites { continuation.resume() } }
        barrier.open()
        await store.flush()
        #expect(await store.statistics().misses == 1)
        #expect(recoveries.count == 1)
    }

    @Test("does not keep a store alive that has no owner")
    func release() async throws {
        var store: ResponseStore? = try await store(hangingIn: [])
        weak let released = store
        #expect(await store?.lookup(.get("small")).count == 1)
        await store?.flush()
        store = nil
        // The store's timer for look-ups has not ended yet.
        #expect(await eventually { released == nil })
    }
}

/// The answers that completions received, in order.
private final class Answers: Sendable {
    private let entries = Mutex<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func append(_ answer: String) { entries.withLock { $0.append(answer) } }
}

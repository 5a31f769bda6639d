import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("Responses in memory")
struct ResidencyTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("a look-up brings a response into memory, and later ones return the same instance")
    func sameInstance() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10))
        #expect(store.resident(.get("a")) == nil)
        let first = try #require(await store.lookup(.get("a")).first)
        first.prepared.withLock { $0 = "prepared" }
        let resident = try #require(store.resident(.get("a"))?.first)
        #expect(resident === first)
        #expect(resident.prepared.withLock { $0 as? String } == "prepared")
        #expect(await store.lookup(.get("a")).first === first)
    }

    @Test("memory does not answer after a second without confirmation, and an unchanged row keeps its instance")
    func confirmation() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10))
        let first = try #require(await store.lookup(.get("a")).first)
        fixture.clock.advance(.milliseconds(1_001))
        #expect(store.resident(.get("a")) == nil)
        #expect(await store.lookup(.get("a")).first === first)
        await store.flush()
        fixture.clock.advance(.milliseconds(900))
        #expect(store.resident(.get("a"))?.first === first)
        await store.flush()
        fixture.clock.advance(.milliseconds(900))
        #expect(store.resident(.get("a"))?.first === first, "a key that is used regularly stays confirmed")
    }

    @Test("a commit removes the key from memory")
    func replacement() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10, seed: 1))
        _ = await store.lookup(.get("a"))
        try await store.store(.get("a"), .random(10, seed: 2))
        #expect(store.resident(.get("a")) == nil)
        #expect(try await store.bodies(.get("a")) == [.random(10, seed: 2)])
    }

    @Test("a look-up finds a response whose commit was requested, before it was written")
    func readsOwnWrites() async throws {
        let store = fixture.store()
        for seed: UInt64 in 1...20 {
            try #require(store.write(.get("a"), .random(10, seed: seed))).commit { _ in }
            #expect(try await store.bodies(.get("a")) == [.random(10, seed: seed)])
        }
    }

    @Test("memory stays within its limit by dropping the least recently used responses")
    func limit() async throws {
        let store = fixture.store(limits: StoreLimits(residentLimit: .kibibytes(40)))
        for name in ["a", "b", "c", "d"] {
            try await store.store(.get(name), .random(10_000))
            _ = await store.lookup(.get(name))
            if name == "c" { #expect(store.resident(.get("a")) != nil) }
        }
        #expect(store.resident(.get("b")) == nil)
        for name in ["a", "c", "d"] { #expect(store.resident(.get(name)) != nil) }
        #expect(await store.statistics().residentBytes <= 40 * 1_024)
    }

    @Test("bodies in files and keys that are not stored need no memory")
    func notResident() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(100_000))
        _ = await store.lookup(.get("a"))
        _ = await store.lookup(.get("b"))
        #expect(await store.statistics().residentEntries == 0)
    }

    @Test("an invalidation during a look-up keeps its result out of memory")
    func race() throws {
        let resident = ResidentResponses(limit: .mebibytes(1))
        let now = fixture.clock.now
        let response = response(at: now)
        let stale = resident.beginReading(.get("a"))
        let other = resident.beginReading(.get("c"))
        resident.invalidate([.get("a")])
        resident.keep([response], for: .get("c"), readAt: now, by: other)
        #expect(resident.responses(for: .get("c"), at: now).responses != nil, "look-ups may read at the same time")
        resident.keep([response], for: .get("a"), readAt: now, by: stale)
        #expect(resident.responses(for: .get("a"), at: now).responses == nil)
        let reading = resident.beginReading(.get("a"))
        resident.invalidate([.get("b")])
        resident.keep([response], for: .get("a"), readAt: now, by: reading)
        #expect(resident.responses(for: .get("a"), at: now).responses?.first === response)
    }

    @Test("a check during a look-up confirms its result only if nothing has changed", arguments: [false, true])
    func longReading(hasChanged: Bool) {
        let resident = ResidentResponses(limit: .mebibytes(1))
        let now = fixture.clock.now
        let checkTime = now.addingTimeInterval(30)
        let response = response(at: now)
        let reading = resident.beginReading(.get("a"))
        resident.confirm(at: checkTime, hasChanged: hasChanged)
        resident.keep([response], for: .get("a"), readAt: now, by: reading)
        #expect((resident.responses(for: .get("a"), at: checkTime).responses == nil) == hasChanged)
    }

    private func response(at time: Date) -> StoredResponse {
        let head = StoredHead(
            key: .get("a"),
            status: 200,
            headerFields: [:],
            vary: .none,
            requestTime: time,
            responseTime: time
        )
        return StoredResponse(
            id: 1,
            seal: 1,
            head: head,
            body: .data(Data()),
            checksums: BlockChecksums(),
            bodyFile: nil
        )
    }
}

@Suite("Two stores on one directory")
struct SharedDirectoryTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("see each other's commits, replacements and purges")
    func visibility() async throws {
        let (one, two) = (fixture.store(), fixture.store())
        try await one.store(.get("a"), .random(10, seed: 1))
        #expect(try await two.bodies(.get("a")) == [.random(10, seed: 1)])
        try await two.store(.get("a"), .random(100_000, seed: 2))
        fixture.clock.advance(.seconds(2))
        #expect(try await one.bodies(.get("a")) == [.random(100_000, seed: 2)])
        #expect(try await one.remove(.all) == 1)
        #expect(await two.lookup(.get("a")).isEmpty)
        #expect(await two.statistics().entries == 0)
    }

    @Test("answer from memory for at most a second after the other store purged")
    func staleness() async throws {
        let (one, two) = (fixture.store(), fixture.store())
        try await one.store(.get("a"), .random(10))
        _ = await two.lookup(.get("a"))
        try await one.remove(.all)
        fixture.clock.advance(.milliseconds(600))
        _ = two.resident(.get("a"))
        await two.flush()
        fixture.clock.advance(.milliseconds(500))
        #expect(two.resident(.get("a")) == nil)
        #expect(await two.lookup(.get("a")).isEmpty)
    }

    @Test("do not remove what the other one is writing when they open")
    func staging() async throws {
        let one = fixture.store()
        let writer = try #require(one.write(.get("a"), .random(300_000)))
        await one.flush()
        let two = fixture.store()
        await two.flush()
        try await writer.commit()
        #expect(try await two.bodies(.get("a")) == [.random(300_000)])
        #expect(fixture.events.of(.swept).isEmpty)
    }

    @Test("remove left-overs of a process that ended")
    func leftOvers() async throws {
        let first = fixture.store()
        try await first.store(.get("a"), .random(100_000))
        // Its own removal of left-overs must not meet the ones below.
        await first.flush()
        let root = fixture.directory
        let dead = String(repeating: "d", count: 32)
        let orphan = "bodies/ab/ab" + String(repeating: "0", count: 30)
        for path in ["staging/\(dead)/lock", "staging/\(dead)/half", orphan] {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("x".utf8).write(to: file)
        }
        let store = fixture.store()
        await store.flush()
        #expect(fixture.files(in: "bodies").count == 1)
        #expect(!fixture.files(in: "staging").contains { $0.hasPrefix(dead) })
        #expect(try await store.bodies(.get("a")) == [.random(100_000)])
    }

    @Test("lose nothing when they write at once")
    func concurrentWrites() async throws {
        let stores = [
            fixture.store(adjust: { $0.busyTimeout = 5 }), fixture.store(adjust: { $0.busyTimeout = 5 }),
        ]
        await withTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    for item in 0..<40 {
                        store.write(.get("\(number)/\(item)"), .random(item * 2_500))?.commit { _ in }
                    }
                    await store.flush()
                }
            }
        }
        for number in 0..<2 {
            for item in 0..<40 {
                #expect(try await stores[1 - number].bodies(.get("\(number)/\(item)")) == [.random(item * 2_500)])
            }
        }
    }
}

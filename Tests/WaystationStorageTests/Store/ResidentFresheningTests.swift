import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("Freshening a response in memory", .timeLimit(.minutes(10)))
struct ResidentFresheningTests {
    private let fixture: StoreFixture
    private let delays = DrivenDelays()
    private let watch = IndexWatch()

    init() throws { fixture = try StoreFixture() }

    /// A store with a response in memory, that gathers writes.
    private func store(limits: StoreLimits = StoreLimits()) async throws -> (ResponseStore, StoredResponse) {
        try await fixture.store().store(.get("a"), .random(10))
        let store = fixture.store(limits: limits) {
            delays.drive(&$0)
            watch.watch(&$0)
        }
        try await store.store(.get("first"), .random(10))
        await store.flush()
        let response = try #require(await store.lookup(.get("a")).first)
        return (store, response)
    }

    private func freshen(_ response: StoredResponse, _ value: String, in store: ResponseStore) {
        let now = fixture.clock.now
        store.freshen(response, headerFields: [.age: value], requestTime: now, responseTime: now)
    }

    @Test("replaces the instance at once, and the row soon after")
    func atOnce() async throws {
        let (store, old) = try await store()
        old.prepared.withLock { $0 = "prepared" }
        let reads = await store.statistics().diskHits
        fixture.clock.advance(.milliseconds(300))
        freshen(old, "1", in: store)
        let new = try #require(store.resident(.get("a"))?.first)
        #expect(new.head.headerFields == [.age: "1"])
        #expect(new.head.responseTime == fixture.clock.now)
        #expect((new.id, new.head.status, new.head.vary) == (old.id, old.head.status, old.head.vary))
        #expect(new.prepared.withLock { $0 as? String } == nil)
        #expect(try new.body.contents() == .random(10))
        #expect(old.head.headerFields != new.head.headerFields)
        let other = fixture.store()
        #expect(await other.lookup(.get("a")).first?.head.headerFields == old.head.headerFields)
        delays.end()
        await store.settle()
        #expect(store.resident(.get("a"))?.first === new)
        #expect(await store.statistics().diskHits == reads)
        fixture.clock.advance(.seconds(2))
        #expect(await store.lookup(.get("a")).first === new)
        #expect(await store.statistics().diskHits == reads + 1)
        #expect(await other.lookup(.get("a")).first?.head.headerFields == new.head.headerFields)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("twice keeps the second result")
    func twice() async throws {
        let (store, old) = try await store()
        freshen(old, "1", in: store)
        freshen(old, "2", in: store)
        let new = try #require(store.resident(.get("a"))?.first)
        #expect(new.head.headerFields == [.age: "2"])
        delays.end()
        await store.settle()
        #expect(store.resident(.get("a"))?.first === new)
        #expect(await fixture.store().lookup(.get("a")).first?.head.headerFields == [.age: "2"])
    }

    @Test("and then replacing keeps the replacement")
    func replaced() async throws {
        let (store, old) = try await store()
        freshen(old, "1", in: store)
        store.write(.get("a"), .random(10, seed: 2))?.commit { _ in }
        freshen(old, "2", in: store)
        #expect(store.resident(.get("a")) == nil)
        #expect(try await store.bodies(.get("a")) == [.random(10, seed: 2)])
        #expect(store.resident(.get("a"))?.first?.head.headerFields == [.contentType: "text/plain"])
    }

    @Test("and invalidating leaves nothing, in either order", arguments: [true, false])
    func invalidated(first: Bool) async throws {
        let (store, old) = try await store()
        if first { freshen(old, "1", in: store) }
        store.invalidate(url: old.head.key.url, partition: "")
        if !first { freshen(old, "1", in: store) }
        #expect(store.resident(.get("a")) == nil)
        await store.settle()
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(store.resident(.get("a")) == nil)
    }

    @Test("removes a response from memory that another process has deleted, when its row is not found")
    func removedElsewhere() async throws {
        let (store, old) = try await store()
        try await fixture.store().remove([old])
        freshen(old, "1", in: store)
        #expect(store.resident(.get("a")) != nil)
        delays.end()
        await store.settle()
        #expect(store.resident(.get("a")) == nil)
        #expect(await store.lookup(.get("a")).isEmpty)
    }

    @Test("removes a response from memory that could not be written")
    func failure() async throws {
        let (store, old) = try await store()
        watch.refuse(.get("a"))
        freshen(old, "1", in: store)
        #expect(store.resident(.get("a")) != nil)
        delays.end()
        await store.settle()
        #expect(store.resident(.get("a")) == nil)
        #expect(await store.lookup(.get("a")).first?.head.headerFields == old.head.headerFields)
        #expect(fixture.events.of(.unavailable).count == 1)
    }

    @Test("is written before a look-up reads the disk")
    func unconfirmed() async throws {
        let (store, old) = try await store()
        freshen(old, "1", in: store)
        fixture.clock.advance(.seconds(2))
        #expect(store.resident(.get("a")) == nil)
        #expect(await store.lookup(.get("a")).first?.head.headerFields == [.age: "1"])
    }

    @Test("keeps the order of variants and the memory limit")
    func bounds() async throws {
        let (store, old) = try await store(limits: StoreLimits(residentLimit: .kibibytes(4)))
        fixture.clock.advance(.milliseconds(100))
        let vary = VaryKey([.init(name: .acceptLanguage, value: "de")])
        try await store.store(.get("a"), .random(10), vary: vary)
        #expect(await store.lookup(.get("a")).map(\.head.vary) == [vary, .none])
        fixture.clock.advance(.milliseconds(100))
        freshen(old, "1", in: store)
        #expect(store.resident(.get("a"))?.map(\.head.vary) == [.none, vary])
        var fields = HTTPFields()
        for _ in 0..<40 { fields.append(HTTPField(name: .age, value: "1")) }
        let now = fixture.clock.now
        store.freshen(old, headerFields: fields, requestTime: now, responseTime: now)
        #expect(store.resident.counts.bytes <= 4_096)
        #expect(await store.lookup(.get("a")).first?.head.headerFields == fields)
    }

    @Test("leaves a row unchanged that has the same number but another body, as after the index was recreated")
    func otherBody() async throws {
        let (store, _) = try await store()
        let elsewhere = try StoreFixture()
        let stranger = elsewhere.store()
        try await stranger.store(.get("a"), .random(10, seed: 2))
        let other = try #require(await stranger.lookup(.get("a")).first)
        let mine = try #require(store.resident(.get("a"))?.first)
        #expect(other.id == mine.id)
        freshen(other, "1", in: store)
        #expect(store.resident(.get("a")) == nil)
        let found = try #require(await store.lookup(.get("a")).first)
        #expect(found.head.headerFields == mine.head.headerFields)
        #expect(try found.body.contents() == .random(10))
        #expect(fixture.events.of(.damaged).isEmpty)
    }

    @Test("discards what a look-up read before the row was written", arguments: ["before", "during", "after"])
    func race(written: String) throws {
        let resident = ResidentResponses(limit: .mebibytes(1))
        let (old, new) = (response(seal: 1), response(seal: 2))
        resident.keep([old], for: .get("a"), readAt: fixture.clock.now)
        switch written {
        case "before":
            resident.beginFreshening(new)
            let reading = resident.beginReading(.get("a"))
            resident.endFreshening(new, isWritten: true)
            resident.keep([old], for: .get("a"), readAt: fixture.clock.now, by: reading)
        case "during":
            let reading = resident.beginReading(.get("a"))
            resident.beginFreshening(new)
            resident.endFreshening(new, isWritten: true)
            resident.keep([old], for: .get("a"), readAt: fixture.clock.now, by: reading)
        default:
            resident.beginFreshening(new)
            let reading = resident.beginReading(.get("a"))
            resident.keep([old], for: .get("a"), readAt: fixture.clock.now, by: reading)
            resident.endFreshening(new, isWritten: true)
        }
        #expect(resident.responses(for: .get("a"), at: fixture.clock.now).responses?.first === new)
        #expect(!resident.isChanging(.get("a")))
    }

    @Test("twice at once keeps the one that was written last, or none")
    func crossing() {
        let resident = ResidentResponses(limit: .mebibytes(1))
        let (one, two) = (response(seal: 2), response(seal: 3))
        resident.keep([response(seal: 1)], for: .get("a"), readAt: fixture.clock.now)
        resident.beginFreshening(two)
        resident.beginFreshening(one)
        resident.endFreshening(one, isWritten: true)
        #expect(resident.responses(for: .get("a"), at: fixture.clock.now).responses?.first === one)
        #expect(resident.isChanging(.get("a")))
        resident.endFreshening(two, isWritten: true)
        #expect(resident.responses(for: .get("a"), at: fixture.clock.now).responses == nil)
    }

    @Test("counts the size of the new fields, and subtracts it when they leave memory")
    func counting() {
        let resident = ResidentResponses(limit: .mebibytes(1))
        let (old, new) = (response(seal: 1), response(seal: 2, fields: [.age: "1", .eTag: "\"1\""]))
        resident.keep([old], for: .get("a"), readAt: fixture.clock.now)
        #expect(resident.counts.bytes == old.residentSize)
        resident.beginFreshening(new)
        #expect(resident.counts.bytes == new.residentSize)
        #expect(new.residentSize > old.residentSize)
        resident.invalidate([.get("a")])
        #expect(resident.counts.bytes == 0)
    }

    @Test("twice for one row is not affected by another variant that is freshened too")
    func crossingBesideVariant() {
        let resident = ResidentResponses(limit: .mebibytes(1))
        let (one, two) = (response(seal: 2), response(seal: 3))
        let (variant, freshened) = (response(id: 2, seal: 4), response(id: 2, seal: 5))
        resident.keep([response(seal: 1), variant], for: .get("a"), readAt: fixture.clock.now)
        resident.beginFreshening(one)
        resident.beginFreshening(two)
        resident.beginFreshening(freshened)
        // The writes are in reverse order: the row ends with the fields of the first.
        resident.endFreshening(two, isWritten: true)
        resident.endFreshening(one, isWritten: true)
        resident.endFreshening(freshened, isWritten: true)
        #expect(resident.responses(for: .get("a"), at: fixture.clock.now).responses == nil)
        #expect(!resident.isChanging(.get("a")))
    }

    private func response(id: Int64 = 1, seal: UInt64, fields: HTTPFields = [:]) -> StoredResponse {
        let head = StoredHead(
            key: .get("a"),
            status: 200,
            headerFields: fields,
            vary: .none,
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now
        )
        return StoredResponse(
            id: id,
            seal: seal,
            head: head,
            body: .data(Data()),
            checksums: BlockChecksums(),
            bodyFile: nil
        )
    }
}

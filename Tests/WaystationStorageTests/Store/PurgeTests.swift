import Foundation
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Purging by tag and by group")
struct PurgeTests {
    private let fixture: StoreFixture
    private let delays = DrivenDelays()
    private let prices = ResponseLabel.group("prices", origin: "https://shop.example")

    init() throws { fixture = try StoreFixture() }

    /// A head with these groups and tags.
    private func head(_ path: String, _ groups: String = "\"prices\"", tags: [String] = []) -> StoredHead {
        var fields: HTTPFields = [.contentType: "text/plain"]
        if !groups.isEmpty, let name = HTTPField.Name("Cache-Groups") { fields[name] = groups }
        return StoredHead(
            key: .get(path),
            status: 200,
            headerFields: fields,
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now
        ).tagged(tags)
    }

    private func store(_ head: StoredHead, _ length: Int = 10, in store: ResponseStore) async throws {
        let writer = try #require(store.begin(head))
        writer.append(.random(length))
        try await writer.commit()
    }

    /// The numbers of rows and purges on disk.
    private func counts() throws -> [Int64?] {
        let db = try Database(path: fixture.layout.index, busyTimeout: 10)
        return try [db.integer("SELECT count(*) FROM responses"), db.integer("SELECT count(*) FROM purges")]
    }

    enum Memory: CaseIterable, Sendable { case cold, warm, large }

    @Test("a hard purge hides the responses at once, in memory and on disk, and no others", arguments: Memory.allCases)
    func hard(memory: Memory) async throws {
        let store = fixture.store()
        let length = memory == .large ? 100_000 : 10
        try await self.store(head("a", "\"news\", \"prices\""), length, in: store)
        try await self.store(head("b", "\"Prices\""), in: store)
        try await self.store(head("c", "", tags: ["prices"]), in: store)
        if memory == .warm { for path in ["a", "b", "c"] { _ = await store.lookup(.get(path)) } }
        // The queue of changes is held, so that nothing is written yet.
        let barrier = Barrier()
        barrier.close()
        store.writeQueue.async { barrier.pass() }
        await barrier.arrival()
        store.purge([prices], as: .hard) { _ in }
        #expect(store.resident(.get("a")) == nil)
        #expect(store.lookUpInMemory(.get("a"))?.isEmpty ?? true)
        #expect(await store.lookup(.get("a")).isEmpty)
        for path in ["b", "c"] { #expect(await store.lookup(.get(path)).count == 1) }
        barrier.open()
        await store.flush()
        #expect(await store.lookup(.get("a")).isEmpty)
        for path in ["b", "c"] { #expect(await store.lookup(.get(path)).count == 1) }
    }

    @Test("the rows of a hard purge, their files and then the purge itself are removed in the background")
    func removed() async throws {
        let store = fixture.store()
        for number in 0..<600 { try await self.store(head("\(number)"), number == 0 ? 100_000 : 10, in: store) }
        try await self.store(head("other", "\"news\""), in: store)
        try await store.purge([prices], as: .hard)
        await store.flush()
        #expect(try counts() == [1, 0])
        #expect(fixture.files(in: "bodies").isEmpty)
        #expect(await store.statistics().entries == 1)
        #expect(store.purges.isEmpty)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("responses that are stored after a purge are found, under the same key and under others")
    func storedAfterwards() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        try await store.purge([prices], as: .hard)
        try await self.store(head("a"), 20, in: store)
        try await self.store(head("b"), 30, in: store)
        #expect(try await store.bodies(.get("a")) == [.random(20)])
        await store.flush()
        #expect(try await store.bodies(.get("a")) == [.random(20)])
        #expect(try await store.bodies(.get("b")) == [.random(30)])
    }

    @Test("a soft purge makes responses stale from its moment on, in memory and on disk", arguments: Memory.allCases)
    func soft(memory: Memory) async throws {
        let store = fixture.store()
        try await self.store(head("a"), memory == .large ? 100_000 : 10, in: store)
        try await self.store(head("b", "\"news\""), in: store)
        if memory == .warm { for path in ["a", "b"] { _ = await store.lookup(.get(path)) } }
        // The responses in memory are confirmed for a second.
        fixture.clock.advance(.milliseconds(250))
        let time = fixture.clock.now
        try await store.purge([prices], as: .soft)
        fixture.clock.advance(.milliseconds(250))
        for _ in 0..<2 {
            #expect(await store.lookup(.get("a")).map(\.head.staleFrom) == [time])
            #expect(await store.lookup(.get("b")).map(\.head.staleFrom) == [nil])
        }
        await store.flush()
        #expect(try counts() == [2, 1])
        #expect(await fixture.store().lookup(.get("a")).map(\.head.staleFrom) == [time])
    }

    @Test("what was derived from a response before a soft purge is not returned with it any more")
    func prepared() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        let before = try #require(await store.lookup(.get("a")).first)
        before.prepared.withLock { $0 = "a finished hit" }
        try await store.purge([prices], as: .soft)
        let after = try #require(await store.lookup(.get("a")).first)
        #expect(after.prepared.withLock { $0 == nil })
    }

    @Test("a validation whose request was sent later makes a response fresh again, an earlier one does not")
    func freshened() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        fixture.clock.advance(.seconds(10))
        let time = fixture.clock.now
        try await store.purge([prices], as: .soft)
        func freshen(sentAfter seconds: Double) async throws -> [Date?] {
            let stored = try #require(await store.lookup(.get("a")).first)
            let sent = time + seconds
            store.freshen(stored, headerFields: head("a").headerFields, requestTime: sent, responseTime: sent + 2)
            let inMemory = await store.lookup(.get("a")).map(\.head.staleFrom)
            await store.flush()
            #expect(await fixture.store().lookup(.get("a")).map(\.head.staleFrom) == inMemory)
            return inMemory
        }
        #expect(try await freshen(sentAfter: -1) == [time])
        #expect(try await freshen(sentAfter: 1) == [nil])
    }

    @Test("a soft purge holds for responses that a clock ahead of time had stored")
    func clockSetBack() async throws {
        let store = fixture.store()
        fixture.clock.advance(.seconds(3_600))
        try await self.store(head("a"), in: store)
        fixture.clock.advance(.seconds(-3_600))
        try await store.purge([prices], as: .soft)
        #expect(await fixture.store().lookup(.get("a")).map { $0.head.staleFrom != nil } == [true])
    }

    @Test("a response whose request was sent before a purge is not stored", arguments: [PurgeKind.hard, .soft])
    func underWay(kind: PurgeKind) async throws {
        let store = fixture.store()
        let moment = store.moment()
        try await store.purge([prices, .tag("t")], as: kind)
        for late in [head("a"), head("b", "", tags: ["t"])] {
            let writer = try #require(store.begin(late, asOf: moment))
            let error = await #expect(throws: StoreError.self) { try await writer.commit() }
            #expect(error?.code == .invalidated)
        }
        let other = try #require(store.begin(head("c", "\"news\""), asOf: moment))
        try await other.commit()
        #expect(store.hasInvalidated(.get("a"), since: moment))
        let elsewhere = RequestKey(method: "GET", url: "https://other.example/")
        #expect(store.hasInvalidated(elsewhere, since: moment))
        let groupsAlone = store.moment()
        try await store.purge([prices], as: kind)
        #expect(store.hasInvalidated(.get("a"), since: groupsAlone))
        #expect(!store.hasInvalidated(elsewhere, since: groupsAlone))
    }

    @Test("another process sees a purge in its next look-up on disk", arguments: [PurgeKind.hard, .soft])
    func otherProcess(kind: PurgeKind) async throws {
        let (store, other) = (fixture.store(), fixture.store(limits: StoreLimits(residentLimit: .bytes(0))))
        try await self.store(head("a"), in: store)
        try await self.store(head("b"), in: store)
        #expect(await other.lookup(.get("a")).count == 1)
        await store.flush()
        let moment = other.moment()
        // As a process leaves it that has not yet removed the rows.
        let isSoft = kind == .soft ? 1 : 0
        let time = fixture.clock.now.microseconds
        try fixture.execute(
            """
            INSERT INTO purges (origin, name, is_soft, newest, time)
            VALUES ('https://shop.example', 'prices', \(isSoft), 9, \(time))
            """
        )
        let found = await other.lookup(.get("a"))
        #expect(found.map { $0.head.staleFrom == nil } == (kind == .hard ? [] : [false]))
        #expect(other.lookUpInMemory(.get("b"))?.allSatisfy { $0.head.staleFrom != nil } ?? true)
        // It does not store what it had asked for before.
        let late = try #require(other.begin(head("c"), asOf: moment))
        await #expect(throws: StoreError.self) { try await late.commit() }
    }

    @Test("another process learns that something was purged, although the purge and its rows are gone")
    func purgeThatIsGone() async throws {
        let (store, other) = (fixture.store(), fixture.store())
        try await self.store(head("a"), in: store)
        #expect(await other.lookup(.get("a")).count == 1)
        let late = try #require(other.begin(head("c"), asOf: other.moment()))
        try await store.purge([prices], as: .hard)
        await store.flush()
        // The next use of what is in memory looks for changes of other processes.
        fixture.clock.advance(.milliseconds(1_100))
        #expect(other.resident(.get("a")) == nil)
        await other.flush()
        await #expect(throws: StoreError.self) { try await late.commit() }
    }

    @Test("another process returns a purged response from memory for at most a second")
    func otherMemory() async throws {
        let (store, other) = (fixture.store(), fixture.store())
        try await self.store(head("a"), in: store)
        #expect(await other.lookup(.get("a")).count == 1)
        #expect(other.resident(.get("a")) != nil)
        try await store.purge([prices], as: .hard)
        fixture.clock.advance(.milliseconds(1_100))
        #expect(other.resident(.get("a")) == nil)
        #expect(await other.lookup(.get("a")).isEmpty)
    }

    @Test("responses in memory that were read before the end of a purge that selects them are not returned after it")
    func memoryEndsMeanwhile() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        let responses = await store.lookup(.get("a"))
        #expect(responses.count == 1)
        let index = try StoreIndex(path: fixture.layout.index, environment: StoreEnvironment())
        defer { index.close() }
        let purges = index.purges
        let ended = purges.ended
        #expect(purges.allow(responses, readAfter: ended))
        try index.write([(Purge.Order(label: prices, kind: .hard), fixture.clock.now)])
        #expect(!purges.allow(responses, readAfter: ended))
        _ = try index.removePurged(after: 0, limit: 10)
        try index.dropPurges(through: 1)
        // The purge has left no trace but the number of those that have ended.
        #expect(purges.isEmpty)
        #expect(!purges.allow(responses, readAfter: ended))
        #expect(purges.allow(responses, readAfter: purges.ended))
    }

    @Test("rows that were read before the end of a purge that selects them are not returned after it")
    func endsMeanwhile() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        await store.flush()
        let index = try StoreIndex(path: fixture.layout.index, environment: StoreEnvironment())
        defer { index.close() }
        let rows = try index.rows(for: .get("a"))
        #expect(rows.count == 1)
        try index.write([(Purge.Order(label: prices, kind: .hard), fixture.clock.now)])
        #expect(index.usable { (rows, 1) }?.isEmpty == true)
        // A purge that is not known yet may select some of the rows.
        #expect(index.usable { (rows, 2) } == nil)
        let read = try index.usable {
            #expect(try index.removePurged(after: 0, limit: 10).removal.count == 1)
            try index.dropPurges(through: 1)
            return (rows, 1)
        }
        #expect(read == nil)
        #expect(try index.rows(for: .get("a")).isEmpty)
    }

    @Test("a purge survives the end of its process, also before its rows are removed")
    func survives() async throws {
        var store: ResponseStore? = fixture.store()
        try await self.store(head("a"), in: #require(store))
        await store?.flush()
        store = nil
        // As a process that was killed leaves it.
        try fixture.execute(
            "INSERT INTO purges (origin, name, is_soft, newest, time) VALUES ('https://shop.example', 'prices', 0, 1, 0)"
        )
        let next = fixture.store()
        #expect(await next.lookup(.get("a")).isEmpty)
        await next.flush()
        #expect(try counts() == [0, 0])
    }

    @Test("a purge that cannot be written has its effect, and is written before the next change")
    func failed() async throws {
        let store = fixture.store {
            $0.busyTimeout = 0.01
            delays.drive(&$0)
        }
        try await self.store(head("a"), in: store)
        try await self.store(head("b", "\"news\""), in: store)
        await store.flush()
        let holder = try fixture.holdIndex()
        await #expect(throws: StoreError.self) { try await store.purge([prices], as: .hard) }
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(await store.lookup(.get("b")).count == 1)
        try holder.use { try $0.execute("ROLLBACK") }
        // An inspector, like another process, knows what is on disk.
        let scope = ResponseScope.group("prices", of: "https://shop.example")
        let inspector = try StoreInspector(directory: fixture.directory)
        #expect(try inspector.entries(in: scope).count == 1)
        try await self.store(head("b", "\"news\""), in: store)
        #expect(try inspector.entries(in: scope).isEmpty)
        try await self.store(head("a"), 20, in: store)
        #expect(try await store.bodies(.get("a")) == [.random(20)])
    }

    @Test("a purge by scope is a hard one, and selects by tag in all partitions")
    func scope() async throws {
        let store = fixture.store()
        for partition in ["", "anna"] {
            let head = head("a", "", tags: ["t"]).under(.get("a", partition: partition))
            try await self.store(head, in: store)
        }
        try await store.remove(.tag("t"))
        for partition in ["", "anna"] { #expect(await store.lookup(.get("a", partition: partition)).isEmpty) }
    }

    @Test("without a purge, the index has none to compare with")
    func none() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        #expect(store.purges.isEmpty)
        // Nothing is stored that the purge could select.
        try await store.remove(.all)
        try await store.purge([prices], as: .hard)
        await store.flush()
        #expect(store.purges.isEmpty)
        #expect(try counts() == [0, 0])
    }

    @Test("a soft purge ends when no response from before it is left")
    func ends() async throws {
        let store = fixture.store()
        try await self.store(head("a"), in: store)
        try await store.purge([prices], as: .soft)
        await store.flush()
        #expect(try counts() == [1, 1])
        try await self.store(head("a"), 20, in: store)
        try await store.purge([.tag("another")], as: .soft)
        await store.flush()
        #expect(await store.lookup(.get("a")).map(\.head.staleFrom) == [nil])
        #expect(try counts() == [1, 1])
    }

    @Test("an inspector lists labels, selects by them, and leaves out what a hard purge hides")
    func inspector() async throws {
        let store = fixture.store()
        try await self.store(head("a", "\"prices\", \"eu\"", tags: ["t"]), in: store)
        try await self.store(head("b", ""), in: store)
        let inspector = try StoreInspector(directory: fixture.directory)
        let entries = try inspector.entries()
        #expect(entries.map(\.tags) == [["t"], []])
        #expect(entries.map(\.groups) == [["eu", "prices"], []])
        #expect(try inspector.entries(in: .group("eu", of: "https://shop.example")).map(\.key) == [.get("a")])
        #expect(try inspector.entries(in: .group("eu", of: "https://other.example")).isEmpty)
        #expect(try inspector.entries(in: .tag("t")).map(\.key) == [.get("a")])
        await store.flush()
        try fixture.execute(
            "INSERT INTO purges (origin, name, is_soft, newest, time) VALUES ('', 't', 0, 9, 0)"
        )
        #expect(try inspector.entries().map(\.key) == [.get("b")])
        #expect(try inspector.response(entries[0]) == nil)
    }
}

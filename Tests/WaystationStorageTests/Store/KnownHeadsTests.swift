import Foundation
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

/// Rows of responses whose bodies do not stay in memory are read again and again; their heads are decoded once.
@Suite("The heads of rows that were read before")
struct KnownHeadsTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func store() -> ResponseStore { fixture.store(limits: StoreLimits(residentLimit: .bytes(0))) }

    @Test("come with what was derived from them, and the bodies with the rows", arguments: [100, 100_000])
    func again(length: Int) async throws {
        let store = store()
        try await store.store(.get("a"), .random(length))
        let first = try #require(await store.lookup(.get("a")).first)
        first.prepared.withLock { $0 = "prepared" }
        let second = try #require(await store.lookup(.get("a")).first)
        #expect(second !== first)
        #expect(second.prepared.withLock { $0 as? String } == "prepared")
        #expect(try second.body.contents() == .random(length))
        #expect(second.head == first.head)
        #expect(await fixture.store().lookup(.get("a")).first?.prepared.withLock { $0 == nil } ?? false)
    }

    @Test("are not those of a row that has replaced them, or that another process has freshened")
    func changed() async throws {
        let (store, other) = (store(), fixture.store())
        try await store.store(.get("a"), .random(10, seed: 1))
        try #require(await store.lookup(.get("a")).first).prepared.withLock { $0 = "prepared" }
        try await store.store(.get("a"), .random(10, seed: 2))
        let replacing = try #require(await store.lookup(.get("a")).first)
        #expect(replacing.prepared.withLock { $0 == nil })
        #expect(try replacing.body.contents() == .random(10, seed: 2))
        replacing.prepared.withLock { $0 = "prepared" }
        let now = fixture.clock.now
        let found = try #require(await other.lookup(.get("a")).first)
        other.freshen(found, headerFields: [.age: "1"], requestTime: now, responseTime: now)
        await other.flush()
        let freshened = try #require(await store.lookup(.get("a")).first)
        #expect(freshened.prepared.withLock { $0 == nil })
        #expect(freshened.head.headerFields == [.age: "1"])
    }

    @Test(
        "do not hide that a row has changed bytes",
        arguments: [
            "fields = CAST('X: y' || char(13, 10) AS BLOB)", "body = zeroblob(body_length)", "status = 204",
            "url = 'https://shop.example/b'",
        ]
    )
    func damage(change: String) async throws {
        let store = store()
        try await store.store(.get("a"), .random(100))
        await store.flush()
        #expect(await store.lookup(.get("a")).count == 1)
        try fixture.execute("UPDATE responses SET \(change)")
        let key = RequestKey.get(change.hasPrefix("url") ? "b" : "a")
        #expect(await store.lookup(key).isEmpty)
        await store.flush()
        #expect(fixture.events.of(.damaged).map(\.key) == [key])
    }

    @Test("are dropped when responses are removed")
    func removal() async throws {
        let store = store()
        try await store.store(.get("a"), .random(10))
        weak let head = try #require(await store.lookup(.get("a")).first).prepared
        #expect(head != nil)
        #expect(try await store.remove(.all) == 1)
        await store.flush()
        #expect(head == nil)
    }

    @Test("are limited in bytes, and those used last remain")
    func limit() {
        let heads = KnownHeads(limit: 8 << 10)
        func known(_ path: String, _ fields: HTTPFields = [:]) -> KnownHeads.Known {
            let time = fixture.clock.now
            let head = StoredHead(
                key: .get(path),
                status: 200,
                headerFields: fields,
                requestTime: time,
                responseTime: time
            )
            return KnownHeads.Known(head: head, checksums: BlockChecksums(), prepared: PreparedValue())
        }
        heads.keep(known("first"), id: 0, seal: 0)
        for number in 1..<100 {
            heads.keep(known("\(number)"), id: Int64(number), seal: 0)
            #expect(heads.head(id: 0, seal: 0)?.head.key == .get("first"))
        }
        #expect(heads.count == 7)
        #expect(heads.head(id: 99, seal: 0) != nil)
        #expect(heads.head(id: 50, seal: 0) == nil)
        #expect(heads.head(id: 99, seal: 1) == nil)
        heads.keep(known("long", [.server: String(repeating: "x", count: 8 << 10)]), id: 100, seal: 0)
        #expect(heads.count == 0)
    }
}

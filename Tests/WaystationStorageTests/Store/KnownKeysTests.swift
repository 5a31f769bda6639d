import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

@Suite("The keys that a store knows", .timeLimit(.minutes(10)))
struct KnownKeysTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("answer for absent keys once the store is open, without reading the index")
    func opened() async throws {
        try await filled(3)
        let store = fixture.store()
        await store.flush()
        let keys = try keys(of: store)
        #expect(keys.answer(.get("absent")) == .absent)
        for number in 0..<3 { #expect(keys.answer(.get("\(number)")) == .mayBePresent) }
        store.readQueue.suspend()
        defer { store.readQueue.resume() }
        #expect(store.lookUpInMemory(.get("absent"), mayRead: false)?.isEmpty == true)
        #expect(store.lookUpInMemory(.get("0"), mayRead: false) == nil)
        #expect(store.lookUpInMemory(.get("0"))?.count == 1)
    }

    @Test("tell the method and the partition of a key apart")
    func parts() async throws {
        let store = fixture.store()
        // A commit before the store has read its keys leaves them outdated.
        await store.flush()
        try await store.store(.get("a"), .random(10))
        let (keys, url) = (try keys(of: store), RequestKey.get("a").url)
        #expect(keys.answer(RequestKey(method: "GET", url: url)) == .mayBePresent)
        #expect(keys.answer(RequestKey(method: "GET", url: url, partition: "login")) == .absent)
        #expect(keys.answer(RequestKey(method: "HEAD", url: url)) == .absent)
    }

    @Test("stay known through changes of the same store")
    func ownChanges() async throws {
        let store = fixture.store()
        await store.flush()
        let keys = try keys(of: store)
        #expect(keys.answer(.get("a")) == .absent)
        try await store.store(.get("a"), .random(10))
        #expect((keys.answer(.get("a")), keys.answer(.get("b"))) == (.mayBePresent, .absent))
        try await store.store(.get("b"), .random(100_000))
        #expect((keys.answer(.get("b")), keys.answer(.get("c"))) == (.mayBePresent, .absent))
        try await store.remove(.all)
        #expect(keys.answer(.get("c")) == .absent)
        try await store.store(.get("a"), .random(20))
        #expect(try await store.bodies(.get("a")) == [.random(20)])
    }

    @Test("are not trusted after a change of another store, until they are brought up to date")
    func otherStore() async throws {
        let (store, other) = (fixture.store(), fixture.store())
        await store.flush()
        await other.flush()
        let keys = try keys(of: store)
        // The upkeep of the other store may change the index at any time.
        #expect(
            try await eventually {
                try index(of: store).learnKeys()
                return keys.answer(.get("a")) == .absent
            }
        )
        try await other.store(.get("a"), .random(10))
        #expect(keys.answer(.get("a")) == .outdated)
        #expect(store.lookUpInMemory(.get("a"))?.count == 1)
        #expect(
            try await eventually {
                try index(of: store).learnKeys()
                return (keys.answer(.get("a")), keys.answer(.get("b"))) == (.mayBePresent, .absent)
            }
        )
    }

    @Test("are not trusted when another store has committed before a change of this one")
    func between() async throws {
        let (store, other) = (fixture.store(), fixture.store())
        await store.flush()
        try await other.store(.get("a"), .random(10))
        try await store.store(.get("b"), .random(10))
        let keys = try keys(of: store)
        #expect(keys.answer(.get("a")) == .outdated)
        #expect(store.lookUpInMemory(.get("c"))?.isEmpty == true)
        // The upkeep of the other store may change the index at any time.
        #expect(
            try await eventually {
                try index(of: store).learnKeys()
                return ["a", "b", "c"].map { keys.answer(.get($0)) } == [.mayBePresent, .mayBePresent, .absent]
            }
        )
    }

    @Test("include a row of another store that has the number of a row whose transaction was undone")
    func undone() async throws {
        let (store, other) = (fixture.store(), fixture.store())
        try await store.store(.get("first"), .random(10))
        await store.flush()
        await other.flush()
        let index = try index(of: store)
        struct Undone: Error {}
        #expect(throws: Undone.self) {
            try index.change { db in
                let row = EncodedRow(
                    StoredHead(
                        key: .get("undone"),
                        status: 200,
                        headerFields: [:],
                        requestTime: fixture.clock.now,
                        responseTime: fixture.clock.now
                    ),
                    bodyLength: 0,
                    bodyFile: nil,
                    checksums: BlockChecksums()
                )
                _ = try index.insert(row, body: Data(), lastUsed: fixture.clock.now, db)
                throw Undone()
            }
        }
        try await other.store(.get("other"), .random(10))
        try index.learnKeys()
        #expect(index.keys.answer(.get("other")) == .mayBePresent)
        #expect(index.keys.answer(.get("absent")) == .absent)
    }

    @Test("include what another process has committed before it was killed")
    func killed() async throws {
        let store = fixture.store()
        await store.flush()
        let keys = try keys(of: store)
        #expect(keys.answer(.get("a")) == .absent)
        let path = fixture.directory.path(percentEncoded: false)
        let time = fixture.clock.now.timeIntervalSince1970
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, time = time as Double] in
            let store = ResponseStore(directory: URL(filePath: path), now: { Date(timeIntervalSince1970: time) })
            _ = try? await store.store(.get("a"), .random(10))
            kill(getpid(), SIGKILL)
        }
        #expect(keys.answer(.get("a")) == .outdated)
        #expect(store.lookUpInMemory(.get("a"))?.count == 1)
        await store.flush()
        #expect((keys.answer(.get("a")), keys.answer(.get("b"))) == (.mayBePresent, .absent))
    }

    @Test("hold while four stores write at once: a stored response is always found")
    func concurrent() async throws {
        let stores = (0..<4).map { _ in fixture.store() }
        for store in stores { await store.flush() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    for round in 0..<100 {
                        let key = RequestKey.get("\(number)/\(round)")
                        try await store.store(key, .random(10))
                        for reader in stores {
                            let found = reader.lookUpInMemory(key)
                            #expect(found == nil || found?.count == 1, "\(key)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("are read again when there are more than the filter was made for, and then forget removed ones")
    func crowded() async throws {
        let store = fixture.store()
        await store.flush()
        let index = try index(of: store)
        try await store.store(.get("kept"), .random(10))
        for number in 0..<5_000 { index.keys.insert(.get("\(number)"), row: 1) }
        #expect(index.keys.isCrowded)
        #expect(index.keys.answer(.get("17")) == .mayBePresent)
        try await store.store(.get("last"), .random(10))
        await store.flush()
        #expect(!index.keys.isCrowded)
        #expect(index.keys.answer(.get("17")) == .absent)
        #expect(index.keys.answer(.get("kept")) == .mayBePresent)
        #expect(index.keys.answer(.get("last")) == .mayBePresent)
    }

    @Test("know nothing once their index is closed")
    func closed() async throws {
        let store = fixture.store()
        await store.flush()
        let index = try index(of: store)
        index.close()
        #expect(index.keys.answer(.get("a")) == .unknowable)
    }

    @Test("always contain what was inserted, and seem to contain few others")
    func filter() {
        var filter = KeyFilter(capacity: 4_096)
        for number in 0..<4_096 { filter.insert(KeyHash(.get("\(number)"))) }
        #expect((0..<4_096).allSatisfy { filter.contains(KeyHash(.get("\($0)"))) })
        let others = (0..<20_000).count { filter.contains(KeyHash(.get("other/\($0)"))) }
        #expect(others < 200, "expected are 50 of 20,000")
        #expect(!filter.isCrowded)
        filter.insert(KeyHash(.get("more")))
        #expect(filter.isCrowded)
    }

    private func filled(_ count: Int) async throws {
        let store = fixture.store()
        for number in 0..<count { try await store.store(.get("\(number)"), .random(10)) }
        await store.flush()
    }

    private func keys(of store: ResponseStore) throws -> KnownKeys { try index(of: store).keys }

    private func index(of store: ResponseStore) throws -> StoreIndex {
        guard case .open(let opened) = store.state.withLock({ $0.availability }) else {
            throw StoreError(.unavailable, "the store is not open")
        }
        return opened.index
    }
}

import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Freshening and removing stored responses")
struct FresheningTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private let fields: HTTPFields = [.eTag: "\"2\"", .age: "0"]

    @Test(
        "without waiting is visible to the next look-up, and keeps status, variant and body",
        arguments: [10, 100_000]
    )
    func freshen(length: Int) async throws {
        let store = fixture.store()
        let vary = VaryKey([.init(name: .acceptLanguage, value: "de")])
        try await store.store(.get("a"), .random(length), vary: vary)
        for round in 1...20 {
            let old = try #require(await store.lookup(.get("a")).first)
            fixture.clock.advance(.seconds(1))
            let time = fixture.clock.now
            store.freshen(old, headerFields: [.age: "\(round)"], requestTime: time, responseTime: time)
            let new = try #require(await store.lookup(.get("a")).first)
            #expect(new.head.headerFields == [.age: "\(round)"])
            #expect((new.id, new.head.status, new.head.vary) == (old.id, 200, vary))
            #expect(new.head.responseTime == time)
            #expect(try new.body.contents() == .random(length))
        }
    }

    @Test("touches no file")
    func noFile() async throws {
        let operations = Counter()
        let store = fixture.store(
            fileSystem: FaultyFileSystem { operation, _ in
                if [.write, .createFile, .rename, .synchronize].contains(operation) { operations.count += 1 }
            }
        )
        try await store.store(.get("a"), .random(100_000))
        let response = try #require(await store.lookup(.get("a")).first)
        await store.flush()
        let before = operations.count
        #expect(
            try await store.freshenAndWait(response, fields, at: fixture.clock.now)
        )
        #expect(operations.count == before)
    }

    @Test("of several variants takes effect at once, and reports which of them existed")
    func batch() async throws {
        let store = fixture.store()
        for value in ["de", "en", "fr"] {
            try await store.store(
                .get("a"),
                Data(value.utf8),
                vary: VaryKey([.init(name: .acceptLanguage, value: value)])
            )
        }
        let found = await store.lookup(.get("a"))
        #expect(try await store.remove([found[1]]) == 1)
        let time = fixture.clock.now
        var stored: [Bool] = []
        for response in found { stored.append(try await store.freshenAndWait(response, fields, at: time)) }
        #expect(stored == [true, false, true])
        let after = await store.lookup(.get("a"))
        #expect(after.map(\.head.headerFields) == [fields, fields])
        #expect(after.map(\.id) == [found[0].id, found[2].id])
    }

    @Test("removing responses keeps those that replaced them")
    func removeResponses() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10, seed: 1))
        let old = await store.lookup(.get("a"))
        try await store.store(.get("a"), .random(10, seed: 2))
        #expect(try await store.remove(old) == 0)
        #expect(try await store.bodies(.get("a")) == [.random(10, seed: 2)])
        store.remove(await store.lookup(.get("a"))) { _ in }
        #expect(await store.lookup(.get("a")).isEmpty)
    }

    @Test("a body of unknown length is abandoned when it exceeds the limit, and nothing of it stays")
    func cutOff() async throws {
        let store = fixture.store(limits: StoreLimits(maximumEntrySize: .kibibytes(256)))
        let writer = try #require(store.write(.get("a"), Data()))
        for _ in 0..<4 { writer.append(.random(65_536)) }
        await store.flush()
        #expect(!fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
        writer.append(Data([1]))
        await store.flush()
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
        writer.append(.random(65_536))
        let error = await #expect(throws: StoreError.self) { try await writer.commit() }
        #expect(error?.code == .abandoned)
        #expect(fixture.events.of(.tooLarge).map(\.bytes) == [262_145])
        let whole = try #require(store.write(.get("b"), .random(262_144)))
        try await whole.commit()
        #expect(try await store.bodies(.get("b")) == [.random(262_144)])
    }

    @Test("a head that is larger than the store is not stored")
    func largeHead() async throws {
        let store = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(50)))
        let fields: HTTPFields = [.cookie: String(repeating: "x", count: 60_000)]
        let writer = try #require(store.write(.get("a"), Data(), fields: fields))
        let error = await #expect(throws: StoreError.self) { try await writer.commit() }
        #expect(error?.code == .tooLarge)
        #expect(await store.statistics().entries == 0)
    }

    @Test("trimming removes the least recently used responses, down to the requested size")
    func trim() async throws {
        let store = fixture.store(limits: .unlimited)
        for name in ["a", "b", "c", "d"] {
            try await store.store(.get(name), .random(10_000))
            fixture.clock.advance(.seconds(1))
        }
        #expect(try await store.trim(to: .bytes(25_000)) == 2)
        #expect(await store.lookup(.get("b")).isEmpty)
        #expect(await store.lookup(.get("c")).count == 1)
        #expect(try await store.trim(to: .bytes(0)) == 2)
    }
}

private final class Counter: Sendable {
    private let state = Mutex(0)
    var count: Int {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension ResponseStore {
    /// Freshens a response; returns whether it was still stored.
    func freshenAndWait(_ response: StoredResponse, _ fields: HTTPFields, at time: Date) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            freshen(response, headerFields: fields, requestTime: time, responseTime: time) {
                continuation.resume(with: $0)
            }
        }
    }
}

import Foundation
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("The condition of a store")
struct ConditionTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("is empty while there is no problem")
    func sound() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10))
        await store.flush()
        #expect(store.condition.isEmpty)
    }

    @Test("names the reason why the store cannot be opened until it can, and so do the errors of its operations")
    func closed() async throws {
        let isBroken = Switch(true)
        let store = fixture.store(
            fileSystem: FaultyFileSystem.failing([.createDirectory], with: EIO, while: isBroken)
        )
        await store.flush()
        #expect(store.condition.map(\.kind) == [.unavailable])
        let error = await #expect(throws: StoreError.self) { try await store.remove(.all) }
        #expect(error?.message.contains("Input/output error") == true)
        isBroken.value = false
        fixture.clock.advance(.seconds(31))
        _ = await store.lookup(.get("a"))
        await store.flush()
        #expect(store.condition.isEmpty)
        #expect(fixture.events.of(.recovered).count == 1)
    }

    @Test("reports a full disk for as long as writes pause")
    func full() async throws {
        let isFull = Switch(false)
        let store = fixture.store(fileSystem: FaultyFileSystem.failing([.createFile], with: ENOSPC, while: isFull))
        await store.flush()
        isFull.value = true
        await #expect(throws: StoreError.self) { try await store.store(.get("a"), .random(100_000)) }
        #expect(store.condition.map(\.kind) == [.full])
        fixture.clock.advance(.seconds(31))
        #expect(store.condition.isEmpty)
    }

    @Test("reports until the process ends that the index had to be recreated")
    func replacedIndex() async throws {
        try Data.random(10_000).write(to: URL(filePath: fixture.layout.index))
        let store = fixture.store()
        await store.flush()
        #expect(store.condition.map(\.kind) == [.damaged])
        try await store.store(.get("a"), .random(10))
        #expect(store.condition.map(\.kind) == [.damaged])
    }
}

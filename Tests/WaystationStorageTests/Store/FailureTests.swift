import Foundation
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("A store that does not work")
struct FailureTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// How the clock moves until the store tries again; one that was wrong may also be set back.
    private static let pauses = [Duration.seconds(31), .seconds(-86_400)]

    @Test(
        "on a path that cannot be created misses, drops writes, reports it once, and tries again after a while",
        arguments: pauses
    )
    func unwritable(pause: Duration) async throws {
        let file = fixture.directory.appending(path: "file")
        try Data("x".utf8).write(to: file)
        let (clock, events) = (fixture.clock, fixture.events)
        let store = ResponseStore(
            directory: file.appending(path: "store"),
            now: { clock.now },
            events: { events.append($0) }
        )
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(store.write(.get("a"), .random(10)) == nil)
        await #expect(throws: StoreError.self) { try await store.remove(.all) }
        #expect(await !store.statistics().isAvailable)
        #expect(events.of(.unavailable).count == 1)
        try FileManager.default.removeItem(at: file)
        clock.advance(pause)
        #expect(await store.lookup(.get("a")).isEmpty)
        await store.flush()
        try await store.store(.get("a"), .random(10))
        #expect(await store.lookup(.get("a")).count == 1)
        #expect(events.of(.recovered).count == 1)
    }

    @Test(
        "pauses writes for 30 s when the disk is full, and continues to read",
        arguments: [FaultyFileSystem.Operation.createFile, .write, .synchronize, .rename],
        pauses
    )
    func fullDisk(operation: FaultyFileSystem.Operation, pause: Duration) async throws {
        let isFull = Switch(false)
        let store = fixture.store(fileSystem: FaultyFileSystem.failing([operation], with: ENOSPC, while: isFull))
        try await store.store(.get("a"), .random(100_000))
        isFull.value = true
        await #expect(throws: StoreError.self) { try await store.store(.get("b"), .random(300_000)) }
        #expect(fixture.events.of(.full).count == 1)
        #expect(store.write(.get("c"), .random(10)) == nil)
        #expect(try await store.bodies(.get("a")) == [.random(100_000)])
        #expect(await store.lookup(.get("b")).isEmpty)
        isFull.value = false
        fixture.clock.advance(pause)
        #expect(store.condition.isEmpty)
        try await store.store(.get("b"), .random(300_000))
        #expect(try await store.bodies(.get("b")) == [.random(300_000)])
        #expect(fixture.files(in: "bodies").count == 2)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
    }

    @Test("pauses writes when the disk has no room for the index, and continues to read")
    func fullIndex() async throws {
        let store = fixture.store(adjust: {
            $0.prepareConnection = { try $0.execute("PRAGMA max_page_count = 40") }
        })
        try await store.store(.get("a"), .random(1_000))
        var errors: [StoreError.Code] = []
        for number in 0..<10 where errors.isEmpty {
            do { try await store.store(.get("\(number)"), .random(60_000)) } catch let error as StoreError {
                errors.append(error.code)
            }
        }
        #expect(errors == [.full])
        #expect(fixture.events.of(.full).count == 1)
        #expect(try await store.bodies(.get("a")) == [.random(1_000)])
    }

    @Test("drops a write with an event when another process holds the index for too long")
    func busy() async throws {
        let store = fixture.store(adjust: { $0.busyTimeout = 0.01 })
        try await store.store(.get("a"), .random(10))
        // The upkeep after opening writes too.
        await store.flush()
        let holder = try fixture.holdIndex()
        let error = await #expect(throws: StoreError.self) { try await store.store(.get("b"), .random(10)) }
        #expect(error?.code == .unavailable)
        #expect(fixture.events.of(.unavailable).count == 1)
        #expect(await store.lookup(.get("a")).count == 1)
        try holder.use { try $0.execute("ROLLBACK") }
        try await store.store(.get("b"), .random(10))
    }

    @Test("leaves an index of a later version unchanged")
    func newerSchema() async throws {
        let earlier = fixture.store()
        try await earlier.store(.get("a"), .random(10))
        // The upkeep after opening writes too, and the database waits for it no time.
        await earlier.flush()
        try Database(path: fixture.layout.index).execute("PRAGMA user_version = 99")
        let store = fixture.store()
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(fixture.events.of(.unavailable).first?.detail.contains("schema version 99") == true)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.layout.root).allSatisfy {
                !$0.contains("damaged")
            }
        )
    }

    @Test("creates its directory again when it was removed, also if it keeps nothing in memory")
    func removedDirectoryWithoutMemory() async throws {
        let store = fixture.store(limits: StoreLimits(residentLimit: .bytes(0)))
        for length in [10, 100_000] {
            try await store.store(.get("old"), .random(10))
            // Removing file by file would meet those that the upkeep after opening removes.
            let removed = fixture.directory.appendingPathExtension("removed")
            try FileManager.default.moveItem(at: fixture.directory, to: removed)
            try? FileManager.default.removeItem(at: removed)
            fixture.clock.advance(.seconds(2))
            try await store.store(.get("new"), .random(length))
            let other = fixture.store()
            #expect(try await other.bodies(.get("new")) == [.random(length)])
            #expect(await store.lookup(.get("old")).isEmpty)
        }
    }

    @Test("stops reading an index that another process has replaced, also if it keeps nothing in memory")
    func replacedIndex() async throws {
        let store = fixture.store(limits: StoreLimits(residentLimit: .bytes(0)))
        try await store.store(.get("a"), .random(10))
        await store.flush()
        // Another process does this when it finds the index damaged.
        for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: fixture.layout.index + suffix) }
        try FileManager.default.moveItem(atPath: fixture.layout.index, toPath: fixture.layout.index + ".damaged-1")
        fixture.clock.advance(.seconds(2))
        _ = await store.lookup(.get("a"))
        await store.settle()
        #expect(await store.lookup(.get("a")).isEmpty)
    }

    @Test("leaves an index that another process moves aside while the store opens it")
    func replacedWhileOpening() async throws {
        let earlier = fixture.store()
        try await earlier.store(.get("old"), .random(10))
        await earlier.flush()
        let path = fixture.layout.index
        let isOpening = Switch(true)
        let store = fixture.store {
            $0.prepareConnection = { _ in
                guard isOpening.value else { return }
                isOpening.value = false
                for suffix in ["-wal", "-shm"] { try LocalFileSystem().removeFile(path + suffix) }
                try LocalFileSystem().rename(path, to: path + ".damaged-1")
                try StoreIndex(path: path, environment: .patient).close()
            }
        }
        await store.flush()
        fixture.clock.advance(.seconds(2))
        try await store.store(.get("a"), .random(10))
        #expect(try await fixture.store().bodies(.get("a")) == [.random(10)])
    }

    @Test("creates its directory again when it was removed while the store was open")
    func removedDirectory() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10))
        _ = await store.lookup(.get("a"))
        try FileManager.default.removeItem(at: fixture.directory)
        fixture.clock.advance(.seconds(2))
        #expect(store.resident(.get("a")) == nil)
        await store.flush()
        await store.flush()
        #expect(await store.lookup(.get("a")).isEmpty)
        try await store.store(.get("b"), .random(100_000))
        #expect(try await store.bodies(.get("b")) == [.random(100_000)])
    }
}

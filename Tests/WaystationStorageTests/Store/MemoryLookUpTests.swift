import CWaystation.SQLite
import Foundation
import Synchronization
import Testing
import WaystationProcesses
import WaystationTestSupport

@testable import WaystationStorage

@Suite("A look-up that does not wait for the disk", .timeLimit(.minutes(10)))
struct MemoryLookUpTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("finds a response that the system has in memory, and counts as one on disk")
    func present() async throws {
        try await filled()
        let store = fixture.store()
        await store.flush()
        let found = try #require(store.lookUpInMemory(.get("a")))
        #expect(try found.map { try $0.body.contents() } == [.random(20_000)])
        #expect(store.resident(.get("a"))?.first === found.first)
        let statistics = await store.statistics()
        #expect((statistics.diskHits, statistics.misses) == (1, 0))
    }

    @Test("knows that a key is not stored")
    func absent() async throws {
        try await filled()
        let store = fixture.store()
        await store.flush()
        #expect(store.lookUpInMemory(.get("b"))?.isEmpty == true)
        #expect(store.lookUpInMemory(.get("b"), mayRead: false)?.isEmpty == true)
        let statistics = await store.statistics()
        #expect((statistics.diskHits, statistics.misses) == (0, 2))
    }

    @Test("does not wait for look-ups that do")
    func blocked() async throws {
        try await filled()
        let store = fixture.store()
        await store.flush()
        store.readQueue.suspend()
        defer { store.readQueue.resume() }
        #expect(store.lookUpInMemory(.get("a"))?.count == 1)
    }

    @Test("finds nothing out about a key that is being changed")
    func changing() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10))
        await store.flush()
        store.writeQueue.suspend()
        let writer = try #require(store.write(.get("a"), .random(20)))
        async let committed = writer.commit()
        #expect(await eventually { store.resident.isChanging(.get("a")) })
        #expect(store.lookUpInMemory(.get("a")) == nil)
        #expect(store.lookUpInMemory(.get("b"))?.isEmpty == true)
        store.writeQueue.resume()
        _ = try await committed
        #expect(try store.lookUpInMemory(.get("a"))?.first?.body.contents() == .random(20))
    }

    @Test("sees at once what another store has written to the directory, and removed from it")
    func otherProcess() async throws {
        let (store, other) = (fixture.store(), fixture.store())
        await store.flush()
        #expect(store.lookUpInMemory(.get("a"))?.isEmpty == true)
        try await other.store(.get("a"), .random(10))
        #expect(store.lookUpInMemory(.get("a"))?.count == 1)
        _ = try await other.remove(.all)
        #expect(store.lookUpInMemory(.get("a"))?.isEmpty == true)
    }

    @Test("finds nothing out before the store is open, and after it became unusable")
    func closed() async throws {
        try await filled()
        let store = fixture.store()
        #expect(store.readQueue.sync { store.lookUpInMemory(.get("a")) } != nil)
        store.state.withLock { $0.availability = .unavailable(until: .distantFuture) }
        #expect(store.lookUpInMemory(.get("a")) == nil)
        store.state.withLock { $0.availability = .opening }
        #expect(store.lookUpInMemory(.get("a")) == nil)
    }

    @Test("leaves bodies in files, old responses and damaged rows to other look-ups")
    func otherWork() async throws {
        let store = fixture.store(limits: StoreLimits(maximumAge: .seconds(60)))
        try await store.store(.get("large"), .random(100_000))
        try await store.store(.get("a"), .random(10))
        await store.flush()
        #expect(store.lookUpInMemory(.get("large")) == nil)
        #expect(await store.lookup(.get("large")).count == 1)
        #expect(store.lookUpInMemory(.get("a"))?.count == 1)
        fixture.clock.advance(.seconds(61))
        #expect(store.lookUpInMemory(.get("a")) == nil)
        #expect(await store.lookup(.get("a")).isEmpty)
    }

    @Test("finds nothing out when pages must be read from the disk; after another look-up has read them, it does")
    func cold() async throws {
        let filler = fixture.store()
        for number in 0..<200 { try await filler.store(.get("\(number)"), .random(30_000)) }
        await filler.flush()
        let store = fixture.store(limits: StoreLimits(residentLimit: .bytes(0)))
        await store.flush()
        try Self.dropFromMemory(fixture.layout.index)
        // A tmpfs has no disk.
        let type = try SpawnedProcess.run("/usr/bin/stat", ["-f", "-c", "%T", fixture.layout.root]).output
        #expect((store.lookUpInMemory(.get("77")) != nil) == (type == Data("tmpfs\n".utf8)))
        #expect(await store.lookup(.get("77")).count == 1)
        #expect(store.lookUpInMemory(.get("77"))?.count == 1)
        #expect(fixture.events.all.allSatisfy { $0.kind == .stored })
    }

    @Test("makes SQLite report no damage when pages must be read from the disk")
    func coldReport() async throws {
        let filler = fixture.store()
        for number in 0..<200 { try await filler.store(.get("\(number)"), .random(30_000)) }
        await filler.flush()
        await #expect(processExitsWith: .exitCode(7)) {
            [root = fixture.layout.root as String, time = fixture.clock.now.timeIntervalSince1970 as Double] in
            // SQLite takes this function only before its first use in a process.
            #expect(waystation_sqlite_set_log({ _, code, _ in MemoryLookUpTests.report(code) }, nil) == SQLITE_OK)
            let now = Date(timeIntervalSince1970: time)
            let limits = StoreLimits(residentLimit: .bytes(0))
            let store = ResponseStore(directory: URL(filePath: root), limits: limits, now: { now })
            await store.flush()
            try MemoryLookUpTests.dropFromMemory(store.layout.index)
            // A tmpfs has no disk.
            guard store.lookUpInMemory(.get("77")) == nil else { exit(7) }
            let codes = MemoryLookUpTests.reports.withLock(\.self)
            exit(!codes.isEmpty && codes.allSatisfy { $0 & 0xFF == SQLITE_IOERR } ? 7 : 1)
        }
    }

    /// The result codes that SQLite has reported to its log.
    private static let reports = Mutex<[CInt]>([])

    private static func report(_ code: CInt) { reports.withLock { $0.append(code) } }

    private func filled() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(20_000))
        await store.flush()
    }

    /// Takes the index out of the system's memory.
    ///
    /// Another process does it: closing a file of the index would drop the locks that SQLite holds on it in this one.
    private static func dropFromMemory(_ index: String) throws {
        for suffix in ["", "-wal"] {
            let path = index + suffix
            let process = try SpawnedProcess(
                "/bin/sh",
                ["-c", "sync \"$0\" && dd of=/dev/null if=\"$0\" iflag=nocache count=0 2>&1", path]
            )
            #expect(process.wait() == .exited(0), "\(path)")
        }
    }
}

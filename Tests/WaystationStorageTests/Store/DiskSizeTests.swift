import Foundation
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("The size of a store's directory", .timeLimit(.minutes(10)))
struct DiskSizeTests {
    private let fixture: StoreFixture
    private let delays = DrivenDelays()
    private let peak = Peak()
    private static let limit = 2 << 20
    /// What the directory may take while responses are written.
    private static let most = limit + limit / 4 + (4 << 20)

    init() throws { fixture = try StoreFixture() }

    private var size: Int { DiskUsage.bytes(of: fixture.layout.root) }

    private func measure() { peak.measure { size } }

    private var highest: Int { peak.highest }

    private func store(
        limit: Int = limit,
        fileSystem: (any FileSystem)? = nil,
        maximumAge: Duration = .seconds(86_400),
        logTimeout: Double = 600,
        adjust: (inout StoreEnvironment) -> Void = { _ in }
    ) -> ResponseStore {
        // A body that is removed while the directory is measured must not be counted beside the one that takes its place.
        let fileSystem = fileSystem ?? FaultyFileSystem { _, _ in peak.awaitMeasurement() }
        let limits = StoreLimits(maximumSize: .bytes(limit), maximumAge: maximumAge, residentLimit: .bytes(0))
        return fixture.store(limits: limits, fileSystem: fileSystem) { environment in
            environment.logTimeout = logTimeout
            delays.drive(&environment)
            adjust(&environment)
        }
    }

    /// Stores bodies, `width` at a time, and measures the directory after each of them.
    private func burst(
        _ count: Int,
        in stores: [ResponseStore],
        width: Int,
        size: @escaping @Sendable (Int) -> Int
    ) async {
        let next = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while true {
                        let number = next.next()
                        guard number < count else { return }
                        let body = Data.random(size(number), seed: UInt64(number))
                        _ = try? await stores[number % stores.count].store(.get("\(number)"), body)
                        measure()
                    }
                }
            }
        }
    }

    /// Lets the time pass after which a store comes to rest: its upkeep ends long before.
    private func rest(_ stores: ResponseStore...) async {
        for store in stores { await store.flush() }
        delays.end()
        for store in stores { await store.flush() }
    }

    private final class Counter: Sendable {
        private let number = Atomic(0)

        var value: Int { number.load(ordering: .relaxed) }

        func next() -> Int { number.add(1, ordering: .relaxed).oldValue }
    }

    /// Sizes of bodies that are in the index, in files, and both.
    enum Bodies: CaseIterable, Sendable {
        case small, middle, large, mixed

        func size(_ number: Int) -> Int {
            switch self {
            case .small: 900 + number % 7 * 200
            case .middle: 50_000
            case .large: 70_000 + number % 5 * 90_000
            case .mixed: [300, 50_000, 66_000, 8_200, 400_000, 16_384, 50_000, 1_000_000][number % 8]
            }
        }

        var count: Int { self == .small ? 4_000 : 250 }
    }

    @Test(
        "stays within its bounds in a burst, at rest and when it is opened again",
        arguments: Bodies.allCases,
        [1, 32]
    )
    func bounds(bodies: Bodies, width: Int) async throws {
        let store = store()
        await burst(bodies.count, in: [store], width: width) { bodies.size($0) }
        #expect(highest <= Self.most)
        #expect(highest > Self.limit / 2, "the store must be full, or nothing is tested")
        await rest(store)
        #expect(size <= Self.limit)
        let statistics = await store.statistics()
        #expect(statistics.bytes > Self.limit / 4, "the store must keep most of what it may")
        #expect(abs(statistics.diskBytes - size) <= 64 << 10, "\(statistics.diskBytes) \(size)")
        #expect(statistics.diskBytes <= Self.limit)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
        let other = self.store()
        await other.flush()
        #expect(size <= Self.limit)
        #expect(fixture.events.of(.unavailable).isEmpty && fixture.events.of(.damaged).isEmpty)
    }

    @Test("stays within its bounds when large bodies take the place of small ones, and the other way round")
    func changingSizes() async throws {
        let store = store()
        for bodies in [Bodies.middle, .large, .small, .large, .middle] {
            await burst(bodies.count, in: [store], width: 8) { bodies.size($0) }
            #expect(highest <= Self.most)
            await rest(store)
            #expect(size <= Self.limit)
            #expect(try await store.remove(.all) > 0)
        }
        await rest(store)
        #expect(size <= 1 << 20, "free pages are returned")
    }

    @Test("stays within its bounds with several stores on one directory")
    func severalStores() async throws {
        let stores = (0..<4).map { _ in store() }
        await burst(600, in: stores, width: 32) { Bodies.mixed.size($0) }
        #expect(highest <= Self.most)
        await rest(stores[0], stores[1], stores[2], stores[3])
        #expect(size <= Self.limit)
    }

    @Test("stays within its bounds when large bodies begin in several stores at the same moment")
    func simultaneousBodies() async throws {
        let first = store()
        await burst(60, in: [first], width: 4) { Bodies.middle.size($0) }
        let barrier = Barrier()
        barrier.close()
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let fileSystem = FaultyFileSystem { operation, path in
            guard path.contains("/staging/"), !path.hasSuffix("/lock") else { return }
            if operation == .write { measure() }
            guard operation == .createFile else { return }
            // Each store has made room when it comes here.
            arrival.yield()
            barrier.pass()
        }
        let stores = (0..<8).map { _ in store(fileSystem: fileSystem) }
        await withTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    let body = Data.random(1_000_000, seed: UInt64(number))
                    // Each may be refused, if the others have taken the room before it is complete.
                    _ = try? await store.store(.get("large \(number)"), body)
                    measure()
                    // One that was refused before it made a file does not come to the barrier.
                    arrival.yield()
                }
            }
            var arrived = arrivals.makeAsyncIterator()
            for _ in stores { await arrived.next() }
            barrier.open()
        }
        #expect(highest <= Self.most)
        await rest(first)
        for store in stores { await rest(store) }
        #expect(size <= Self.limit)
        // What was dropped leaves its space to others.
        try await stores[0].store(.get("later"), .random(1_000_000, seed: 8))
    }

    @Test("counts bodies that are not complete: those without room are dropped, with an event, and the others stored")
    func incompleteBodies() async throws {
        let store = store()
        await burst(60, in: [store], width: 4) { Bodies.middle.size($0) }
        let body = Data.random(1_000_000)
        let writers = (0..<24).compactMap { store.write(.get("large \($0)"), Data([UInt8($0)])) }
        for start in stride(from: 0, to: body.count, by: 100_000) {
            for writer in writers { writer.append(body.dropFirst(start).prefix(100_000)) }
            await store.settle()
            measure()
        }
        var stored = 0
        for writer in writers where (try? await writer.commit()) != nil { stored += 1 }
        measure()
        #expect(stored >= 1)
        #expect(stored < 24)
        #expect(fixture.events.of(.tooLarge).count == 24 - stored)
        #expect(highest <= Self.most)
        await rest(store)
        #expect(size <= Self.limit)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
        // What was dropped leaves its space to others.
        try await store.store(.get("later"), .random(1_000_000, seed: 2))
    }

    @Test("is that of its limit after the process has ended, without a log")
    func afterExit() async throws {
        let path = fixture.directory.path(percentEncoded: false)
        await #expect(processExitsWith: .exitCode(0)) { [path = path as String, limit = Self.limit as Int] in
            let limits = StoreLimits(maximumSize: .bytes(limit))
            let store = ResponseStore(directory: URL(filePath: path), limits: limits)
            for number in 0..<200 { store.write(.get("\(number)"), .random(50_000, seed: UInt64(number)))?.commit() }
            exit(0)
        }
        #expect(size <= Self.limit)
        #expect(size > Self.limit / 2)
        #expect(try LocalFileSystem().status(of: fixture.layout.index + "-wal")?.size ?? 0 == 0)
    }

    @Test("is that of its limit when it is opened after a kill")
    func afterKill() async throws {
        let path = fixture.directory.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, limit = Self.limit as Int] in
            let limits = StoreLimits(maximumSize: .bytes(limit))
            // The clock of the store that is opened afterwards.
            let now = DrivenClock().now
            let store = ResponseStore(directory: URL(filePath: path), limits: limits, now: { now })
            for number in 0..<80 {
                _ = try? await store.store(.get("\(number)"), .random(50_000, seed: UInt64(number)))
            }
            kill(getpid(), SIGKILL)
        }
        let store = store()
        await store.flush()
        #expect(size <= Self.limit)
        #expect(await store.statistics().entries > 10)
    }

    @Test("stays within its bounds while the files of evicted bodies cannot be removed, with events, and recovers")
    func failingRemovals() async throws {
        let isBroken = Switch(true)
        let bodies = fixture.layout.bodies
        let fileSystem = FaultyFileSystem { operation, path in
            guard operation == .removeFile, path.hasPrefix(bodies), isBroken.value else { return }
            throw FileError("removeFile", path, code: EIO)
        }
        let store = store(fileSystem: fileSystem)
        await burst(80, in: [store], width: 4) { 100_000 + $0 }
        #expect(highest <= Self.most)
        #expect(!fixture.events.of(.tooLarge).isEmpty)
        #expect(!fixture.events.of(.unavailable).isEmpty)
        isBroken.value = false
        await rest(store)
        await rest(store)
        #expect(size <= Self.limit)
        try await store.store(.get("new"), .random(100_000))
        #expect(try await store.bodies(.get("new")) == [.random(100_000)])
        let entries = await store.statistics().entries
        #expect(fixture.files(in: "bodies").count == entries)
    }

    @Test(
        "stays within its bounds while another program reads the index without a pause; nothing is stored then",
        arguments: [1_000, 50_000],
        [1, 4]
    )
    func reader(bodySize: Int, count: Int) async throws {
        // Each write waits so long for the reader.
        let stores = (0..<count).map { _ in store(logTimeout: 0.01) }
        await burst(30, in: [store()], width: 1) { _ in 50_000 }
        let reader = try readIndex()
        await burst(300, in: stores, width: count) { _ in bodySize }
        #expect(highest <= Self.most)
        #expect(fixture.events.of(.unavailable).contains { $0.detail.contains("reads") })
        try reader.use { try $0.execute("COMMIT") }
        for store in stores { await store.flush() }
        let patient = store()
        try await patient.store(.get("new"), .random(50_000))
        await rest(patient)
        #expect(size <= Self.limit)
    }

    @Test("stays within its bounds while another process empties the log: a write waits for it and is done")
    func otherEmptying() async throws {
        let tries = Counter()
        let store = store { environment in
            environment.prepareConnection = {
                $0.trace { if $0.contains("wal_checkpoint(TRUNCATE)") { _ = tries.next() } }
            }
        }
        try await store.store(.get("old"), .random(50_000))
        let reader = try readIndex()
        await burst(300, in: [self.store(logTimeout: 0.01)], width: 1) { _ in 1_000 }
        let reports = fixture.events.of(.unavailable).count
        #expect(reports > 0, "the log must be full, or nothing is tested")

        async let emptying = Task.detached { [index = fixture.layout.index] in
            // Not at the same moment as the observer.
            let database = try Database(path: index, busyTimeout: 600)
            while try database.integer("PRAGMA wal_checkpoint(TRUNCATE)") != 0 {}
        }.value
        let observer = try Database(path: fixture.layout.index)
        #expect(try await eventually { try observer.integer("PRAGMA wal_checkpoint(PASSIVE)") == 1 })
        let (before, isOver) = (tries.value, Switch(false))
        async let written: Int64 = {
            defer { isOver.value = true }
            return try await store.store(.get("new"), .random(1_000))
        }()
        // It has tried in vain, and tries again.
        #expect(await eventually { tries.value >= before + 2 || isOver.value })
        try reader.use { try $0.execute("COMMIT") }
        _ = try await (written, emptying)
        #expect(try await store.bodies(.get("new")) == [.random(1_000)])
        #expect(fixture.events.of(.unavailable).count == reports)
        #expect(highest <= Self.most)
    }

    /// Begins to read the index, as another process does, until `COMMIT` is executed on the result.
    private func readIndex() throws -> Connection {
        let reader = try Connection(Database(path: fixture.layout.index))
        try reader.use { db in
            try db.execute("BEGIN")
            _ = try db.integer("SELECT count(*) FROM responses")
        }
        return reader
    }

    @Test("includes a damaged index that was moved aside, which is removed when its space is needed")
    func movedAside() async throws {
        let aside = fixture.layout.index + ".damaged-1"
        try Data.random(1_500_000).write(to: URL(filePath: aside))
        let store = store()
        try await store.store(.get("a"), .random(50_000))
        #expect(await store.statistics().diskBytes > 1_500_000)
        #expect(FileManager.default.fileExists(atPath: aside))
        await burst(40, in: [store], width: 4) { _ in 50_000 }
        #expect(!FileManager.default.fileExists(atPath: aside))
        #expect(fixture.events.of(.swept).contains { $0.detail.contains("damaged") })
        #expect(await store.statistics().entries > 20)
        #expect(highest <= Self.most)
    }

    @Test(
        "is at most 1 MiB for a smaller limit, which counts the bytes of the responses",
        arguments: [0, 20_000, 300_000]
    )
    func smallLimit(limit: Int) async throws {
        let store = store(limit: limit)
        await burst(200, in: [store], width: 8) { [1_000, 9_000, 70_000][$0 % 3] }
        await rest(store)
        #expect(size <= 1 << 20)
        #expect(await store.statistics().bytes <= limit)
        #expect(highest <= limit + limit / 4 + (4 << 20))
    }

    @Test("of an index that does not count its body files yet is counted when it opens")
    func earlierIndex() async throws {
        // Without a rest of its own, which would empty the log at any time.
        let filler = self.store(limit: 64 << 20)
        for number in 0..<6 { try await filler.store(.get("\(number)"), .random(200_000, seed: UInt64(number))) }
        await filler.flush()
        try fixture.execute("DROP TABLE file_totals; DROP TRIGGER file_added; DROP TRIGGER file_removed")
        let store = store()
        await store.flush()
        #expect(abs(await store.statistics().diskBytes - size) <= 64 << 10)
        await burst(30, in: [store], width: 4) { 200_001 + $0 }
        await rest(store)
        #expect(size <= Self.limit)
    }

    @Test("stays within its bounds while many responses are removed or expire")
    func removals() async throws {
        let limit = 16 << 20
        for isExpiry in [false, true] {
            let store = store(limit: limit, maximumAge: .seconds(100))
            await burst(240, in: [store], width: 8) { _ in 50_000 }
            if isExpiry {
                fixture.clock.advance(.seconds(200))
                delays.end()
                await store.flush()
            } else {
                _ = try await store.remove(.all)
            }
            measure()
            #expect(highest <= limit + limit / 4 + (4 << 20))
            #expect(await store.statistics().entries == 0)
            await rest(store)
            #expect(size <= 2 << 20)
        }
    }
}

/// The largest of the sizes that were measured.
private final class Peak: Sendable {
    private let size = Mutex(0)

    var highest: Int { size.withLock(\.self) }

    func measure(_ measurement: () -> Int) { size.withLock { $0 = max($0, measurement()) } }

    /// Waits for the end of a measurement.
    func awaitMeasurement() { size.withLock { _ in } }
}

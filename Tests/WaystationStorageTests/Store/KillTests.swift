import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

/// Kills a real process (SIGKILL) before each of its file operations and SQL statements in turn, and checks what it
/// left behind.
@Suite("A process killed at any moment")
struct KillTests {
    @Test("leaves each response as it was before or after the change, and no left-over files", arguments: 1...96)
    func whileItWrites(point: Int) async throws {
        try await kill(at: point, isOpen: true)
    }

    @Test("loses nothing if it is killed while a store opens", arguments: 1...16)
    func whileItOpens(point: Int) async throws {
        try await kill(at: point, isOpen: false)
    }

    @Test("loses nothing of a part that it is storing", arguments: 1...48)
    func whileItStoresAPart(point: Int) async throws {
        let fixture = try StoreFixture()
        let path = fixture.directory.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, point = point as Int] in
            await KillTests.storePart(in: path, until: point)
        }
        let after = fixture.store()
        let found = try await after.bodies(.get("film"))
        #expect(found.count == 1)
        #expect(found.first.map { $0.count >= Self.part.count - 100 && Self.part.starts(with: $0) } == true)
        await after.flush()
        #expect(fixture.files(in: "bodies").count == 1)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
    }

    private static let part = Data.random(4 * BlockChecksums.blockSize + 100, seed: 3)

    /// The child's work: it stores a part whose whole blocks are on disk when the steps begin to count.
    private static func storePart(in directory: String, until point: Int) async {
        let counter = Counter(limit: point)
        var environment = StoreEnvironment()
        environment.fileSystem = FaultyFileSystem { _, _ in counter.step() }
        environment.prepareConnection = { $0.trace { _ in counter.step() } }
        let clock = DrivenClock()
        let store = ResponseStore(directory: URL(filePath: directory), environment: environment, now: { clock.now })
        let head = StoredHead(
            key: .get("film"),
            status: 200,
            headerFields: [.eTag: "\"a\""],
            requestTime: clock.now,
            responseTime: clock.now,
            contentLength: 1 << 20
        )
        let writer = store.begin(head)
        writer?.append(part)
        await store.flush()
        counter.begin()
        writer?.commitPart(at: 0)
        await store.flush()
        raise(SIGKILL)
    }

    private func kill(at point: Int, isOpen: Bool) async throws {
        let fixture = try StoreFixture()
        let before = fixture.store()
        try await before.store(.get("small"), .random(1_000, seed: 1))
        try await before.store(.get("large"), .random(100_000, seed: 1))
        await before.flush()
        let path = fixture.directory.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, point = point as Int, isOpen = isOpen as Bool] in
            await KillTests.work(in: path, until: point, countingFromOpen: isOpen)
        }
        let after = fixture.store()
        await after.flush()
        let bodies = [1, 2].map { (Data.random(1_000, seed: $0), Data.random(100_000, seed: $0)) }
        let small = try await after.bodies(.get("small"))
        let large = try await after.bodies(.get("large"))
        #expect(small.isEmpty || bodies.map { [$0.0] }.contains(small))
        #expect(large.isEmpty || bodies.map { [$0.1] }.contains(large))
        let added = try await after.bodies(.get("added"))
        #expect(added.isEmpty || added == [.random(200_000, seed: 2)])
        #expect(fixture.events.of(.damaged).isEmpty)
        let shared = try await after.bodies(.get("shared"))
        #expect(shared.isEmpty || shared == [.random(200_000, seed: 2)])
        let entries = await after.statistics().entries
        #expect(entries == [small, large, added, shared].filter { !$0.isEmpty }.count)
        #expect(fixture.files(in: "bodies").count == Set(large + added + shared).count)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
    }

    /// The child's work: it replaces both responses, adds two that share a body, and removes, over and over, until it
    /// is killed.
    private static func work(in directory: String, until point: Int, countingFromOpen isOpen: Bool) async {
        let counter = Counter(limit: point)
        var environment = StoreEnvironment()
        environment.fileSystem = FaultyFileSystem { _, _ in counter.step() }
        environment.prepareConnection = { $0.trace { _ in counter.step() } }
        if !isOpen { counter.begin() }
        let store = ResponseStore(directory: URL(filePath: directory), environment: environment)
        await store.flush()
        if isOpen { counter.begin() }
        while true {
            _ = try? await store.store(.get("small"), .random(1_000, seed: 2))
            _ = try? await store.store(.get("large"), .random(100_000, seed: 2))
            _ = try? await store.store(.get("added"), .random(200_000, seed: 2))
            _ = try? await store.store(.get("shared"), .random(200_000, seed: 2))
            _ = try? await store.remove(.url(RequestKey.get("added").url))
            _ = try? await store.remove(.url(RequestKey.get("large").url))
        }
    }
}

/// Kills its own process at the given step.
private final class Counter: Sendable {
    private let limit: Int
    private let steps = Atomic(-1_000_000)

    init(limit: Int) { self.limit = limit }

    func begin() { steps.store(0, ordering: .sequentiallyConsistent) }

    func step() {
        let (_, step) = steps.add(1, ordering: .sequentiallyConsistent)
        if step == limit { kill(getpid(), SIGKILL) }
    }
}

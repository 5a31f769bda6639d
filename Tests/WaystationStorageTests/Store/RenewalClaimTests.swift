import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP
import WaystationTestSupport

@testable import WaystationStorage

@Suite("The right to renew a response")
struct RenewalClaimTests {
    private let fixture: StoreFixture
    private let key = RequestKey.get("a")

    init() throws { fixture = try StoreFixture() }

    private func claim(_ key: RequestKey, _ vary: VaryKey = .none, in store: ResponseStore) async -> RenewalClaim? {
        await withCheckedContinuation { claimed in store.claimRenewal(of: key, vary) { claimed.resume(returning: $0) } }
    }

    private static func language(_ value: String) -> VaryKey {
        VaryKey([VaryKey.Nominee(name: .acceptLanguage, value: value)])
    }

    @Test("has one holder among the stores of a directory, for each key and each variant, until it is released")
    func oneHolder() async throws {
        let (first, second) = (fixture.store(), fixture.store())
        var held = await claim(key, in: first)
        #expect(held != nil)
        #expect(await claim(key, in: first) == nil)
        #expect(await claim(key, in: second) == nil)
        #expect(await claim(.get("b"), in: second) != nil)
        #expect(await claim(key, Self.language("de"), in: second) != nil)
        held = nil
        await first.flush()
        held = await claim(key, in: second)
        #expect(held != nil)
        #expect(try FileManager.default.attributesOfItem(atPath: fixture.layout.renewalLock)[.size] as? Int == 0)
    }

    @Test("uses one open file for all renewals of a store")
    func oneFile() async throws {
        let opened = Mutex(0)
        let files = FaultyFileSystem { operation, path in
            if operation == .lock, path.hasSuffix("renewals.lock") { opened.withLock { $0 += 1 } }
        }
        let store = fixture.store(fileSystem: files)
        await store.flush()
        var claims: [RenewalClaim?] = []
        for number in 0..<50 { claims.append(await claim(.get("\(number)"), in: store)) }
        #expect(claims.allSatisfy { $0 != nil })
        // One call opens the file, and each of the others takes a lock.
        #expect(opened.withLock { $0 } == 51)
        claims = []
        await store.flush()
        #expect(await claim(.get("1"), in: fixture.store()) != nil)
    }

    @Test("is released only when what was stored before is written")
    func afterWriting() async throws {
        let (first, second) = (fixture.store(), fixture.store())
        await first.flush()
        var held = await claim(key, in: first)
        try await first.store(.get("earlier"), .random(10, seed: 1))
        let now = fixture.clock.now
        let head = StoredHead(key: key, status: 200, headerFields: [:], requestTime: now, responseTime: now)
        let writer = try #require(first.begin(head))
        writer.append(Data.random(10, seed: 2))
        writer.commit { _ in }
        held = nil
        #expect(held == nil)
        var next = await claim(key, in: second)
        while next == nil { next = await claim(key, in: second) }
        #expect(try await second.bodies(key) == [Data.random(10, seed: 2)])
    }

    @Test("is given although its file cannot be locked")
    func unlockable() async throws {
        let file = FaultyFileSystem { operation, path in
            if operation == .lock, path.hasSuffix("renewals.lock") { throw FileError("lock", path, code: ENOLCK) }
        }
        let (first, second) = (fixture.store(fileSystem: file), fixture.store(fileSystem: file))
        let held = await claim(key, in: first)
        #expect(held != nil)
        #expect(await claim(key, in: second) != nil)
    }

    @Test("ends with the process that has it")
    func killed() async throws {
        let path = fixture.directory.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = ResponseStore(directory: URL(filePath: path))
            store.claimRenewal(of: .get("a"), .none) { claim in
                guard claim != nil else { exit(1) }
                kill(getpid(), SIGKILL)
            }
            while true { await store.flush() }
        }
        #expect(await claim(key, in: fixture.store()) != nil)
    }
}

import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("Bodies that responses share")
struct SharedBodyTests {
    private let fixture: StoreFixture
    private let body = Data.random(200_000)

    init() throws { fixture = try StoreFixture() }

    private func path(_ name: String) -> String { "\(fixture.layout.bodies)/\(name)" }

    @Test("a large body is a file named by its SHA-256, in whatever pieces it arrived")
    func name() async throws {
        let store = fixture.store()
        let writer = try #require(store.write(.get("a"), Data()))
        for start in stride(from: 0, to: body.count, by: 33_333) { writer.append(body.dropFirst(start).prefix(33_333)) }
        try await writer.commit()
        let digest = MessageDigest.of(body).map { String(format: "%02x", $0) }.joined()
        #expect(fixture.files(in: "bodies") == ["\(digest.prefix(2))/\(digest)"])
    }

    @Test("equal bodies of several URLs, variants, partitions and stores are one file")
    func sharing() async throws {
        let stores = [fixture.store(), fixture.store()]
        let german = VaryKey([.init(name: .acceptLanguage, value: "de")])
        try await stores[0].store(.get("a"), body)
        let file = try #require(fixture.files(in: "bodies").first)
        let identity = try LocalFileSystem().identity(of: path(file))
        try await stores[1].store(.get("b"), body)
        try await stores[0].store(.get("a"), body, vary: german)
        try await stores[1].store(.get("a", partition: "anna"), body)
        #expect(fixture.files(in: "bodies") == [file])
        #expect(try LocalFileSystem().identity(of: path(file)) == identity, "the file must not be written again")
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
        for key in [RequestKey.get("b"), .get("a", partition: "anna")] {
            #expect(try await stores[0].bodies(key) == [body])
        }
        #expect(try await stores[1].bodies(.get("a")) == [body, body])
    }

    @Test("a file is removed with the last response that refers to it, and not before")
    func lastRow() async throws {
        let store = fixture.store()
        for name in ["a", "b", "c"] { try await store.store(.get(name), body) }
        try await store.remove(.url(RequestKey.get("a").url))
        try await store.store(.get("b"), .random(10))
        #expect(fixture.files(in: "bodies").count == 1)
        #expect(try await store.bodies(.get("c")) == [body])
        try await store.remove(.url(RequestKey.get("c").url))
        #expect(fixture.files(in: "bodies").isEmpty)
    }

    @Test("storing the same body again for the same response keeps the file")
    func replacedByItself() async throws {
        let store = fixture.store()
        for _ in 0..<3 { try await store.store(.get("a"), body) }
        #expect(fixture.files(in: "bodies").count == 1)
        #expect(try await store.bodies(.get("a")) == [body])
    }

    @Test("a shared body counts once, and the totals equal those of a recount")
    func size() async throws {
        let store = fixture.store()
        for name in ["a", "b", "c"] { try await store.store(.get(name), body) }
        try await store.store(.get("small"), .random(100))
        let bytes = await store.statistics().bytes
        #expect(bytes > 200_100)
        #expect(bytes < 201_000)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
        try await store.remove(.url(RequestKey.get("a").url))
        #expect(await store.statistics().bytes > 200_100)
        try await store.remove(.url(RequestKey.get("b").url))
        try await store.remove(.url(RequestKey.get("c").url))
        #expect(await store.statistics().bytes < 300)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("eviction continues until enough space is free, even if a shared body frees none at first")
    func eviction() async throws {
        let store = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(600)))
        for name in ["a", "b", "c"] {
            try await store.store(.get(name), body)
            fixture.clock.advance(.seconds(120))
        }
        for number in 0..<3 as Range<UInt64> {
            try await store.store(.get("\(number)"), .random(150_000, seed: 10 + number))
            fixture.clock.advance(.seconds(120))
        }
        await store.flush()
        #expect(await store.statistics().bytes <= 480_000)
        #expect(try await store.bodies(.get("2")) == [.random(150_000, seed: 12)])
        #expect(fixture.files(in: "bodies").count == 3)
        #expect(fixture.events.of(.evicted).reduce(0) { $0 + $1.bytes } >= 200_000)
    }

    @Test("damage of a shared body removes all responses that use it, with one event, and the body can be stored again")
    func damage() async throws {
        let store = fixture.store()
        for name in ["a", "b"] { try await store.store(.get(name), body) }
        try await store.store(.get("other"), .random(100_000, seed: 2))
        let response = try #require(await store.lookup(.get("a")).first)
        let file = try #require(fixture.files(in: "bodies").first { $0.hasSuffix(Self.digest(of: body)) })
        let handle = try FileHandle(forWritingTo: URL(filePath: path(file)))
        try handle.seek(toOffset: 70_000)
        try handle.write(contentsOf: Data([0, 0, 0, 0]))
        try handle.close()
        #expect(throws: StoreError.self) { try response.body.contents() }
        await store.flush()
        #expect(await store.lookup(.get("a")).isEmpty)
        #expect(await store.lookup(.get("b")).isEmpty)
        #expect(fixture.events.of(.damaged).map(\.count) == [2])
        #expect(fixture.files(in: "bodies").count == 1)
        try await store.store(.get("b"), body)
        #expect(try await store.bodies(.get("b")) == [body])
        // Reading the damaged file reports the damage again, but the new file stays.
        #expect(throws: StoreError.self) { try response.body.contents() }
        await store.flush()
        #expect(try await store.bodies(.get("b")) == [body])
        #expect(fixture.events.of(.damaged).count == 1)
    }

    @Test("a file that is too short is replaced by the next response with the same body")
    func healing() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), body)
        let file = try #require(fixture.files(in: "bodies").first)
        try body.prefix(1_000).write(to: URL(filePath: path(file)))
        try await store.store(.get("b"), body)
        #expect(try await store.bodies(.get("a")) == [body])
        #expect(try await store.bodies(.get("b")) == [body])
        #expect(fixture.events.of(.damaged).isEmpty)
    }

    @Test("a left-over file without a row is reused by the next response with its body")
    func orphan() async throws {
        // A store at rest removes the empty directory of the file; here only the upkeep after opening does.
        let store = fixture.store {
            let afterDelay = $0.afterDelay
            $0.afterDelay = { queue, seconds, work in
                if seconds != ResponseStore.restInterval { afterDelay(queue, seconds, work) }
            }
        }
        try await store.store(.get("a"), body)
        let file = try #require(fixture.files(in: "bodies").first)
        try await store.remove(.url(RequestKey.get("a").url))
        // The upkeep after opening removes such files.
        await store.flush()
        let directory = URL(filePath: path(file)).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try body.write(to: URL(filePath: path(file)))
        let identity = try LocalFileSystem().identity(of: path(file))
        try await store.store(.get("b"), body)
        #expect(try LocalFileSystem().identity(of: path(file)) == identity)
        #expect(try await store.bodies(.get("b")) == [body])
    }

    @Test("a commit that fails removes no file that another response uses")
    func failedCommit() async throws {
        try await fixture.store().store(.get("a"), body)
        let failing = fixture.store(adjust: {
            // Adding a row always fails, after the body's file was moved to its final place.
            $0.prepareConnection = { try $0.execute("PRAGMA max_page_count = 1") }
        })
        for number in 0..<40 as Range<UInt64> {
            guard let writer = failing.write(.get("\(number)"), body) else { break }
            _ = try? await writer.commit()
        }
        await failing.flush()
        #expect(fixture.events.of(.full).count == 1)
        #expect(fixture.files(in: "bodies").count == 1)
        #expect(try await fixture.store().bodies(.get("a")) == [body])
    }

    @Test("processes that add and remove the same body at once never lose it")
    func race() async throws {
        let stores = (0..<3).map { _ in fixture.store(adjust: { $0.busyTimeout = 30 }) }
        let body = body
        await withTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    for round in 0..<25 {
                        let key = RequestKey.get("\(number)")
                        _ = try? await store.store(key, body)
                        let found = try? await store.bodies(key)
                        #expect(found == [body], "store \(number), round \(round)")
                        _ = try? await store.remove(.url(key.url))
                    }
                    await store.flush()
                }
            }
        }
        #expect(fixture.events.of(.damaged).isEmpty)
        #expect(fixture.files(in: "bodies").isEmpty)
    }

    private static func digest(of data: Data) -> String {
        MessageDigest.of(data).map { String(format: "%02x", $0) }.joined()
    }
}

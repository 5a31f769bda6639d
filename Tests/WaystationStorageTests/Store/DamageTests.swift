import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Damaged files")
struct DamageTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static let lengths = [0, 10, 5_000, 16_384, 60_000, 70_000, 200_000]

    /// Damages one file, in a way derived from a seed.
    private func damage(_ path: String, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: URL(filePath: path))
        let offset = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
        switch seed % 4 {
        case 0: bytes = bytes.prefix(offset)
        case 1:
            bytes.replaceSubrange(
                offset..<min(bytes.count, offset + 1),
                with: [UInt8.random(in: 0...255, using: &random)]
            )
        case 2: bytes.replaceSubrange(offset..<min(bytes.count, offset + 4_096), with: Data.random(4_096, seed: seed))
        default: bytes.replaceSubrange(offset..<min(bytes.count, offset + 512), with: Data(count: 512))
        }
        try bytes.write(to: URL(filePath: path))
    }

    /// Fills a store and returns a copy of its files as they are while it is open, including the log.
    private func snapshot() async throws -> StoreFixture {
        let store = fixture.store()
        for (number, length) in Self.lengths.enumerated() {
            try await store.store(.get("\(number)"), .random(length, seed: UInt64(number)))
        }
        await store.flush()
        return try copy(of: fixture)
    }

    /// Copies the files to a place where no store is open, since an open one would change them.
    private func copy(of fixture: StoreFixture) throws -> StoreFixture {
        let copy = try StoreFixture()
        try FileManager.default.removeItem(at: copy.directory)
        try FileManager.default.copyItem(at: fixture.directory, to: copy.directory)
        return copy
    }

    private func check(_ copy: StoreFixture, _ what: String) async throws {
        let store = copy.store()
        for _ in 0..<2 {
            for (number, length) in Self.lengths.enumerated() {
                for response in await store.lookup(.get("\(number)")) {
                    guard let body = try? response.body.contents() else { continue }
                    #expect(body == .random(length, seed: UInt64(number)), "\(what): a wrong body for \(number)")
                    #expect(response.head.headerFields == [.contentType: "text/plain"], "\(what)")
                    #expect(response.head.status == 200, "\(what)")
                }
            }
            await store.flush()
        }
        // Whatever the damage was, the store works afterwards; the damage may be found only by a write.
        for attempt in 0..<3 {
            do {
                try await store.store(.get("new"), .random(80_000))
                break
            } catch {
                await store.flush()
                #expect(attempt < 2, "\(what): still fails: \(error)")
            }
        }
        #expect(try await store.bodies(.get("new")) == [.random(80_000)], "\(what)")
        let asides = try FileManager.default.contentsOfDirectory(atPath: copy.layout.root)
            .filter { $0.contains("damaged") }
        #expect(asides.count <= 1)
        if !asides.isEmpty { #expect(!copy.events.of(.damaged).isEmpty, "\(what): moved aside without an event") }
    }

    @Test(
        "are repaired or refused, and no wrong body is returned",
        arguments: ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"]
    )
    func index(name: String) async throws {
        let whole = try await snapshot()
        for seed in 0..<24 as Range<UInt64> {
            let copy = try copy(of: whole)
            try damage("\(copy.layout.root)/\(name)", seed: seed)
            try await check(copy, "\(name), damage \(seed)")
        }
    }

    @Test("in bodies remove the responses with an event")
    func bodies() async throws {
        let whole = try await snapshot()
        for seed in 0..<24 as Range<UInt64> {
            let copy = try copy(of: whole)
            let name = try #require(copy.files(in: "bodies").sorted().first)
            let path = "\(copy.layout.bodies)/\(name)"
            let before = try Data(contentsOf: URL(filePath: path))
            try damage(path, seed: seed)
            try await check(copy, "body, damage \(seed)")
            if FileManager.default.fileExists(atPath: path) {
                let isUnharmed = try Data(contentsOf: URL(filePath: path)) == before
                #expect(isUnharmed, "the damaged body file is still there")
            } else {
                #expect(copy.events.of(.damaged).count == 1)
            }
        }
    }

    @Test("include missing bodies, which cause a miss and an event")
    func missingBody() async throws {
        let copy = try await snapshot()
        for name in copy.files(in: "bodies") {
            try FileManager.default.removeItem(atPath: "\(copy.layout.bodies)/\(name)")
        }
        let store = copy.store()
        #expect(await store.lookup(.get("5")).isEmpty)
        #expect(await store.lookup(.get("6")).isEmpty)
        await store.flush()
        #expect(copy.events.of(.damaged).count == 2)
        #expect(await store.statistics().entries == Self.lengths.count - 2)
    }

    @Test("include an index that is not a database, which is moved aside; only the last one is kept")
    func notADatabase() async throws {
        var fixture = try await snapshot()
        for round in 1...3 {
            for suffix in ["-wal", "-shm"] { try LocalFileSystem().removeFile(fixture.layout.index + suffix) }
            try Data.random(10_000).write(to: URL(filePath: fixture.layout.index))
            let store = fixture.store()
            #expect(await store.lookup(.get("5")).isEmpty)
            #expect(FileManager.default.fileExists(atPath: fixture.layout.index + ".damaged-\(round)"))
            #expect(!FileManager.default.fileExists(atPath: fixture.layout.index + ".damaged-\(round - 1)"))
            #expect(fixture.events.of(.damaged).count == 1)
            try await store.store(.get("5"), .random(10))
            await store.flush()
            #expect(await store.lookup(.get("5")).count == 1)
            fixture = try copy(of: fixture)
        }
    }
}

import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("Inspecting a store")
struct InspectionTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func inspector() throws -> StoreInspector { try StoreInspector(directory: fixture.directory) }

    @Test("lists a scope in the order of URLs, and reads fields and bodies")
    func entries() async throws {
        let store = fixture.store()
        try await store.store(.get("b"), .random(100_000))
        try await store.store(.get("a"), .random(10))
        try await store.store(.get("a", partition: "anna"), .random(20))
        let inspector = try inspector()
        let entries = try inspector.entries()
        #expect(entries.map(\.key) == [.get("a"), .get("a", partition: "anna"), .get("b")])
        #expect(entries.map(\.bodyLength) == [10, 20, 100_000])
        #expect(entries.map { $0.bodyFile == nil } == [true, true, false])
        #expect(try inspector.totals().bytes == entries.reduce(0) { $0 + $1.size })
        let large = try #require(try inspector.response(entries[2]))
        #expect(try large.body.contents() == .random(100_000))
        #expect(large.head.headerFields == [.contentType: "text/plain"])
        #expect(try inspector.entries(in: .partition("anna")).count == 1)
        #expect(try inspector.entries(in: .host("shop.example", partition: "")).count == 2)
        try await store.remove(.all)
        #expect(try inspector.response(entries[0]) == nil)
    }

    @Test("refuses a directory that is not a store", arguments: ["nothing", "text", "database", "empty"])
    func noStore(what: String) throws {
        switch what {
        case "text": try Data.random(5_000).write(to: URL(filePath: fixture.layout.index))
        case "empty": try Data().write(to: URL(filePath: fixture.layout.index))
        case "database": try fixture.execute("CREATE TABLE other (x)")
        default: break
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: fixture.layout.root).sorted()
        let error = #expect(throws: StoreError.self) { try inspector() }
        #expect(error?.code == .notAStore)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.layout.root).sorted() == before)
    }

    @Test("refuses a store of a later version")
    func newer() async throws {
        try await fixture.store().store(.get("a"), .random(10))
        try fixture.execute("PRAGMA user_version = \(StoreIndex.schemaVersion + 1)")
        let error = #expect(throws: StoreError.self) { try inspector() }
        #expect(error?.code == .newerVersion)
        #expect(error?.message.contains("schema version \(StoreIndex.schemaVersion + 1)") == true)
    }

    @Test("finds each kind of damage, and a repair drops only the damaged entries")
    func damage() async throws {
        let store = fixture.store()
        for (number, name) in ["field", "body", "url", "fine"].enumerated() {
            try await store.store(.get(name), .random(1_000 + number))
        }
        for name in ["gone", "short", "changed", "large"] {
            try await store.store(.get(name), .random(100_000, seed: UInt64(name.utf8.count)))
        }
        await store.flush()
        #expect(try inspector().verify().isIntact)
        let files = try Dictionary(
            uniqueKeysWithValues: inspector().entries().compactMap { entry in
                entry.bodyFile.map { (entry.key, URL(filePath: fixture.layout.bodies + "/" + $0)) }
            }
        )
        let field = "CAST('X: y' || char(13, 10) AS BLOB)"
        try fixture.execute("UPDATE responses SET fields = \(field) WHERE url LIKE '%/field'")
        try fixture.execute("UPDATE responses SET body = zeroblob(body_length) WHERE url LIKE '%/body'")
        try fixture.execute("UPDATE responses SET url = url || 'x' WHERE url LIKE '%/url'")
        try FileManager.default.removeItem(at: try #require(files[.get("gone")]))
        try Data.random(99, seed: 5).write(to: try #require(files[.get("short")]))
        try Data.random(100_000, seed: 99).write(to: try #require(files[.get("changed")]))
        let shard = try #require(files[.get("large")]).deletingLastPathComponent()
        let leftOver = shard.lastPathComponent + String(repeating: "0", count: 62)
        try Data("left over".utf8).write(to: shard.appending(path: leftOver))
        try Data("not the store's".utf8).write(to: shard.appending(path: "x"))
        let found = try inspector().verify()
        let names = Set(found.damaged.compactMap { $0.key?.url.split(separator: "/").last.map(String.init) })
        // "large" and "short" share a body.
        #expect(names == ["field", "body", "urlx", "gone", "short", "changed", "large"])
        #expect(found.unnamedFiles == 1)
        #expect(found.indexProblems.isEmpty)
        #expect(found.entries == 8)
        #expect(try await store.repair(found) == 7)
        await fixture.store().flush()
        let after = try inspector().verify()
        #expect(after.isIntact)
        #expect((after.entries, after.unnamedFiles) == (1, 0))
    }

    @Test("finds wrong totals, and a repair counts them again")
    func totals() async throws {
        let store = fixture.store()
        try await store.store(.get("a"), .random(10))
        await store.flush()
        try fixture.execute("UPDATE totals SET bytes = 5")
        let found = try inspector().verify()
        #expect(found.indexProblems.count == 1)
        try await store.repair(found)
        #expect(try inspector().verify().isIntact)
    }

    @Test("finds an index that SQLite reports as damaged, and a repair recreates it")
    func index() async throws {
        var store: ResponseStore? = fixture.store()
        for number in 0..<200 { store?.write(.get("\(number)"), .random(2_000))?.commit { _ in } }
        await store?.flush()
        store?.opened()?.index.close()
        store = nil
        // Closing the last connection moves the log's contents into the file.
        try fixture.execute("UPDATE totals SET bytes = bytes")
        let file = URL(filePath: fixture.layout.index)
        var bytes = try Data(contentsOf: file)
        for page in stride(from: 4, to: 30, by: 2) {
            bytes.replaceSubrange(page * 8_192..<page * 8_192 + 64, with: Data.random(64))
        }
        try bytes.write(to: file)
        let found = try inspector().verify()
        #expect(!found.isIntact)
        #expect(!found.indexProblems.isEmpty)
        let repaired = fixture.store()
        _ = try? await repaired.repair(found)
        await repaired.flush()
        try await repaired.store(.get("a"), .random(10))
        #expect(try inspector().verify().isIntact)
        #expect(!fixture.events.of(.damaged).isEmpty)
    }
}

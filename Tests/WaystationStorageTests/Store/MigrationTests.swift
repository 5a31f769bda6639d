import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

/// Tests with stores that an earlier version has written, as SQL and files.
@Suite("A store of schema version 1")
struct MigrationTests {
    private let fixture: StoreFixture
    private let large = Data.random(100_000)
    private static let largeFile = "4f/4f0c9d8e5b7a43219c1de28f6a3b5c70"

    init() async throws {
        fixture = try StoreFixture()
        let database = try Connection(Database(path: fixture.layout.index))
        try database.use { try $0.execute("PRAGMA journal_mode = WAL") }
        try database.use { db in
            try db.execute(Self.schema)
            try Self.insert(.get("small"), Data("hello".utf8), file: nil, at: fixture.clock.now, db)
            try Self.insert(.get("large"), large, file: Self.largeFile, at: fixture.clock.now, db)
        }
        database.close()
        let file = fixture.directory.appending(path: "bodies/\(Self.largeFile)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try large.write(to: file)
    }

    @Test("opens, and its responses are found, with nothing dropped or moved aside")
    func hits() async throws {
        let store = fixture.store()
        #expect(try await store.bodies(.get("small")) == [Data("hello".utf8)])
        #expect(try await store.bodies(.get("large")) == [large])
        await store.flush()
        #expect(fixture.events.all.isEmpty)
        #expect(fixture.files(in: "bodies") == [Self.largeFile])
        let version = try Database(path: fixture.layout.index).integer("PRAGMA user_version")
        #expect(version == Int64(StoreIndex.schemaVersion))
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("counts bodies that become shared once, and removes its old files with their rows")
    func totals() async throws {
        let store = fixture.store()
        let before = await store.statistics().bytes
        for name in ["a", "b"] { try await store.store(.get(name), .random(150_000, seed: 7)) }
        #expect(await store.statistics().bytes < before + 151_000)
        try await store.remove(.url(RequestKey.get("large").url))
        #expect(fixture.files(in: "bodies").count == 1)
        #expect(try StoreInspector(directory: fixture.directory).verify().isIntact)
    }

    @Test("can be read by an inspector without being changed")
    func inspector() throws {
        let inspector = try StoreInspector(directory: fixture.directory)
        #expect(try inspector.entries().map(\.key) == [.get("large"), .get("small")])
        #expect(try inspector.verify().isIntact)
        let version = try Database(path: fixture.layout.index).integer("PRAGMA user_version")
        #expect(version == 1)
    }

    @Test("is migrated by one of several stores that open it at once")
    func twoAtOnce() async throws {
        let stores = (0..<4).map { _ in fixture.store() }
        for store in stores { #expect(try await store.bodies(.get("large")) == [large]) }
        // A store may take another's new staging directory, which is not locked yet, for a left-over; the other then
        // makes a new one.
        #expect(fixture.events.all.filter { $0.kind != .swept }.isEmpty)
    }

    @Test(
        "is migrated from version 2 as well, whether or not that has counted its body files",
        arguments: [true, false]
    )
    func version2(countsFiles: Bool) async throws {
        // A store of this version differs from one of version 2 in the table of purges.
        let store = fixture.store()
        await store.flush()
        try fixture.execute("DROP TABLE purges; PRAGMA user_version = 2")
        if !countsFiles {
            try fixture.execute("DROP TRIGGER file_added; DROP TRIGGER file_removed; DROP TABLE file_totals")
        }
        #expect(try StoreInspector(directory: fixture.directory).entries().count == 2)
        let next = fixture.store()
        #expect(try await next.bodies(.get("large")) == [large])
        try await next.purge([.tag("t")], as: .soft)
        #expect(await next.statistics().isAvailable)
        let database = try Database(path: fixture.layout.index)
        #expect(try database.integer("PRAGMA user_version") == Int64(StoreIndex.schemaVersion))
        #expect(try database.integer("SELECT files FROM file_totals") == 1)
    }

    private static func insert(_ key: RequestKey, _ body: Data, file: String?, at time: Date, _ db: Database) throws {
        let fields = Data("Content-Type: text/plain\r\n".utf8)
        let sums = BlockChecksums(of: body).encoded
        let microseconds = Int64(time.timeIntervalSince1970 * 1_000_000)
        let seal = fields.withUnsafeBytes { fields in
            sums.withUnsafeBytes { sums in
                Seal.of(
                    key: key,
                    numbers: (200, microseconds, microseconds, body.count),
                    file: file,
                    fields: fields,
                    vary: UnsafeRawBufferPointer(start: nil, count: 0),
                    checksums: sums
                )
            }
        }
        try db.statement(
            """
            INSERT INTO responses (method, url, partition, status, request_time, response_time, last_used, size,
                                   seal, body_length, body_file, vary, fields, block_sums, body)
            VALUES (?, ?, ?, 200, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run([
            .text(key.method), .text(key.url), .text(key.partition), .integer(microseconds), .integer(microseconds),
            .integer(microseconds), .integer(Int64(body.count + fields.count + key.url.utf8.count)),
            .integer(Int64(bitPattern: seal)), .integer(Int64(body.count)), .text(file), .blob(Data()),
            .blob(fields), .blob(sums), .blob(file == nil ? body : nil),
        ])
    }

    /// The schema that version 1 wrote.
    private static let schema = """
        CREATE TABLE responses (
            id            INTEGER PRIMARY KEY AUTOINCREMENT,
            method        TEXT NOT NULL,
            url           TEXT NOT NULL,
            partition     TEXT NOT NULL,
            status        INTEGER NOT NULL,
            request_time  INTEGER NOT NULL,
            response_time INTEGER NOT NULL,
            last_used     INTEGER NOT NULL,
            size          INTEGER NOT NULL,
            seal          INTEGER NOT NULL,
            body_length   INTEGER NOT NULL,
            body_file     TEXT,
            vary          BLOB NOT NULL,
            fields        BLOB NOT NULL,
            block_sums    BLOB NOT NULL,
            body          BLOB
        );
        CREATE INDEX responses_by_key ON responses(url, method, partition);
        CREATE INDEX responses_by_use ON responses(last_used, size);
        CREATE INDEX responses_by_age ON responses(response_time);
        CREATE INDEX responses_by_file ON responses(body_file) WHERE body_file IS NOT NULL;
        CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO totals VALUES (0, 0);
        CREATE TRIGGER added AFTER INSERT ON responses BEGIN
            UPDATE totals SET entries = entries + 1, bytes = bytes + NEW.size;
        END;
        CREATE TRIGGER removed AFTER DELETE ON responses BEGIN
            UPDATE totals SET entries = entries - 1, bytes = bytes - OLD.size;
        END;
        CREATE TRIGGER resized AFTER UPDATE OF size ON responses BEGIN
            UPDATE totals SET bytes = bytes + NEW.size - OLD.size;
        END;
        PRAGMA application_id = 1465078862;
        PRAGMA user_version = 1;
        """
}

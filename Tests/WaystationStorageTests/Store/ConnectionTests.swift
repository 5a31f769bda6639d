import CWaystation.SQLite
import Foundation
import Testing

@testable import WaystationStorage

@Suite("A connection to SQLite")
struct ConnectionTests {
    private struct Refused: Error {}

    private let fixture: StoreFixture
    private let connection: Connection
    private var path: String { fixture.layout.index }

    init() throws {
        fixture = try StoreFixture()
        let database = try Database(path: fixture.layout.index)
        try database.execute("CREATE TABLE list (number INTEGER, text TEXT, bytes BLOB)")
        connection = Connection(database)
    }

    private func count(in database: Database) throws -> Int64? { try database.integer("SELECT count(*) FROM list") }

    @Test("returns the values that it was given, and no value of another type")
    func values() throws {
        let text = "a\u{0}b “ü”"
        try connection.use { database in
            let insert = try database.statement("INSERT INTO list VALUES (?, ?, ?)")
            try insert.run([.integer(.min), .text(text), .blob(Data([0, 1, 255]))])
            try insert.run([.integer(0), .text(""), .blob(Data())])
            try insert.run([.integer(1), .text(nil), .blob(nil)])
            // The arguments of the run before are gone.
            try insert.run()
            var rows: [(Int64?, String?, Data?)] = []
            try database.statement("SELECT * FROM list ORDER BY rowid").forEachRow { row in
                rows.append((row.integer(0), row.text(1), row.data(2)))
                #expect(row.text(0) == nil && row.integer(1) == nil && row.text(2) == nil)
            }
            #expect(rows.map(\.0) == [.min, 0, 1, nil])
            #expect(rows.map(\.1) == [text, "", nil, nil])
            #expect(rows.map(\.2) == [Data([0, 1, 255]), Data(), nil, nil])
            #expect(try database.texts("SELECT text FROM list WHERE number <= ?", [.integer(0)]) == [text, ""])
        }
    }

    @Test("undoes a transaction whose work fails, and one that was left open")
    func transactions() throws {
        try connection.use { database in
            try database.transaction { try database.execute("INSERT INTO list (number) VALUES (1)") }
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.execute("INSERT INTO list (number) VALUES (2)")
                    throw Refused()
                }
            }
            #expect(!database.isInTransaction)
            #expect(try count(in: database) == 1)
            try database.execute("BEGIN; INSERT INTO list (number) VALUES (3)")
            try database.transaction { try database.execute("INSERT INTO list (number) VALUES (4)") }
            #expect(try count(in: database) == 2)
        }
    }

    @Test("keeps some compiled statements, and compiles any number of others")
    func statements() throws {
        try connection.use { database in
            let first = try database.statement("SELECT 0")
            #expect(try database.statement("SELECT 0") === first)
            for number in 1...200 { #expect(try database.integer("SELECT \(number)") == Int64(number)) }
            #expect(try database.statement("SELECT 0") !== first)
            // A statement that is no longer kept can still be used.
            var value: Int64?
            try first.forEachRow { value = $0.integer(0) }
            #expect(value == 0)
        }
    }

    @Test("reports errors with SQLite's code and message, and can be used afterwards")
    func errors() throws {
        let wrong = #expect(throws: SQLiteError.self) { try connection.use { try $0.execute("SELECT * FROM absent") } }
        #expect(wrong?.description == "SQLite error 1: no such table: absent")
        try connection.use { database in
            try database.execute("CREATE UNIQUE INDEX numbers ON list (number)")
            let insert = try database.statement("INSERT INTO list (number) VALUES (?)")
            try insert.run([.integer(1)])
            let twice = #expect(throws: SQLiteError.self) { try insert.run([.integer(1)]) }
            #expect(twice?.primaryCode == SQLITE_CONSTRAINT && twice?.code != SQLITE_CONSTRAINT)
            try insert.run([.integer(2)])
            #expect(try count(in: database) == 2)
        }
        let other = try Database(path: path)
        try other.execute("BEGIN IMMEDIATE")
        let busy = #expect(throws: SQLiteError.self) { try connection.use { try $0.transaction {} } }
        #expect(busy?.primaryCode == SQLITE_BUSY)
    }

    @Test("cannot be used once it is closed, and releases its file")
    func close() throws {
        try connection.use { try $0.execute("PRAGMA journal_mode = WAL; INSERT INTO list (number) VALUES (1)") }
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        connection.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        let error = #expect(throws: SQLiteError.self) { try connection.use { try count(in: $0) } }
        #expect(error?.code == SQLITE_MISUSE)
    }
}

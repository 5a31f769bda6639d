import CWaystationSQLite
import Foundation
import GRDB
import WaystationFileSystem

/// What the store knows of its responses, and the bodies of the small ones: a SQLite database in WAL mode.
///
/// Look at one with the shell (times are microseconds since 1970):
///
/// ```
/// $ sqlite3 -readonly index.sqlite
/// sqlite> PRAGMA application_id; PRAGMA user_version;
/// 1465078862
/// 2
/// sqlite> SELECT id, method, url, status, datetime(response_time / 1000000, 'unixepoch') AS stored,
///    ...> body_length, coalesce(body_file, 'inline') AS body, size FROM responses;
/// 1|GET|https://shop.example/app/|200|2026-11-20 09:30:00|512|inline|583
/// 2|GET|https://shop.example/app/film.mp4|200|2026-11-20 09:30:02|2097152|4f/4f0c9d8e5b7a4321…|2097228
/// sqlite> SELECT CAST(fields AS TEXT), CAST(vary AS TEXT) FROM responses WHERE id = 1;
/// content-type: text/html
/// set-cookie: a=1
/// set-cookie: b=2
/// |accept-language: de
/// sqlite> SELECT * FROM totals;
/// 2|2097811
/// ```
///
/// - `fields` is a field section (RFC 9112 §5), `vary` the nominated request fields, without a colon when absent.
/// - `body` holds a small body; `body_file` names a large one below `bodies/`. One of the two is null. Rows with equal
///   large bodies name one file, which goes with the last of them (``removeUnnamed(_:remove:)``).
/// - `block_sums` holds the XXH64 of each 64 KiB block of the body, little-endian; `seal` that of the other columns.
/// - `totals` is kept by triggers, so that the size is known without adding it up. A file that several rows name
///   counts once in it.
///
/// The body is the last column: reading the others leaves its overflow pages alone. One table of 8 KiB pages
/// answered a 16 KiB body in 5–6 µs from 1,000 rows and in 9–11 from 100,000; bodies in a table of their own took a
/// quarter more, and 4 and 32 KiB pages were slower. SQLite does not map the file into memory: a file that shrinks
/// under a mapping kills the process.
///
/// There are two connections, one that reads and one that writes, each on its own queue: a look-up never waits for a
/// write. `package` hooks aside, errors are GRDB's `DatabaseError`, or ``IndexError``.
final class StoreIndex: Sendable {
    static let schemaVersion = 2
    static let applicationID: Int32 = 0x5753_544E  // "WSTN"

    let path: String
    let identity: FileIdentity?
    let reader: DatabaseQueue
    let writer: DatabaseQueue

    /// Opens the index and makes it when there is none.
    init(path: String, environment: StoreEnvironment) throws {
        let fileSystem = environment.fileSystem
        if try fileSystem.identity(of: path) == nil {
            // SQLite gives its companions the mode of the database, and the database the umask's: so it comes first.
            // Never open one that exists, since closing it again would drop the locks that SQLite holds on it in
            // this process (https://sqlite.org/howtocorrupt.html §2.2).
            do { _ = try fileSystem.createFile(path) } catch let error as FileError where error.code == EEXIST {}
        }
        var writing = Self.configuration(environment)
        writing.prepareDatabase { db in
            // Before the first statement that may write.
            try Self.withoutCheckpoint(on: db) { try Self.refuseForeign(db) }
            // The first two only matter to a database without pages, and must come before its first page.
            try db.execute(sql: "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL")
            try db.execute(
                sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216"
            )
            // What takes back a failed statement of a transaction of many would go through a file of its own.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            try environment.prepareConnection(db)
        }
        self.path = path
        writer = try DatabaseQueue(path: path, configuration: writing)
        try writer.writeWithoutTransaction { try Self.prepareSchema($0) }
        var reading = Self.configuration(environment)
        reading.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = ON") }
        reader = try DatabaseQueue(path: path, configuration: reading)
        identity = try fileSystem.identity(of: path)
    }

    /// Opens an index that is there, to read it: nothing is made, migrated or written.
    ///
    /// - Throws: ``IndexError/noIndex`` when there is none, or something else.
    init(reading path: String, environment: StoreEnvironment) throws {
        let fileSystem = environment.fileSystem
        guard try fileSystem.status(of: path)?.kind == .file else { throw IndexError.noIndex }
        var configuration = Self.configuration(environment)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA query_only = ON")
            try Self.withoutCheckpoint(on: db) {
                guard try Self.hasSchema(db) else { throw IndexError.noIndex }
            }
        }
        self.path = path
        reader = try DatabaseQueue(path: path, configuration: configuration)
        writer = reader
        identity = try fileSystem.identity(of: path)
    }

    /// Runs a check after whose failure the connection leaves the file as it is.
    private static func withoutCheckpoint(on db: Database, _ check: () throws -> Void) throws {
        waystation_sqlite_set_no_checkpoint_on_close(db.sqliteConnection, 1)
        try check()
        waystation_sqlite_set_no_checkpoint_on_close(db.sqliteConnection, 0)
    }

    private static func configuration(_ environment: StoreEnvironment) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(environment.busyTimeout)
        configuration.foreignKeysEnabled = false
        // Without this GRDB ends the process when a transaction is left open, as a failing disk may leave one.
        configuration.allowsUnsafeTransactions = true
        configuration.label = "Waystation.index"
        configuration.prepareDatabase { db in
            // A file that was made to do harm cannot make statements of ours do it.
            waystation_sqlite_set_defensive(db.sqliteConnection, 1)
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
            try db.execute(sql: "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -8192")
        }
        return configuration
    }

    /// Closes both connections; later use throws.
    func close() {
        try? reader.close()
        try? writer.close()
    }
}

/// What an index may be wrong in beside SQLite's own errors.
enum IndexError: Error, CustomStringConvertible {
    case damaged(String)
    case newerSchema(Int)
    /// The file is a database of something else.
    case foreign(applicationID: Int32)
    /// There is none where one was to be read.
    case noIndex

    var description: String {
        switch self {
        case .noIndex: "there is no index of a store"
        case .damaged(let what): "the index \(what)"
        case .foreign(let applicationID):
            """
            index.sqlite is a database of another program (application_id \(applicationID)) and was left as it is; \
            give the store another directory
            """
        case .newerSchema(let version):
            """
            the index has schema version \(version) and this version of Waystation knows \(StoreIndex.schemaVersion); \
            update it, or give the store another directory
            """
        }
    }
}

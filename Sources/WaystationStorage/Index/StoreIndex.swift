import CWaystationSQLite
import Foundation
import WaystationFileSystem

/// The index of a store's responses, with the bodies of the small ones: a SQLite database in WAL mode.
///
/// To inspect an index with the shell (times are microseconds since 1970):
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
/// - `fields` is a field section (RFC 9112 §5), `vary` the nominated request fields; a field that the request did not
///   have has no colon.
/// - `body` holds a small body; `body_file` names a large one below `bodies/`. One of the two is null. Rows with equal
///   large bodies name the same file, which is removed with the last of these rows (``removeUnnamed(_:remove:)``).
/// - `block_sums` holds the XXH64 of each 64 KiB block of the body, little-endian; `seal` holds that of the other
///   columns.
/// - `totals` is kept up to date by triggers, so that the size is known without summing over the rows. A file that
///   several rows name counts once in it. `file_totals` counts the files alone, in blocks of 4,096 bytes.
///
/// The body is the last column: reading the other columns does not touch the body's overflow pages. With one table of
/// 8 KiB pages, a look-up of a 16 KiB body took 5–6 µs among 1,000 rows and 9–11 µs among 100,000; with bodies in a
/// table of their own it took a quarter longer, and 4 and 32 KiB pages were slower. SQLite does not map the file into
/// memory: a mapped file that another program truncates kills the process.
///
/// There are two connections, one for reading and one for writing, each on its own queue: a look-up never waits for a
/// write. A third one reads pages that the system has in memory (``MemoryReader``), on the thread of a load. Errors are
/// ``SQLiteError`` or ``IndexError``, apart from those of `package` hooks.
final class StoreIndex: Sendable {
    static let schemaVersion = 2
    static let applicationID: Int32 = 0x5753_544E  // "WSTN"

    let path: String
    let identity: FileIdentity?
    let reader: Connection
    let writer: Connection
    /// Reads what the system has in memory; `nil` where it cannot be asked for that alone.
    let memoryReader: MemoryReader?
    /// The keys that the index may hold.
    let keys: KnownKeys
    /// The heads of rows that were read.
    let heads = KnownHeads()
    /// The bytes of bodies that one transaction removes, so that the log does not become too large.
    let stepBytes: Int

    static let pageSize = 8_192

    /// Opens the index, or makes it if it is missing.
    init(path: String, environment: StoreEnvironment, budget: DiskBudget = DiskBudget(.bytes(.max))) throws {
        let fileSystem = environment.fileSystem
        if try fileSystem.identity(of: path) == nil {
            // SQLite gives its companion files the mode of the database, and makes the database with the mode of the
            // umask. The database file is therefore made before SQLite opens it. Never open a file that exists: closing
            // it again would drop the locks that SQLite holds on it in this process
            // (https://sqlite.org/howtocorrupt.html §2.2).
            do { _ = try fileSystem.createFile(path) } catch let error as FileError where error.code == EEXIST {}
        }
        self.path = path
        stepBytes = budget.step
        // If another process moves the index aside while the connections are opened, the next check of the index's place
        // must find another file there than this one.
        identity = try fileSystem.identity(of: path)
        writer = try Self.connect(path, environment) { db in
            // A database of another program is refused before the first statement that may write.
            try Self.withoutCheckpoint(on: db) { try Self.refuseForeign(db) }
            // The first two only affect a database without pages, so they must come before its first page.
            try db.execute("PRAGMA page_size = \(Self.pageSize); PRAGMA auto_vacuum = INCREMENTAL")
            try db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            try db.execute("PRAGMA journal_size_limit = \(budget.log)")
            try db.execute("PRAGMA wal_autocheckpoint = \(budget.log / Self.pageSize)")
            // By default, SQLite keeps the data for undoing a failed statement of a large transaction in a temporary
            // file.
            try db.execute("PRAGMA temp_store = MEMORY")
            try environment.prepareConnection(db)
            try Self.prepareSchema(db)
        }
        // SQLite opens the log with the first read.
        func prepareReading(_ db: Database) throws {
            try db.execute("PRAGMA query_only = ON")
            _ = try db.integer("SELECT 1 FROM responses LIMIT 1")
        }
        reader = try Self.connect(path, environment, prepareReading)
        memoryReader = try MemoryReader(query: Self.lookup) {
            let database = try Self.open(path, environment)
            try prepareReading(database)
            return database
        }
        keys = KnownKeys(try writer.use(Self.place))
    }

    /// The place of the index's state; `nil` if SQLite could not switch to WAL mode.
    private static func place(_ db: Database) throws -> IndexState.Place? {
        guard try db.texts("PRAGMA journal_mode") == ["wal"] else { return nil }
        return IndexState.Place(db.handle)
    }

    /// Opens an existing index to read it: nothing is made, migrated or written.
    ///
    /// - Throws: ``IndexError/noIndex`` when the file is missing or is not an index, or another error.
    init(reading path: String, environment: StoreEnvironment) throws {
        let fileSystem = environment.fileSystem
        guard try fileSystem.status(of: path)?.kind == .file else { throw IndexError.noIndex }
        self.path = path
        reader = try Self.connect(path, environment) { db in
            try db.execute("PRAGMA query_only = ON")
            try Self.withoutCheckpoint(on: db) {
                guard try Self.hasSchema(db) else { throw IndexError.noIndex }
            }
        }
        writer = reader
        memoryReader = nil
        stepBytes = .max
        keys = KnownKeys(nil)
        identity = try fileSystem.identity(of: path)
    }

    /// Runs a check; if the check fails, closing the connection leaves the file as it is.
    private static func withoutCheckpoint(on db: Database, _ check: () throws -> Void) throws {
        waystation_sqlite_set_no_checkpoint_on_close(db.handle, 1)
        try check()
        waystation_sqlite_set_no_checkpoint_on_close(db.handle, 0)
    }

    private static func connect(
        _ path: String,
        _ environment: StoreEnvironment,
        _ prepare: (Database) throws -> Void
    ) throws -> Connection {
        let database = try open(path, environment)
        try prepare(database)
        return Connection(database)
    }

    private static func open(_ path: String, _ environment: StoreEnvironment) throws -> Database {
        let database = try Database(path: path, busyTimeout: environment.busyTimeout)
        // A file that was made by an attacker cannot make the store's own statements do harm.
        waystation_sqlite_set_defensive(database.handle, 1)
        try database.execute("PRAGMA trusted_schema = OFF")
        try database.execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -8192")
        return database
    }

    /// Closes all connections; later use throws.
    func close() {
        keys.close()
        memoryReader?.close()
        reader.close()
        writer.close()
    }
}

/// The problems of an index besides SQLite's own errors.
enum IndexError: Error, CustomStringConvertible {
    case damaged(String)
    case newerSchema(Int)
    /// The file is another program's database.
    case foreign(applicationID: Int32)
    /// An index was to be read, but there is none.
    case noIndex

    var description: String {
        switch self {
        case .noIndex: "there is no store index here"
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

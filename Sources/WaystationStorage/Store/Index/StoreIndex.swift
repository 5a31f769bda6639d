import CWaystation.SQLite
import Foundation
import HTTPTypes
import Synchronization
import WaystationHTTP

/// The index of a store's responses, with the bodies of the small ones: a SQLite database in WAL mode.
///
/// To inspect an index with the shell (times are microseconds since 1970):
///
/// ```
/// $ sqlite3 -readonly index.sqlite
/// sqlite> PRAGMA application_id; PRAGMA user_version;
/// 1465078862
/// 3
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
/// - `purges` has a row for each purge that still selects rows of `responses` (``Purge``).
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
    static let schemaVersion = 3
    static let applicationID: Int32 = 0x5753_544E  // "WSTN"

    let path: String
    let identity: FileIdentity?
    let reader: Connection
    let writer: Connection
    /// Reads what the system has in memory; `nil` where it cannot be asked for that alone.
    private let memoryReader: MemoryReader?
    /// The keys that the index may hold.
    let keys: KnownKeys
    /// The heads of rows that were read.
    let heads = KnownHeads()
    /// The purges, with which each look-up compares its rows.
    let purges: KnownPurges
    /// Whether the index has a table of purges; one of an earlier version, which is only read, has none.
    let hasPurges: Bool
    /// The query for the rows of a key.
    private let lookup: String
    /// The bytes of bodies that one transaction removes, so that the log does not become too large.
    let stepBytes: Int

    static let pageSize = 8_192

    /// Opens the index, or makes it if it is missing.
    init(
        path: String,
        environment: StoreEnvironment,
        budget: DiskBudget = DiskBudget(.bytes(.max)),
        purges: KnownPurges = KnownPurges()
    ) throws {
        let fileSystem = environment.fileSystem
        if try fileSystem.identity(of: path) == nil {
            // SQLite gives its companion files the mode of the database, and makes the database with the mode of the
            // umask. The database file is therefore made before SQLite opens it. Never open a file that exists: closing
            // it again would drop the locks that SQLite holds on it in this process
            // (https://sqlite.org/howtocorrupt.html §2.2).
            do { _ = try fileSystem.createFile(path) } catch let error as FileError where error.code == EEXIST {}
        }
        self.path = path
        self.purges = purges
        hasPurges = true
        let lookup = Self.lookup(hasPurges: true)
        self.lookup = lookup
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
        memoryReader = try MemoryReader(query: lookup) {
            let database = try Self.open(path, environment)
            try prepareReading(database)
            return database
        }
        keys = KnownKeys(try writer.use(Self.place))
        let (last, known) = try writer.use { (try Self.lastPurge($0), try Self.purges($0)) }
        purges.open(known, last: last)
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
        hasPurges = try reader.use { try $0.integer("SELECT 1 FROM sqlite_schema WHERE name = 'purges'") != nil }
        lookup = Self.lookup(hasPurges: hasPurges)
        purges = KnownPurges()
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
    /// The index that is to be read does not exist.
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

/// Body files are put in place and removed only while this process has locked the index for writing, and a body file is
/// never removed while a row names it.
///
/// So code that adds a row under that lock can rely on a file that exists. A process that is killed in between leaves a
/// file without a row, never a row without its file.
extension StoreIndex {
    /// Removes those of the body files that no row names any more; `remove` is called for each.
    func removeUnnamed(_ files: [String], remove: (String) throws -> Void) throws {
        guard !files.isEmpty else { return }
        try change { db in
            for file in Set(files) where try !isNamed(file, db) { try remove(file) }
        }
    }

    /// Removes all rows that name a body file, if `isDamaged` still returns true while no process can replace the file.
    func removeRows(naming file: String, if isDamaged: () throws -> Bool) throws -> Removal {
        try change { db in try isDamaged() ? Self.remove(.file(file), db) : Removal() }
    }

    /// Removes the body files in a shard that no row names; `remove` is called for each.
    func removeOrphans(among names: () throws -> [String], shard: String, remove: (String) throws -> Void) throws -> Int
    {
        try change { db in
            let known = try namedFiles(in: shard, db)
            let orphans = try names().map { "\(shard)/\($0)" }.filter { !known.contains($0) }
            for orphan in orphans { try remove(orphan) }
            return orphans.count
        }
    }

    /// Runs a removal of empty directories while no process puts a body file in its place.
    func removeDirectories(_ remove: () throws -> Void) throws { try change { _ in try remove() } }

    private func isNamed(_ file: String, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM responses WHERE body_file = ? LIMIT 1", [.text(file)]) != nil
    }

    private func namedFiles(in shard: String, _ db: Database) throws -> Set<String> {
        Set(
            try db.texts(
                "SELECT CAST(body_file AS TEXT) FROM responses WHERE body_file >= ? AND body_file < ?",
                [.text("\(shard)/"), .text("\(shard)0")]  // "0" follows "/"
            )
        )
    }
}

extension StoreIndex {
    /// One row that a look-up found.
    enum Found {
        case intact(IndexRecord)
        /// A row that differs from what was written.
        case damaged(id: Int64)
    }

    /// The rows of a key, newest first, without those that were purged.
    func rows(for key: RequestKey) throws -> [Found] {
        try reader.use { db in
            let query = try db.statement(lookup)
            while true {
                if let rows = try usable({ try rows(for: key, by: query) }) { return rows }
                // The rows of a purge are removed before it is: so those of a purge that is gone already are not found the
                // next time.
                try learnPurges(db)
            }
        }
    }

    /// The rows of a key, newest first, read without waiting for the disk; `nil` if that is not possible.
    func rowsInMemory(for key: RequestKey) -> [Found]? {
        usable { memoryReader?.read { try rows(for: key, by: $0) } }
    }

    /// - Returns: The rows, and the number of the last purge that the index has.
    private func rows(for key: RequestKey, by query: Statement) throws -> (found: [Found], lastPurge: Int64) {
        var (found, lastPurge): ([Found], Int64) = ([], 0)
        try query.forEachRow([.text(key.url), .text(key.method), .text(key.partition)]) { row in
            found.append(record(row, key: key).map(Found.intact) ?? .damaged(id: row.integer(0) ?? 0))
            lastPurge = row.integer(12) ?? 0
        }
        if found.count > 1 { found.sort(by: Self.isNewer) }
        return (found, lastPurge)
    }

    /// The query for the rows of a key, each with the number of the last purge.
    ///
    /// SQLite does not sort the rows, because its sorter would copy every body. It reads the number once.
    static func lookup(hasPurges: Bool) -> String {
        """
        SELECT id, status, request_time, response_time, last_used, seal, body_length, body_file,
               vary, fields, block_sums, body, \(hasPurges ? "(SELECT max(id) FROM purges)" : "NULL")
        FROM responses WHERE url = ? AND method = ? AND partition = ?
        """
    }

    private static func isNewer(_ left: Found, _ right: Found) -> Bool {
        guard case .intact(let left) = left, case .intact(let right) = right else { return false }
        return (left.head.responseTime, left.id) > (right.head.responseTime, right.id)
    }

    /// Reads a row of ``lookup`` and checks its seal and its body.
    private func record(_ row: Row, key: RequestKey) -> IndexRecord? {
        guard let id = row.integer(0), let status = row.integer(1).flatMap(Int.init(exactly:)),
            let requestTime = row.integer(2), let responseTime = row.integer(3), let lastUsed = row.integer(4),
            let seal = row.integer(5).map(UInt64.init(bitPattern:)), let length = row.integer(6), length >= 0,
            let bodyLength = Int(exactly: length)
        else { return nil }
        let file = row.text(7)
        func sealed() -> KnownHeads.Known? {
            row.withBytes(8) { vary in
                row.withBytes(9) { fields in
                    row.withBytes(10) { sums in
                        let numbers = (status, requestTime, responseTime, bodyLength)
                        let expected = Seal.of(
                            key: key,
                            numbers: numbers,
                            file: file,
                            fields: fields,
                            vary: vary,
                            checksums: sums
                        )
                        guard expected == seal else { return nil }
                        if let known = heads.head(id: id, seal: seal), known.head.key == key { return known }
                        guard let record = VaryKey(encoded: vary), let decoded = FieldSection.decode(fields),
                            let checksums = BlockChecksums(encoded: sums, bodyLength: bodyLength)
                        else { return nil }
                        let head = StoredHead(
                            key: key,
                            status: status,
                            headerFields: decoded,
                            vary: record,
                            requestTime: Date(microseconds: requestTime),
                            responseTime: Date(microseconds: responseTime)
                        )
                        let known = KnownHeads.Known(head: head, checksums: checksums, prepared: PreparedValue())
                        heads.keep(known, id: id, seal: seal)
                        return known
                    }
                }
            }
        }
        guard let known = sealed() else { return nil }
        let body: IndexRecord.Body
        if let file {
            body = .file(file)
        } else {
            let data: Data? = row.withBytes(11) { bytes in
                bytes.count == bodyLength && known.checksums.match(bytes) ? Data(bytes) : nil
            }
            guard let data else { return nil }
            body = .inline(data)
        }
        return IndexRecord(
            id: id,
            head: known.head,
            bodyLength: bodyLength,
            checksums: known.checksums,
            body: body,
            lastUsed: Date(microseconds: lastUsed),
            seal: seal,
            prepared: known.prepared
        )
    }
}

/// A connection to the index that reads what the system has in memory, so that its caller never waits for the disk.
///
/// A page that is not in memory ends the read (`RWF_NOWAIT` of preadv2(2)), and so does another process that locks the
/// index. Files are opened with `O_NOATIME`, since a new time of last access would have to be written.
final class MemoryReader: Sendable {
    /// `@unchecked Sendable`: the query is used by the thread that has locked it.
    private struct Query: @unchecked Sendable {
        let database: Database
        let statement: Statement
    }

    /// The query; `nil` once the connection is closed.
    ///
    /// Not a ``Connection``: a visit to its queue takes a part of the time of a look-up.
    private let query: Mutex<Query?>
    /// Whether the file system cannot limit reads to memory.
    private let isUseless = Atomic(false)

    /// Opens a connection for a query; `nil` where SQLite's reads cannot be limited to memory.
    init?(query: String, open: () throws -> Database) throws {
        guard SQLiteMode.areAvailable else { return nil }
        let opened = try SQLiteMode.perform(in: waystation_sqlite_opening_without_access_times) {
            let database = try open()
            // The opening waits for other processes, like that of the other connections; a read does not.
            sqlite3_busy_timeout(database.handle, 0)
            return Query(database: database, statement: try database.statement(query))
        }
        self.query = Mutex(opened)
    }

    /// Reads on the calling thread; `nil` if something is not in memory, or another thread is reading.
    func read<Result: Sendable>(_ body: (Statement) throws -> Result) -> Result? {
        guard !isUseless.load(ordering: .relaxed) else { return nil }
        let result = query.withLockIfAvailable { query -> Result? in
            guard let statement = query?.statement else { return nil }
            do {
                return try SQLiteMode.perform(in: waystation_sqlite_reading_from_memory) { try body(statement) }
            } catch {
                if waystation_sqlite_is_memory_unsupported() { isUseless.store(true, ordering: .relaxed) }
                return nil
            }
        }
        return result ?? nil
    }

    /// Closes the connection; later reads return `nil`.
    func close() { query.withLock { $0 = nil } }
}

/// The heads of rows that were read before: reading such a row again decodes its body only.
///
/// An identifier and a seal mean the same head for as long as the index exists, and the seal of a row is checked each
/// time that it is read. So no head is ever outdated, whatever changes in the index. With the head, a look-up also gets
/// what its callers derived from it before.
final class KnownHeads: Sendable {
    /// A head, and the values that belong to it.
    struct Known: Sendable {
        let head: StoredHead
        let checksums: BlockChecksums
        let prepared: PreparedValue
    }

    private struct Identity: Hashable, Sendable {
        let id: Int64
        let seal: UInt64
    }

    private let limit: Int
    /// The cost of a head is its memory, in bytes.
    private let heads = Mutex(LeastRecentlyUsed<Identity, Known>())

    /// - Parameter limit: The memory for all heads, in bytes.
    init(limit: Int = 4 << 20) { self.limit = limit }

    /// The head of a row, if it is known.
    func head(id: Int64, seal: UInt64) -> Known? {
        heads.withLock { heads in
            guard let position = heads.position(of: Identity(id: id, seal: seal)) else { return nil }
            heads.use(position)
            return heads[position]
        }
    }

    /// Keeps the head of a row that was read.
    func keep(_ known: Known, id: Int64, seal: UInt64) {
        let departed = heads.withLock { heads -> [Known?] in
            var departed = [heads.insert(known, for: Identity(id: id, seal: seal), cost: known.size)]
            while heads.cost > limit { departed.append(heads.removeOldest()) }
            return departed
        }
        // The last reference to a caller's object is released outside this lock.
        withExtendedLifetime(departed) {}
    }

    /// Drops all heads, so that those of removed responses do not stay in memory.
    func removeAll() {
        let departed = heads.withLock { $0.removeAll() }
        withExtendedLifetime(departed) {}
    }

    /// The number of heads in memory.
    var count: Int { heads.withLock(\.count) }
}

extension KnownHeads.Known {
    /// The approximate memory of the head, as much again for what a caller makes of it, and the checksums.
    fileprivate var size: Int { 2 * head.memory + checksums.values.count * 8 }
}

extension StoredHead {
    /// The approximate memory of the head, in bytes: the URL, the names and values of fields, and the objects around
    /// them.
    var memory: Int {
        let fields = headerFields.reduce(0) { size, field in
            size + 96 + field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count }
        }
        let nominees = vary.nominees.reduce(0) { $0 + 96 + ($1.value?.utf8.count ?? 0) }
        return key.url.utf8.count + 512 + fields + nominees
    }
}

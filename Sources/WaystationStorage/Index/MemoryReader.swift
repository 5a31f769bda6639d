import CWaystationSQLite
import Synchronization

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

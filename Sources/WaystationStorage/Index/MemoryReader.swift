import CWaystationSQLite
import GRDB
import Synchronization

/// A connection to the index that reads what the system has in memory, so that its caller never waits for the disk.
///
/// A page that is not in memory ends the read (`RWF_NOWAIT` of preadv2(2)), and so does another process that locks the
/// index. Files are opened with `O_NOATIME`, since a new time of last access would have to be written.
final class MemoryReader: Sendable {
    /// `@unchecked Sendable`: the query is used by the thread that has locked the connection.
    private struct Connection: @unchecked Sendable {
        let queue: DatabaseQueue
        let query: RawQuery
    }

    /// The connection; `nil` once it is closed.
    ///
    /// GRDB's own queue is not used for reading: a visit of it takes a part of the time of a look-up.
    private let connection: Mutex<Connection?>
    /// Whether the file system cannot limit reads to memory.
    private let isUseless = Atomic(false)

    /// Opens a connection for a query; `nil` where SQLite's reads cannot be limited to memory.
    init?(path: String, configuration: Configuration, query: String) throws {
        guard SQLiteMode.areAvailable else { return nil }
        let opened = try SQLiteMode.perform(in: waystation_sqlite_opening_without_access_times) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return try queue.unsafeRead { db in
                // SQLite opens the log with the first read.
                _ = try Row.fetchOne(db, sql: "SELECT 1 FROM responses LIMIT 1")
                // The opening waits for other processes, like that of the other connections; a read does not.
                sqlite3_busy_timeout(db.sqliteConnection, 0)
                return Connection(queue: queue, query: RawQuery(try db.cachedStatement(sql: query)))
            }
        }
        connection = Mutex(opened)
    }

    /// Reads on the calling thread; `nil` if something is not in memory, or another thread is reading.
    func read<Result: Sendable>(_ body: (RawQuery) throws -> Result) -> Result? {
        guard !isUseless.load(ordering: .relaxed) else { return nil }
        let result = connection.withLockIfAvailable { connection -> Result? in
            guard let query = connection?.query else { return nil }
            do {
                return try SQLiteMode.perform(in: waystation_sqlite_reading_from_memory) { try body(query) }
            } catch {
                if waystation_sqlite_is_memory_unsupported() { isUseless.store(true, ordering: .relaxed) }
                return nil
            }
        }
        return result ?? nil
    }

    /// Closes the connection; later reads return `nil`.
    func close() {
        // SQLite does not close a connection whose statements are in use.
        let queue = connection.withLock { connection in
            defer { connection = nil }
            return connection?.queue
        }
        try? queue?.close()
    }
}

import CWaystationSQLite
import GRDB
import Synchronization

/// A connection to the index that reads what the system has in memory, so that its caller never waits for the disk.
///
/// A page that is not in memory ends the read (`RWF_NOWAIT` of preadv2(2)), and so does another process that locks the
/// index. Files are opened with `O_NOATIME`, since a new time of last access would have to be written.
final class MemoryReader: Sendable {
    private static let isSupported = waystation_sqlite_install_modes()

    private let queue: DatabaseQueue
    private let isReading = Atomic(false)
    /// Whether the file system cannot limit reads to memory.
    private let isUseless = Atomic(false)

    /// Opens a connection; `nil` where SQLite's reads cannot be limited to memory.
    init?(path: String, configuration: Configuration) throws {
        guard Self.isSupported else { return nil }
        queue = try Self.perform(in: waystation_sqlite_opening_without_access_times) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.unsafeRead { db in
                // SQLite opens the log with the first read.
                _ = try Row.fetchOne(db, sql: "SELECT 1 FROM responses LIMIT 1")
                // The opening waits for other processes, like that of the other connections; a read does not.
                sqlite3_busy_timeout(db.sqliteConnection, 0)
            }
            return queue
        }
    }

    /// Reads on the calling thread; `nil` if something is not in memory, or another thread is reading.
    func read<Result: Sendable>(_ body: (Database) throws -> Result) -> Result? {
        guard !isUseless.load(ordering: .relaxed), !isReading.exchange(true, ordering: .acquiring) else { return nil }
        defer { isReading.store(false, ordering: .releasing) }
        do {
            return try queue.unsafeRead { db in
                try Self.perform(in: waystation_sqlite_reading_from_memory) { try body(db) }
            }
        } catch {
            if waystation_sqlite_is_memory_unsupported() { isUseless.store(true, ordering: .relaxed) }
            return nil
        }
    }

    func close() { try? queue.close() }

    private static func perform<Result>(
        in mode: waystation_sqlite_mode,
        _ body: () throws -> Result
    ) rethrows -> Result {
        waystation_sqlite_set_mode(mode)
        defer { waystation_sqlite_set_mode(waystation_sqlite_plain) }
        return try body()
    }
}

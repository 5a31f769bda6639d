import CWaystationSQLite
import Dispatch

/// A connection to a SQLite database, which one thread uses at a time.
final class Connection: @unchecked Sendable {
    // `@unchecked`: `database` is used on `queue` only.

    private let queue = DispatchQueue(label: "Waystation.index")
    private var database: Database?

    /// Makes a connection of a database, which nothing else uses from then on.
    init(_ database: sending Database) { self.database = database }

    /// Runs work that uses the database, on the calling thread, after the work of other threads.
    ///
    /// The database must not leave the closure. Work cannot be nested.
    ///
    /// - Throws: The error of `work`; after ``close()``, a ``SQLiteError``.
    func use<Result>(_ work: (Database) throws -> Result) throws -> Result {
        try queue.sync {
            guard let database else { throw SQLiteError(SQLITE_MISUSE, "the connection is closed") }
            return try work(database)
        }
    }

    /// Closes the connection when the present work has ended; later use throws.
    func close() { queue.sync { database = nil } }
}

/// An open database, for the thread that may use it.
///
/// The database is closed when this object and all of its statements have been released.
package final class Database {
    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// The number of compiled statements that are kept.
    ///
    /// Removals by scope have a statement for each number of prefixes.
    private static let maximumStatements = 64

    /// Opens a database, or makes it if it is missing.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - busyTimeout: How long a statement waits for the locks of other connections, in seconds.
    /// - Throws: A ``SQLiteError``.
    init(path: String, busyTimeout: Double = 0) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened else { throw SQLiteError(code, "out of memory") }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        try check(code)
        try check(sqlite3_busy_timeout(handle, CInt(clamping: Int(min(busyTimeout, 1e6) * 1_000))))
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Whether a transaction has begun and not ended.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// How many rows the last statement has changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// The identifier of the row that was inserted last.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs statements that have no arguments; their rows are ignored.
    package func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Returns a compiled statement; one that was used before is not compiled again.
    func statement(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement }
        var compiled: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &compiled, nil))
        guard let compiled else { throw SQLiteError(SQLITE_MISUSE, "there is no statement") }
        let statement = Statement(compiled)
        if statements.count >= Self.maximumStatements { statements = [:] }
        statements[sql] = statement
        return statement
    }

    /// Runs changes in one transaction, during which no other connection writes.
    ///
    /// A transaction that a failing disk has left open before is undone.
    func transaction<Result>(_ changes: () throws -> Result) throws -> Result {
        if isInTransaction { try execute("ROLLBACK") }
        try statement("BEGIN IMMEDIATE").run()
        do {
            let result = try changes()
            try statement("COMMIT").run()
            return result
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs a query, and returns the first integer in the first column of its rows; `nil` if there is none.
    func integer(_ sql: String, _ arguments: [Statement.Argument] = []) throws -> Int64? {
        var first: Int64?
        try statement(sql).forEachRow(arguments) { first = first ?? $0.integer(0) }
        return first
    }

    /// Runs a query, and returns the texts in the first column of its rows.
    func texts(_ sql: String, _ arguments: [Statement.Argument] = []) throws -> [String] {
        var texts: [String] = []
        try statement(sql).forEachRow(arguments) { row in row.text(0).map { texts.append($0) } }
        return texts
    }

    private func check(_ code: CInt) throws { if code != SQLITE_OK { throw SQLiteError(code, handle) } }
}

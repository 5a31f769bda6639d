import CWaystation.SQLite
import Dispatch
import Foundation

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

    /// Runs a query, and returns the first integer in the first column of its rows; `nil` if that column has no integer.
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

/// The ways in which a thread's calls into SQLite use files.
enum SQLiteMode {
    /// Whether other modes than the plain one have an effect.
    static let areAvailable = waystation_sqlite_install_modes()

    /// Runs work of the calling thread in a mode, and then sets the plain one.
    static func perform<Result>(in mode: waystation_sqlite_mode, _ body: () throws -> Result) rethrows -> Result {
        waystation_sqlite_set_mode(mode)
        defer { waystation_sqlite_set_mode(waystation_sqlite_plain) }
        return try body()
    }
}

/// A compiled statement, for the thread that may use its database.
final class Statement {
    /// The value of a parameter.
    enum Argument {
        case integer(Int64)
        case text(String?)
        case blob(Data?)
    }

    private let handle: OpaquePointer

    /// Takes over a statement, and releases it with its last reference.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement, and ignores its rows.
    func run(_ arguments: [Argument] = []) throws { try forEachRow(arguments) { _ in } }

    /// Runs the statement and calls `body` for each row of its result.
    ///
    /// `body` must not change the rows that the statement reads.
    func forEachRow(_ arguments: [Argument] = [], _ body: (Row) throws -> Void) throws {
        defer { release() }
        var large: (position: CInt, bytes: Data)?
        // From the last one: a body is the last blob of its statement.
        for (index, argument) in arguments.enumerated().reversed() {
            let position = CInt(index + 1)
            if case .blob(let bytes?) = argument, bytes.count >= Self.largeBlob, large == nil {
                large = (position, bytes)
                continue
            }
            let code = bind(argument, at: position)
            guard code == SQLITE_OK else { throw error(code) }
        }
        guard let large else { return try step(body) }
        // SQLite reads a body where it is, instead of making a copy.
        try large.bytes.withUnsafeBytes { bytes in
            // The bytes are at this address only until the closure ends.
            defer { release() }
            let code = sqlite3_bind_blob64(handle, large.position, bytes.baseAddress, UInt64(bytes.count), nil)
            guard code == SQLITE_OK else { throw error(code) }
            try step(body)
        }
    }

    /// The size in bytes from which a blob is not copied.
    private static let largeBlob = 1_024

    private func release() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    private func step(_ body: (Row) throws -> Void) throws {
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: try body(Row(handle))
            case SQLITE_DONE: return
            case let code: throw error(code)
            }
        }
    }

    private func bind(_ argument: Argument, at position: CInt) -> CInt {
        switch argument {
        case .integer(let number): sqlite3_bind_int64(handle, position, number)
        case .text(var text?):
            text.withUTF8 { waystation_sqlite_bind_text(handle, position, $0.baseAddress, UInt64($0.count)) }
        case .blob(let data?):
            data.withUnsafeBytes { waystation_sqlite_bind_blob(handle, position, $0.baseAddress, UInt64($0.count)) }
        case .text(nil), .blob(nil): sqlite3_bind_null(handle, position)
        }
    }

    private func error(_ code: CInt) -> SQLiteError { SQLiteError(code, sqlite3_db_handle(handle)) }
}

/// The row that a statement has reached; valid until the statement goes on.
///
/// A damaged file may contain values of any type in any column.
struct Row {
    private let statement: OpaquePointer

    fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

    /// The value of a column, if it is an integer.
    func integer(_ column: CInt) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column) : nil
    }

    /// The value of a column, if it is text.
    func text(_ column: CInt) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        return withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of a column; null gives `nil`.
    func data(_ column: CInt) -> Data? { withBytes(column) { Data($0) } }

    /// Gives access to the bytes of a column without copying them; an empty blob has no bytes, null gives `nil`.
    func withBytes<Result>(_ column: CInt, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        let start = sqlite3_column_blob(statement, column)
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

/// An error of SQLite.
struct SQLiteError: Error, CustomStringConvertible {
    /// The extended result code (https://sqlite.org/rescode.html).
    let code: CInt
    let message: String

    init(_ code: CInt, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Makes the error of the last call that used a database.
    init(_ code: CInt, _ database: OpaquePointer?) {
        self.init(code, String(cString: sqlite3_errmsg(database)))
    }

    /// The result code without what makes it more precise.
    var primaryCode: CInt { code & 0xFF }

    var description: String { "SQLite error \(primaryCode): \(message)" }
}

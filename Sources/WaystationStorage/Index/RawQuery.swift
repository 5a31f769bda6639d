import CWaystationSQLite
import GRDB

/// A prepared query that is run and read by SQLite's own interface.
///
/// It is for the query that every look-up makes: GRDB's arguments, cursors and rows would take longer than SQLite does.
struct RawQuery {
    /// The statement is compiled by GRDB, which releases it when the connection is closed.
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// Runs the query and calls `body` for each row of its result.
    ///
    /// - Throws: A `DatabaseError`, as GRDB's own statements do.
    func forEachRow(_ arguments: [String], _ body: (RawRow) -> Void) throws {
        let statement = statement.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var position: CInt = 0
        for var argument in arguments {
            position += 1
            try check(
                argument.withUTF8 { bytes in
                    waystation_sqlite_bind_text(statement, position, bytes.baseAddress, UInt64(bytes.count))
                }
            )
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: body(RawRow(statement))
            case SQLITE_DONE: return
            case let code: try check(code)
            }
        }
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        let message = sqlite3_errmsg(sqlite3_db_handle(statement.sqliteStatement)).map { String(cString: $0) }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
}

/// The row that a query has reached; valid until the query goes on.
///
/// A damaged file may contain values of any type in any column.
struct RawRow {
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

    /// Gives access to the bytes of a column without copying them; an empty blob has no bytes, null gives `nil`.
    func withBytes<Result>(_ column: CInt, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        let start = sqlite3_column_blob(statement, column)
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

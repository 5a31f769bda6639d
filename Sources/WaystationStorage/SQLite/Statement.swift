import CWaystationSQLite
import Foundation

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
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        var position: CInt = 0
        for argument in arguments {
            position += 1
            let code = bind(argument, at: position)
            guard code == SQLITE_OK else { throw error(code) }
        }
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

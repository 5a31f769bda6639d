import CWaystationSQLite

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

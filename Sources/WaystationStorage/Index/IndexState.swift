import CWaystationSQLite

/// A state of an index, which every commit of every process changes.
struct IndexState: Equatable, Sendable {
    private let state: waystation_sqlite_log_state

    /// Whether this state is that of an index after one commit.
    func isNext(after earlier: IndexState) -> Bool { state.commits == earlier.state.commits &+ 1 }

    /// Whether nothing was committed between an earlier state and this one.
    func hasNoCommit(after earlier: IndexState) -> Bool { state.commits == earlier.state.commits }

    static func == (left: IndexState, right: IndexState) -> Bool { left.state.words == right.state.words }

    /// Reads the present state of an index without a query: SQLite keeps it in memory that all processes share.
    ///
    /// `@unchecked Sendable`: reading the place is safe on any thread while its connection is open.
    struct Place: @unchecked Sendable {
        private let start: UnsafeRawPointer

        /// Finds the place of a connection's database; `nil` if the database has no log.
        ///
        /// Call it on the connection's queue. The place must not be read once the connection is closed.
        init?(_ connection: OpaquePointer?) {
            guard let start = waystation_sqlite_log_index(connection) else { return nil }
            self.start = start
        }

        /// The present state; `nil` while a commit writes it.
        var state: IndexState? {
            var state = waystation_sqlite_log_state()
            return waystation_sqlite_read_log_state(start, &state) ? IndexState(state: state) : nil
        }
    }
}

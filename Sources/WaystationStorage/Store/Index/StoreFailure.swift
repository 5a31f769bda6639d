import CWaystation.SQLite
import Foundation

/// The kind of failure that an underlying error means for the store.
enum StoreFailure {
    /// The index differs from what was written and must be replaced.
    case damaged
    /// The index file was moved while connections to it were open; it must be opened again.
    case moved
    /// The disk is full; writes pause.
    case full
    /// Another process held the index for longer than a write waits.
    case busy
    /// Any other error: only this operation failed.
    case other

    init(_ error: any Error) {
        self = .other
        if let error = error as? FileError, error.isFull { self = .full }
        if case .damaged? = error as? IndexError { self = .damaged }
        // A reader in another process keeps the log of the index from being made smaller.
        if let error = error as? StoreError, error.code == .unavailable { self = .busy }
        guard let error = error as? SQLiteError else { return }
        switch error.code {
        case SQLITE_READONLY | 4 << 8: self = .moved  // SQLITE_READONLY_DBMOVED
        case SQLITE_IOERR | 2 << 8: self = .damaged  // SQLITE_IOERR_SHORT_READ
        default:
            switch error.primaryCode {
            // The last four cannot come from the store's own statements on the schema that they were written for.
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH,
                SQLITE_SCHEMA:
                self = .damaged
            case SQLITE_FULL: self = .full
            case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
            default: break
            }
        }
    }
}

import Foundation
import GRDB
import WaystationFileSystem

/// What an error beneath the store means for it.
enum StoreFailure {
    /// The index is not what was written and must be replaced.
    case damaged
    /// The index was moved away under the open connections and must be opened again.
    case moved
    /// There is no room; writes pause.
    case full
    /// Another process held the index for longer than a write waits.
    case busy
    /// Anything else: this operation did not work.
    case other

    init(_ error: any Error) {
        self = .other
        if let error = error as? FileError, error.isFull { self = .full }
        if case .damaged? = error as? IndexError { self = .damaged }
        guard let error = error as? DatabaseError else { return }
        switch error.extendedResultCode {
        case .SQLITE_READONLY_DBMOVED: self = .moved
        case .SQLITE_IOERR_SHORT_READ: self = .damaged
        default:
            switch error.resultCode {
            // The last four cannot come from our own statements on the schema that they were written for.
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH,
                .SQLITE_SCHEMA:
                self = .damaged
            case .SQLITE_FULL: self = .full
            case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
            default: break
            }
        }
    }
}

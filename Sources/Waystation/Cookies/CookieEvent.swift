public import Foundation
public import WaystationHTTP

/// An event of an interceptor's cookies, other than a change of a cookie.
///
/// It never contains a cookie's value.
public struct CookieEvent: Sendable, CustomStringConvertible {
    /// The kind of the event.
    ///
    /// More cases may come: a `switch` needs a default.
    public enum Kind: Sendable {
        /// A cookie of a response or of a storage was refused, with the reason.
        case refused(CookieError)
        /// A sync with a storage has completed; the counts are the cookies written to the storage and taken over from
        /// it.
        case synchronized(storage: String, written: Int, taken: Int)
        /// A sync with a storage failed.
        case storageFailed(storage: String, any Error)
        /// A storage has not answered within its time limit; loads continue without it until it answers.
        case storageTimedOut(storage: String)
        /// A storage is already kept in step with another cookie store, and stays with that one.
        case storageInUse(storage: String)
        /// The file could not be read and was renamed; the store starts without cookies.
        case damagedFile(URL, any Error)
        /// The file could not be written; the cookies stay in memory.
        case notSaved(URL, any Error)
    }

    /// The kind of the event.
    public let kind: Kind

    /// Whether the event reports a problem that the app should know about.
    var isTrouble: Bool {
        switch kind {
        case .refused, .synchronized: false
        case .storageFailed, .storageTimedOut, .storageInUse, .damagedFile, .notSaved: true
        }
    }

    /// One line for a log.
    public var description: String {
        switch kind {
        case .refused(let error): "refused: \(error)"
        case .synchronized(let storage, let written, let taken):
            "in step with \(storage): \(written) written, \(taken) taken"
        case .storageFailed(let storage, let error): "\(storage) failed: \("\(error)".shown(upTo: 2_000))"
        case .storageTimedOut(let storage): "\(storage) did not answer in time; loads continue without it"
        case .storageInUse(let storage):
            "\(storage) is in step with another cookie store; give each login a storage of its own"
        case .damagedFile(let file, let error):
            "\(file.path) was damaged and put aside: \("\(error)".shown(upTo: 2_000))"
        case .notSaved(let file, let error):
            file.isFileURL ? "\(file.path) could not be written: \(error)" : "the cookies are not written: \(error)"
        }
    }
}

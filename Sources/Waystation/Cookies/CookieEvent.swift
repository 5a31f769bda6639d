public import Foundation
public import WaystationCookies

/// Something that happened to an interceptor's cookies beside the changes themselves.
///
/// Never holds a cookie's value.
public struct CookieEvent: Sendable, CustomStringConvertible {
    /// What happened.
    ///
    /// More cases may come: a `switch` needs a default.
    public enum Kind: Sendable {
        /// A cookie was not taken, and why: of a response, or of a storage.
        case refused(CookieError)
        /// A sync with a storage has run to its end, with this many cookies written and taken over.
        case synchronized(storage: String, written: Int, taken: Int)
        /// A sync with a storage failed.
        case storageFailed(storage: String, any Error)
        /// A storage has not answered within its time limit; loads go on without it until it does.
        case storageTimedOut(storage: String)
        /// A storage is in step with other cookies already, and is left to those.
        case storageInUse(storage: String)
        /// The file could not be read and was put aside; the cookies begin empty.
        case damagedFile(URL, any Error)
        /// The file could not be written; the cookies go on in memory.
        case notSaved(URL, any Error)
    }

    /// What happened.
    public let kind: Kind

    /// Whether something is wrong that the app should know of.
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
        case .storageFailed(let storage, let error): "\(storage) failed: \(error)"
        case .storageTimedOut(let storage): "\(storage) did not answer in time; loads go on without it"
        case .storageInUse(let storage): "\(storage) belongs to other cookies; give each login a storage of its own"
        case .damagedFile(let file, let error): "\(file.path) was damaged and put aside: \(error)"
        case .notSaved(let file, let error): "\(file.path) could not be written: \(error)"
        }
    }
}

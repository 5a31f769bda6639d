public import Foundation

/// What can be wrong with the way an interceptor is set up, and why a load was refused.
///
/// A load always fails with a `URLError`, as callers of `URLSession` expect; where the reason is the
/// waystation's, this error is under it, as `NSUnderlyingErrorKey`.
public struct WaystationError: LocalizedError, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    ///
    /// More may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// A pattern was not understood.
        public static let invalidRules = Code(description: "invalidRules")
        /// A rule needs a cache and there is none.
        public static let missingCache = Code(description: "missingCache")
        /// A rule needs packs and there are none.
        public static let missingPacks = Code(description: "missingPacks")
        /// The base URL of a directory is not usable.
        public static let invalidBaseURL = Code(description: "invalidBaseURL")
        /// A directory does not exist or cannot be opened.
        public static let unusableDirectory = Code(description: "unusableDirectory")
        /// Foundation would ignore the registration.
        public static let registeredTooLate = Code(description: "registeredTooLate")
        /// The shared session loads through an interceptor already.
        public static let alreadyRegistered = Code(description: "alreadyRegistered")
        /// A rule blocks the request.
        public static let blocked = Code(description: "blocked")
        /// The cache has nothing that may answer the request, and there is no network or it may not be asked.
        public static let notStored = Code(description: "notStored")
        /// No source of the rule has the file, and the rule ends there.
        public static let notFound = Code(description: "notFound")
        /// A rule needs a login and there is none.
        public static let missingLogin = Code(description: "missingLogin")
        /// A login cannot be as it was given.
        public static let invalidLogin = Code(description: "invalidLogin")
        /// The provider of a login brought nothing within its time.
        public static let loginTimedOut = Code(description: "loginTimedOut")
        /// The provider of a login failed.
        public static let loginFailed = Code(description: "loginFailed")
        /// A request needs a login whose token its host may not get.
        public static let loginOutOfDomain = Code(description: "loginOutOfDomain")
        /// Somebody logged out while the load was under way.
        public static let loggedOut = Code(description: "loggedOut")
        /// A download task asked for what only the waystation holds.
        public static let downloadUnavailable = Code(description: "downloadUnavailable")
        /// A body in a request's header cannot be read, or is where none may be.
        public static let invalidHeaderBody = Code(description: "invalidHeaderBody")
        /// A body in a request's header is larger than the limit.
        public static let headerBodyTooLarge = Code(description: "headerBodyTooLarge")
        /// A scheme or a host of the external links is none.
        public static let invalidLinks = Code(description: "invalidLinks")
        /// The link went to the app's handler of external links.
        public static let openedElsewhere = Code(description: "openedElsewhere")
        /// The interceptor has a transport of the app's own, and the task can be loaded by Foundation alone.
        public static let transportNeedsDataTask = Code(description: "transportNeedsDataTask")
        /// A link to another app was asked for by a task that is no data task.
        public static let linkNeedsDataTask = Code(description: "linkNeedsDataTask")
    }

    /// The kind of the failure.
    public let code: Code
    /// What was wrong, where, and what to do about it.
    public let message: String
    /// The error behind this one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, for `localizedDescription`.
    public var errorDescription: String? { message }

    /// Code and message.
    public var description: String { "\(code): \(message)" }
}

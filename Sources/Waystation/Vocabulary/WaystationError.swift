import WaystationFoundation
public import WaystationHTTP

/// An error in the setup of an interceptor, or the reason why a load was refused.
///
/// A load always fails with a `URLError`, as callers of `URLSession` expect. If the library itself caused the failure,
/// this error is under the `URLError`, as `NSUnderlyingErrorKey`.
public struct WaystationError: CodedError {
    /// The kind of a failure.
    ///
    /// More kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The secret of a shared tier is too short.
        public static let invalidSecret = Code(description: "invalidSecret")
        /// A pattern, a tag, a cache key or the name of a source is not valid.
        public static let invalidRules = Code(description: "invalidRules")
        /// A rule needs a cache, and the interceptor has no cache.
        public static let missingCache = Code(description: "missingCache")
        /// A rule needs packs, and the interceptor has no packs.
        public static let missingPacks = Code(description: "missingPacks")
        /// The base URL of a directory is not usable.
        public static let invalidBaseURL = Code(description: "invalidBaseURL")
        /// A text that should be a host is not one, such as a host with a port.
        public static let invalidHost = Code(description: "invalidHost")
        /// A setting has a value that it cannot have.
        public static let invalidSetting = Code(description: "invalidSetting")
        /// A directory does not exist or cannot be opened.
        public static let unusableDirectory = Code(description: "unusableDirectory")
        /// Foundation would ignore the registration.
        public static let registeredTooLate = Code(description: "registeredTooLate")
        /// The shared session already loads through an interceptor.
        public static let alreadyRegistered = Code(description: "alreadyRegistered")
        /// A rule blocks the request.
        public static let blocked = Code(description: "blocked")
        /// The cache has no response that may answer the request, and there is no network or it must not be asked.
        public static let notStored = Code(description: "notStored")
        /// The body of a response does not have the digest that the response states, and its rule asks for the comparison.
        public static let digestMismatch = Code(description: "digestMismatch")
        /// No source of the rule has the file, and the rule names no further source.
        public static let notFound = Code(description: "notFound")
        /// A rule needs a login, and the interceptor has no login.
        public static let missingLogin = Code(description: "missingLogin")
        /// A login was set up with invalid or contradictory values.
        public static let invalidLogin = Code(description: "invalidLogin")
        /// The provider of a login returned nothing within its time limit.
        public static let loginTimedOut = Code(description: "loginTimedOut")
        /// The provider of a login failed.
        public static let loginFailed = Code(description: "loginFailed")
        /// A request needs a login, but its host may not get the login's token.
        public static let loginOutOfDomain = Code(description: "loginOutOfDomain")
        /// The user logged out while the load was under way.
        public static let loggedOut = Code(description: "loggedOut")
        /// The rule of an upload or a web socket does not reach the network, or this version of Foundation takes no file for
        /// a download.
        public static let downloadUnavailable = Code(description: "downloadUnavailable")
        /// A body in a request's header cannot be read, or the request may not have a body.
        public static let invalidHeaderBody = Code(description: "invalidHeaderBody")
        /// A body in a request's header is larger than the limit.
        public static let headerBodyTooLarge = Code(description: "headerBodyTooLarge")
        /// A scheme or a host of the external links is not valid.
        public static let invalidLinks = Code(description: "invalidLinks")
        /// The link was passed to the app's handler of external links.
        public static let openedElsewhere = Code(description: "openedElsewhere")
        /// The interceptor has a transport of the app's own, and only Foundation can load the task.
        public static let transportNeedsDataTask = Code(description: "transportNeedsDataTask")
        /// An upload or a web socket asked for a link to another app.
        public static let linkNeedsDataTask = Code(description: "linkNeedsDataTask")
    }

    /// The kind of the failure.
    public let code: Code
    /// Describes the problem, its place, and how to correct it.
    public let message: String
    /// The error that caused this one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The code and the message, which also names the cause.
    public var description: String { "\(code): \(message)" }
}

extension URLError {
    /// The message of the library's own error, if that is the cause.
    package var reason: String {
        (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.message ?? localizedDescription
    }
}

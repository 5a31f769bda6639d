import WaystationHTTP

/// An event of a login.
///
/// It never contains a token.
public struct LoginEvent: Sendable, CustomStringConvertible {
    /// The kind of the event.
    ///
    /// More cases may come: a `switch` needs a default.
    public enum Kind: Sendable {
        /// The provider was called, once for all waiting requests.
        case asked(LoginReason)
        /// The provider returned a token, which is now in the cookies.
        case loggedIn(LoginReason)
        /// The provider failed, and so did all waiting requests.
        case failed(any Error)
        /// The provider returned no token within the time limit; all waiting requests have failed.
        case timedOut
        /// All waiting requests were cancelled before the provider returned a token.
        case abandoned
        /// The user logged out; this many loads, and renewals in the background, were ended.
        case loggedOut(endedLoads: Int)
    }

    /// The account of the login.
    public let account: String
    /// The kind of the event.
    public let kind: Kind

    /// Whether the event reports a problem that the app should know about.
    var isTrouble: Bool {
        switch kind {
        case .failed, .timedOut: true
        case .asked, .loggedIn, .abandoned, .loggedOut: false
        }
    }

    /// One line for a log.
    public var description: String {
        let what =
            switch kind {
            case .asked(let reason): "asked for \(reason)"
            case .loggedIn(let reason): "logged in by \(reason)"
            case .failed(let error): "failed: \("\(error)".shown(upTo: 2_000))"
            case .timedOut: "timed out"
            case .abandoned: "abandoned"
            case .loggedOut(let count): "logged out, \(count) loads ended"
            }
        return "\(account) \(what)"
    }
}

/// The reason for calling a provider.
public enum LoginReason: Hashable, Sendable, CustomStringConvertible {
    /// A request needs a login, and the user is not logged in.
    case signIn
    /// The server answered 401 to this token.
    case renewal(refused: LoginToken)

    /// The reason, without the token.
    public var description: String {
        switch self {
        case .signIn: "sign-in"
        case .renewal: "renewal"
        }
    }
}

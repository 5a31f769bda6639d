/// Something that happened to a login.
///
/// Never holds a token.
public struct LoginEvent: Sendable, CustomStringConvertible {
    /// What happened.
    ///
    /// More cases may come: a `switch` needs a default.
    public enum Kind: Sendable {
        /// The provider was asked, once for all that wait.
        case asked(LoginReason)
        /// It brought a token, which is in the cookies.
        case loggedIn(LoginReason)
        /// It failed, and with it all that waited.
        case failed(any Error)
        /// It had brought nothing when the time limit was over; all that waited have failed.
        case timedOut
        /// Everybody left before it brought a token.
        case abandoned
        /// Somebody logged out; this many loads were ended.
        case loggedOut(endedLoads: Int)
    }

    /// Whose login.
    public let account: String
    /// What happened.
    public let kind: Kind

    /// Whether something is wrong that the app should know of.
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
            case .failed(let error): "failed: \(error)"
            case .timedOut: "timed out"
            case .abandoned: "abandoned"
            case .loggedOut(let count): "logged out, \(count) loads ended"
            }
        return "\(account) \(what)"
    }
}

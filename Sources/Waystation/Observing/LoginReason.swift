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

/// The contents of the sign-in form.
public struct Credentials: Codable, Hashable, Sendable {
    /// The name.
    public let name: String
    /// The password.
    public let password: String

    /// Makes credentials.
    public init(name: String, password: String) {
        self.name = name
        self.password = password
    }
}

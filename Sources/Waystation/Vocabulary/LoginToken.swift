public import Foundation

/// The result of a provider: the token, and its expiry.
public struct LoginToken: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The cookie's value.
    public var value: String
    /// When the token expires; with nil, ``LoginCookie/lifetime`` applies.
    public var expires: Date?

    /// Makes a token.
    public init(_ value: String, expires: Date? = nil) {
        self.value = value
        self.expires = expires
    }

    /// Makes a token from a literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// A fixed text without the value, so that no log contains the token.
    public var description: String { "a token" }
}

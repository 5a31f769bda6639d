/// Why a cookie was not made, not parsed or not stored.
public struct CookieError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of reason, for logs and metrics.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short word for the reason.
        public let rawValue: String

        /// Makes a code of a word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The text has no name, or neither name nor value (RFC 6265 §5.2 steps 2 and 5).
        public static let nameless = Code(rawValue: "nameless")
        /// A character that would end the field or the pair (RFC 6265bis §5.6 step 1).
        public static let character = Code(rawValue: "character")
        /// Name and value together are too long (RFC 6265bis §5.6 step 5).
        public static let length = Code(rawValue: "length")
        /// The URL has no host, or a scheme that carries no cookies.
        public static let url = Code(rawValue: "url")
        /// The domain is not one that the host may set (RFC 6265 §5.3 step 6).
        public static let domain = Code(rawValue: "domain")
        /// The domain is a public suffix (RFC 6265 §5.3 step 5).
        public static let publicSuffix = Code(rawValue: "public-suffix")
        /// The path does not begin with a slash.
        public static let path = Code(rawValue: "path")
        /// A `Secure` cookie came over an insecure connection (RFC 6265bis §5.7).
        public static let insecureOrigin = Code(rawValue: "insecure-origin")
        /// A secure cookie would be overlaid from an insecure connection (RFC 6265bis §5.7).
        public static let secureCookieStands = Code(rawValue: "secure-cookie-stands")
        /// `HttpOnly` from, or under, an interface other than HTTP (RFC 6265 §5.3 steps 10 and 11).
        public static let httpOnly = Code(rawValue: "http-only")
        /// `SameSite` forbids it (RFC 6265bis §5.7).
        public static let sameSite = Code(rawValue: "same-site")
        /// The name's prefix promises what the attributes do not keep (RFC 6265bis §4.1.3).
        public static let prefix = Code(rawValue: "prefix")
    }

    /// The kind of reason.
    public let code: Code
    /// What was wrong, where, and what to do.
    ///
    /// Never holds a cookie's value.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

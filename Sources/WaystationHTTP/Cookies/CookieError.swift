/// An error that says why a cookie was not made, not parsed or not stored.
public struct CookieError: CodedError, Hashable {
    /// The kind of reason, for logs and metrics.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// A short word for the reason.
        public let rawValue: String

        /// Makes a code from a word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The word.
        public var description: String { rawValue }

        /// The text has no name, or neither name nor value (RFC 6265 §5.2 steps 2 and 5).
        public static let nameless = Code(rawValue: "nameless")
        /// The name or value has a character that would end the field or the pair (RFC 6265bis §5.6 step 1).
        public static let character = Code(rawValue: "character")
        /// Name and value together are too long (RFC 6265bis §5.6 step 5).
        public static let length = Code(rawValue: "length")
        /// The URL has no host, or its scheme carries no cookies.
        public static let url = Code(rawValue: "url")
        /// The host may not set cookies for the domain (RFC 6265 §5.3 step 6).
        public static let domain = Code(rawValue: "domain")
        /// The domain is a public suffix (RFC 6265 §5.3 step 5).
        public static let publicSuffix = Code(rawValue: "public-suffix")
        /// The path does not begin with a slash.
        public static let path = Code(rawValue: "path")
        /// A `Secure` cookie came over an insecure connection (RFC 6265bis §5.7).
        public static let insecureOrigin = Code(rawValue: "insecure-origin")
        /// A cookie from an insecure connection would hide or replace a secure cookie (RFC 6265bis §5.7).
        public static let secureCookieStands = Code(rawValue: "secure-cookie-stands")
        /// An interface other than HTTP set or replaced an `HttpOnly` cookie (RFC 6265 §5.3 steps 10 and 11).
        public static let httpOnly = Code(rawValue: "http-only")
        /// `SameSite` forbids the cookie (RFC 6265bis §5.7).
        public static let sameSite = Code(rawValue: "same-site")
        /// The attributes do not meet the requirements of the name's prefix (RFC 6265bis §4.1.3).
        public static let prefix = Code(rawValue: "prefix")
    }

    /// The kind of reason.
    public let code: Code
    /// A sentence that says what was wrong, where, and what to do.
    ///
    /// The message never contains a cookie's value.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shown(upTo: 1_000)
    }
}

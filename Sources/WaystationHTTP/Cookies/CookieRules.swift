public import Foundation

/// The limits and checks that a jar applies.
///
/// The defaults follow RFC 6265, and RFC 6265bis where it is stricter.
public struct CookieRules: Sendable {
    /// The check for public suffixes: domains such as `co.uk`, for which no cookie may be set.
    ///
    /// Default: ``PublicSuffixes/builtIn``.
    public var publicSuffixes: PublicSuffixes
    /// Whether `http` to this machine counts as secure.
    ///
    /// Default: `false`, as RFC 6265 has it.
    ///
    /// This machine is `localhost`, a name below it, `127.0.0.0/8` and `::1`. Some browsers treat it as secure.
    public var isTrustworthyLoopback: Bool
    /// Whether `Set-Cookie: word` sets a cookie without a name (RFC 6265bis §5.6); RFC 6265 §5.2 ignores it.
    ///
    /// Default: `false`.
    public var acceptsNamelessCookies: Bool
    /// The longest life that a response can give a cookie, in seconds.
    ///
    /// Default: 400 days (RFC 6265bis §5.5).
    ///
    /// The limit does not apply to cookies that the app inserts.
    public var maximumLife: TimeInterval
    /// How many cookies one domain may have, counted by the cookies' own domain.
    ///
    /// Default: 50 (RFC 6265 §6.1).
    public var maximumForDomain: Int
    /// How many cookies the jar may hold.
    ///
    /// Default: 3,000 (RFC 6265 §6.1).
    public var maximumInAll: Int

    /// Makes rules.
    public init(
        publicSuffixes: PublicSuffixes = .builtIn,
        isTrustworthyLoopback: Bool = false,
        acceptsNamelessCookies: Bool = false,
        maximumLife: TimeInterval = 400 * 24 * 60 * 60,
        maximumForDomain: Int = 50,
        maximumInAll: Int = 3_000
    ) {
        self.publicSuffixes = publicSuffixes
        self.isTrustworthyLoopback = isTrustworthyLoopback
        self.acceptsNamelessCookies = acceptsNamelessCookies
        self.maximumLife = maximumLife
        self.maximumForDomain = maximumForDomain
        self.maximumInAll = maximumInAll
    }

    /// Whether two URLs are of one site: the same scheme and the same registrable domain (RFC 6265bis §5.2).
    ///
    /// An address, or a host that is itself a public suffix, is of the same site only as itself.
    public func isSameSite(_ first: URL, _ second: URL) -> Bool {
        guard let first = CookieLocation(first), let second = CookieLocation(second), first.isSecure == second.isSecure
        else { return false }
        guard first.host != second.host else { return true }
        guard let domain = publicSuffixes.registrableDomain(of: first.host) else { return false }
        return domain == publicSuffixes.registrableDomain(of: second.host)
    }

    /// Whether `Secure` cookies may be sent to a URL (RFC 6265 §5.4).
    package func isSecure(_ url: URL) -> Bool { CookieLocation(url).map { isSecure($0) } ?? false }

    /// Whether `Secure` cookies may be sent to a location.
    func isSecure(_ location: CookieLocation) -> Bool {
        location.isSecure || (isTrustworthyLoopback && location.host.isLoopback)
    }
}

/// The rule of a cookie for requests that another site started (RFC 6265bis §4.1.2.7).
public enum SameSite: String, Hashable, Sendable, Codable {
    /// The attribute is missing or has an unknown value; enforced as `lax`.
    case unspecified
    /// Sent with requests of every site. Such a cookie must be `Secure`.
    case none
    /// Sent with requests of the same site, and with top-level navigations by a safe method.
    case lax
    /// Sent with requests of the same site only.
    case strict
}

/// The request that asks for cookies, or whose response sets them (RFC 6265bis §5.2).
///
/// The defaults describe an app's own request: it uses HTTP and is of the same site, since no other site started it.
public struct CookieContext: Hashable, Sendable {
    /// Whether the request goes to the same site that started it.
    ///
    /// Default: `true`.
    public var isSameSite: Bool
    /// Whether the request loads a top-level page, as a followed link does.
    ///
    /// Default: `false`.
    public var isTopLevelNavigation: Bool
    /// The request's method.
    ///
    /// Default: `GET`.
    public var method: String
    /// Whether HTTP carries the cookies; `false` for a script interface, which sees no `HttpOnly` cookie.
    ///
    /// Default: `true`.
    public var isHTTP: Bool

    /// Makes a context.
    public init(
        isSameSite: Bool = true,
        isTopLevelNavigation: Bool = false,
        method: String = "GET",
        isHTTP: Bool = true
    ) {
        self.isSameSite = isSameSite
        self.isTopLevelNavigation = isTopLevelNavigation
        self.method = method
        self.isHTTP = isHTTP
    }

    /// The context of an app's own request.
    public static let firstParty = CookieContext()

    /// Methods are case-sensitive (RFC 9110 §9.1), and these are the safe ones (§9.2.1).
    private var isSafe: Bool { Methods.isSafe(method) }

    /// Whether a response in this context may set a cookie (RFC 6265bis §5.7).
    func maySet(_ sameSite: SameSite) -> Bool {
        sameSite == .none || isSameSite || (isHTTP && isTopLevelNavigation)
    }

    /// Whether a request in this context carries a cookie (RFC 6265bis §5.8.3).
    func carries(_ sameSite: SameSite) -> Bool {
        switch sameSite {
        case .none: true
        case .strict: isSameSite
        case .lax, .unspecified: isSameSite || (isHTTP && isTopLevelNavigation && isSafe)
        }
    }
}

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

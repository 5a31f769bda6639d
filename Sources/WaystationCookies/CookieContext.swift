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
    private var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

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

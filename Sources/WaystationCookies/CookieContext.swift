/// Who asks for cookies, or sets them, and how (RFC 6265bis §5.2).
///
/// The default is what an app's own request is: HTTP, and of the same site, since no other site started it.
public struct CookieContext: Hashable, Sendable {
    /// Whether the site that started the request is the one it goes to.
    ///
    /// Default: `true`.
    public var isSameSite: Bool
    /// Whether the request loads a page of the top level, as a followed link does.
    ///
    /// Default: `false`.
    public var isTopLevelNavigation: Bool
    /// The request's method.
    ///
    /// Default: `GET`.
    public var method: String
    /// Whether HTTP carries the cookies; `false` for a script's interface, which sees no `HttpOnly` cookie.
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

    /// An app's own request.
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

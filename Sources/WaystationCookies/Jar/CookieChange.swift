/// One change that a mutation made to a jar.
///
/// Every mutation returns its changes in the order in which they happened, so that a caller can stream them or keep a
/// copy of the jar in step.
public enum CookieChange: Hashable, Sendable {
    /// A cookie with a new identity was stored.
    case added(Cookie)
    /// A cookie replaced one with the same identity, and differs from it in more than its last access.
    case changed(Cookie, from: Cookie)
    /// A cookie was removed, either by a caller or by a response that set an expiry date in the past.
    case removed(Cookie)
    /// A cookie reached its expiry date and was removed.
    case expired(Cookie)
    /// A cookie was removed to make room, because the jar was full.
    case evicted(Cookie)

    /// The cookie that changed; for a replacement, the new one.
    public var cookie: Cookie {
        switch self {
        case .added(let cookie), .changed(let cookie, from: _), .removed(let cookie), .expired(let cookie),
            .evicted(let cookie):
            cookie
        }
    }

    /// Whether the cookie is in the jar after the change.
    public var isPresent: Bool {
        switch self {
        case .added, .changed: true
        case .removed, .expired, .evicted: false
        }
    }
}

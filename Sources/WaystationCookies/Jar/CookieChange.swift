/// One thing that a mutation did to a jar.
///
/// Every mutation returns its changes in the order in which they happened, so that a stream of them can be built and a
/// copy of the jar kept in step.
public enum CookieChange: Hashable, Sendable {
    /// A cookie of a new identity.
    case added(Cookie)
    /// A cookie took the place of one of the same identity, and differs from it in more than its last access.
    case changed(Cookie, from: Cookie)
    /// A cookie was removed: by a caller, or by a response that set an end in the past.
    case removed(Cookie)
    /// A cookie's time ran out.
    case expired(Cookie)
    /// A cookie made room, because the jar was full.
    case evicted(Cookie)

    /// The cookie that this is about; of a replacement, the new one.
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

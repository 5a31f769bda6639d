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

/// What a cookie says about requests that another site started (RFC 6265bis §4.1.2.7).
public enum SameSite: String, Hashable, Sendable, Codable {
    /// The attribute was not there, or had a value that nobody knows; enforced as `lax`.
    case unspecified
    /// Sent with requests of every site. Such a cookie must be `Secure`.
    case none
    /// Sent with requests of the same site, and with navigations of the top level by a safe method.
    case lax
    /// Sent with requests of the same site alone.
    case strict
}

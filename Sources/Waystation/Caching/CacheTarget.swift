import WaystationRules

/// The host that a request's `Host` field names (RFC 9110 §7.2).
enum HostField {
    /// Whether the field names the host and port of a canonical URL, however it is spelled.
    static func names(_ field: String, theHostOf url: String) -> Bool {
        guard let target = CanonicalURL(url), let named = CanonicalURL("\(target.scheme)://\(field)/") else {
            return false
        }
        // A field with more than a host and a port does not name that host.
        return named.string == target.origin + "/"
    }
}

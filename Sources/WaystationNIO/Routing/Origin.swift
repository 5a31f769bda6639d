#if NIO
/// The server that a request is for, and the way to it: requests with equal origins can share connections.
struct Origin: Hashable, Sendable {
    /// Whether the connection uses TLS.
    var isSecure: Bool
    /// A name or an IP address, in lower case and without brackets.
    var host: String
    var port: Int
    var route: Route = .direct

    /// The name that TLS sends to the server: without the dot at the end of an absolute name, and nil for an address,
    /// which the certificate must then name (RFC 6066 §3).
    var serverName: String? {
        guard NumericAddress(host) == nil else { return nil }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
#endif

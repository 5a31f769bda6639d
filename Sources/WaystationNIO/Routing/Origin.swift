#if NIO
/// The server that a request is for, and the way to it: requests with equal origins can share connections.
struct Origin: Hashable, Sendable {
    /// Whether the connection uses TLS.
    var isSecure: Bool
    /// A name or an IP address, in lower case and without brackets.
    var host: String
    var port: Int
    var route: Route = .direct
}
#endif

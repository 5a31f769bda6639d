#if NIO
/// The way from this process to an origin.
enum Route: Hashable, Sendable {
    /// A connection to the origin itself.
    case direct
    /// Requests for `http` URLs go to the proxy, with the whole URL as their target (RFC 9112 §3.2.2).
    case absoluteForm(Proxy)
    /// The proxy opens a tunnel to the origin (CONNECT, RFC 9110 §9.3.6); TLS runs inside it.
    case tunnel(Proxy)
    /// The environment names a proxy that this engine cannot use, such as `socks5`; Foundation may be able to.
    case unsupported(String)

    /// An HTTP proxy.
    struct Proxy: Hashable, Sendable {
        /// A name or an IP address, without brackets.
        var host: String
        var port: Int
        /// The value of `Proxy-Authorization`, if the proxy wants one.
        var authorization: String?
    }

    /// The route of a server on this machine, which must not lead back to the server itself.
    ///
    /// - Parameter port: The server's port.
    /// - Returns: The same route, or a direct one if its proxy is at this port of the loopback interface.
    func avoiding(loopbackPort port: Int) -> Route {
        switch self {
        case .absoluteForm(let proxy), .tunnel(let proxy):
            let isLoopback = proxy.host == "localhost" || proxy.host == "::1" || proxy.host.hasPrefix("127.")
            return isLoopback && proxy.port == port ? .direct : self
        case .direct, .unsupported: return self
        }
    }
}
#endif

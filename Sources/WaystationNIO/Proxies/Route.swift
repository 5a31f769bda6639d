#if NIO
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The way from this process to an origin.
enum Route: Hashable, Sendable {
    /// A connection to the origin itself.
    case direct
    /// Requests for `http` URLs go to the proxy, with the whole URL as their target (RFC 9112 §3.2.2).
    case absoluteForm(Proxy)
    /// The proxy opens a tunnel to the origin (CONNECT, RFC 9110 §9.3.6); TLS runs inside it.
    case tunnel(Proxy)
    /// The environment names a proxy that this engine cannot use; Foundation may be able to.
    ///
    /// The reason is a part of a sentence without the address, which may have a password: "of the kind socks5, …".
    case unsupported(String)

    /// An HTTP proxy.
    struct Proxy: Hashable, Sendable {
        /// A name or an IP address, without brackets.
        var host: String
        var port: Int
        /// The value of `Proxy-Authorization`, if the proxy wants one.
        var authorization: String?
        /// The value of `Via` in requests for tunnels; nil to send no such field.
        var via: String?
    }

    /// Whether the route leads through a proxy at a port, whatever its host is.
    ///
    /// - Parameter port: The port.
    /// - Returns: True also for a proxy on another machine.
    func leads(throughPort port: Int) -> Bool {
        switch self {
        case .absoluteForm(let proxy), .tunnel(let proxy): proxy.port == port
        case .direct, .unsupported: false
        }
    }

    /// The route with a mark in the request for its tunnel.
    ///
    /// - Parameter via: The value of `Via` (RFC 9110 §7.6.3).
    /// - Returns: The same route if it has no tunnel.
    func marked(_ via: String) -> Route {
        guard case .tunnel(var proxy) = self else { return self }
        proxy.via = via
        return .tunnel(proxy)
    }

    /// The route of a server on this machine, which must not lead back to the server itself.
    ///
    /// - Parameter port: The server's port.
    /// - Returns: The same route, or a direct one if its proxy is at this port of the loopback interface.
    func avoiding(loopbackPort port: Int) -> Route {
        switch self {
        case .absoluteForm(let proxy), .tunnel(let proxy):
            return LoopbackHosts.contain(proxy.host) && proxy.port == port ? .direct : self
        case .direct, .unsupported: return self
        }
    }
}

/// The hosts that are this machine without a look at a resolver.
package enum LoopbackHosts {
    /// Whether a host is this machine.
    ///
    /// - Parameter host: A name or an IP address in lower case, without brackets.
    /// - Returns: False for a name that only a resolver knows.
    package static func contain(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "::" { return true }
        var address = in_addr()
        // As resolvers do, it also reads short forms such as `127.1`.
        guard inet_aton(host, &address) != 0 else { return false }
        // A connection to 0.0.0.0 reaches this machine.
        return UInt32(bigEndian: address.s_addr) >> 24 == 127 || address.s_addr == 0
    }
}
#endif

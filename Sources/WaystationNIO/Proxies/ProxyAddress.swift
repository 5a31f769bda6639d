#if NIO
import Foundation
import WaystationHTTP
import Waystation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The address of a proxy as the environment gives it: `scheme://user:password@host:port`, where only the host is
/// required.
enum ProxyAddress {
    /// The port of a proxy without one, as in libcurl.
    static let defaultPort = 1080

    /// Reads an address.
    ///
    /// - Parameters:
    ///   - text: The value of the variable; nil if the variable is not set.
    ///   - makeRoute: Makes the route over an HTTP proxy.
    /// - Returns: The route; direct without a proxy.
    static func route(_ text: String?, _ makeRoute: (Route.Proxy) -> Route) -> Route {
        guard let text else { return .direct }
        var rest = text[...]
        if let range = text.range(of: "://") {
            let scheme = text[..<range.lowerBound].lowercased()
            guard scheme == "http" else { return .unsupported(unsupportedKind(scheme)) }
            rest = text[range.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var authorization: String?
        if let at = rest.lastIndex(of: "@") {
            let credentials = BasicCredentials(userInfo: rest[..<at])
            if !credentials.isEmpty { authorization = credentials.fieldValue }
            rest = rest[rest.index(after: at)...]
        }
        do {
            let (host, port) = try hostAndPort(rest)
            return makeRoute(Route.Proxy(host: host, port: port, authorization: authorization))
        } catch {
            return .unsupported(error.reason)
        }
    }

    /// The reason for which a proxy of a kind cannot be used.
    ///
    /// A text that is no scheme is not repeated: it may be a part of a password.
    private static func unsupportedKind(_ scheme: String) -> String {
        guard scheme.utf8.isScheme else { return "whose kind is not supported" }
        return "of the kind \(scheme), which is not supported"
    }

    /// The fault of an address.
    private struct Fault: Error {
        /// A part of a sentence: "the environment names a proxy …".
        let reason: String

        static let host = Fault(reason: "whose host is missing or cannot be read")
        static let port = Fault(reason: "whose port is not a number from 1 to 65535")
    }

    private static func hostAndPort(_ text: Substring) throws(Fault) -> (String, Int) {
        let host: Substring
        let rest: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw .host }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .host }
        guard rest.first == ":" else {
            guard rest.isEmpty else { throw .host }
            return (host.lowercased(), defaultPort)
        }
        let digits = rest.dropFirst()
        guard !digits.isEmpty else { return (host.lowercased(), defaultPort) }
        guard digits.utf8.isDecimal, let port = Int(digits), (1...65_535).contains(port)
        else { throw .port }
        return (host.lowercased(), port)
    }
}

/// The hosts of `no_proxy`, which are reached without a proxy; the rules are those of libcurl 7.86 and later.
///
/// Entries are separated by commas or spaces. A name stands for itself and for its subdomains, with or without a leading
/// dot; an IP address may have a prefix length. An asterisk stands for all hosts if it is the only entry.
struct ProxyExceptions: Equatable, Sendable {
    private struct Network: Equatable, Sendable {
        var bytes: [UInt8]
        var prefix: Int

        func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count, prefix <= bytes.count * 8 else { return false }
            for (index, pair) in zip(address, bytes).enumerated() {
                let bits = min(8, max(0, prefix - index * 8))
                let mask = bits == 0 ? 0 : UInt8.max << (8 - bits)
                guard (pair.0 ^ pair.1) & mask == 0 else { return false }
            }
            return true
        }
    }

    private let containsAll: Bool
    private let names: [String]
    private let networks: [Network]

    init(_ text: String) {
        containsAll = text == "*"
        var names: [String] = []
        var networks: [Network] = []
        for entry in text.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if let network = Self.network(entry) {
                networks.append(network)
            } else {
                let name = Self.name(entry.first == "." ? entry.dropFirst() : entry)
                if !name.isEmpty { names.append(name) }
            }
        }
        self.names = names
        self.networks = networks
    }

    /// Whether a host is reached without a proxy.
    func contain(_ host: String) -> Bool {
        if containsAll { return true }
        let bare = host.first == "[" && host.last == "]" ? host.dropFirst().dropLast() : host[...]
        if let address = Self.bytes(bare) { return networks.contains { $0.contains(address) } }
        let name = Self.name(bare)
        return names.contains { name == $0 || name.hasSuffix("." + $0) }
    }

    /// A dot at the end of a name means the same name.
    private static func name(_ text: Substring) -> String {
        (text.last == "." ? text.dropLast() : text).lowercased()
    }

    private static func network(_ entry: Substring) -> Network? {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        let bare = first.first == "[" && first.last == "]" ? first.dropFirst().dropLast() : first
        guard let bytes = bytes(bare) else { return nil }
        guard parts.count > 1 else { return Network(bytes: bytes, prefix: bytes.count * 8) }
        // As in libcurl, a prefix of 0, or one that is not a number, means the address itself.
        let prefix = max(0, Int(parts[1]) ?? 0)
        return Network(bytes: bytes, prefix: prefix == 0 ? bytes.count * 8 : prefix)
    }

    /// The bytes of an IP address, or nil for a name.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        var v4 = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, String(text), &v4) == 1 { return v4 }
        var v6 = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET6, String(text), &v6) == 1 { return v6 }
        return nil
    }
}

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

/// The proxies that the environment names, by the rules of libcurl, which plain URLSession follows.
///
/// An empty variable counts as missing. `HTTP_PROXY` in upper case is ignored, because a CGI server sets it to what a
/// client sent.
struct ProxySettings: Equatable, Sendable {
    private let plain: Route
    private let secure: Route
    private let exceptions: ProxyExceptions

    /// Reads the environment of a process.
    init(environment: [String: String]) {
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = first("all_proxy", "ALL_PROXY")
        plain = ProxyAddress.route((first("http_proxy") ?? all), Route.absoluteForm)
        secure = ProxyAddress.route((first("https_proxy", "HTTPS_PROXY") ?? all), Route.tunnel)
        exceptions = ProxyExceptions(first("no_proxy", "NO_PROXY") ?? "")
    }

    /// The way to an origin.
    ///
    /// - Parameters:
    ///   - host: A name or an IP address, with or without brackets.
    ///   - isSecure: Whether the scheme is `https`.
    /// - Returns: The route. `no_proxy` knows no ports, so the port does not matter.
    func route(toHost host: String, isSecure: Bool) -> Route {
        let route = isSecure ? secure : plain
        guard route != .direct, !exceptions.contain(host) else { return .direct }
        return route
    }
}
#endif

import Foundation

/// A host as cookies compare it (RFC 6265 §5.1.2).
struct CookieHost: Hashable, Sendable {
    /// The name in lower case, or the address without brackets.
    let name: String

    /// Takes a host name of ASCII (non-ASCII names have to be in their `xn--` form) or an address.
    init?(_ text: String) {
        var octets = text.utf8[...]
        if octets.first == UInt8(ascii: "["), octets.last == UInt8(ascii: "]"), octets.count > 2 {
            octets = octets.dropFirst().dropLast()
        }
        guard !octets.isEmpty, octets.count <= 255, octets.first != UInt8(ascii: "."), octets.allSatisfy(Self.isAllowed)
        else { return nil }
        name = String(decoding: octets.map(\.lowercased), as: UTF8.self)
    }

    /// Letters, digits, hyphens, dots, the underscores that real hosts have, and the colons of IPv6.
    private static func isAllowed(_ octet: UInt8) -> Bool {
        octet.isASCIIAlphanumeric || "-._:".utf8.contains(octet)
    }

    /// Whether the host is an address, not a name.
    ///
    /// A name that ends in a number counts as an address.
    var isAddress: Bool {
        guard !name.utf8.contains(UInt8(ascii: ":")) else { return true }
        return name.utf8.endsInNumber
    }

    /// Whether the host is this machine.
    var isLoopback: Bool { name.isLoopbackHost }

    /// The name, followed by the shorter names that remain as labels are removed from its front, longest first.
    ///
    /// An address has only itself.
    var suffixes: [String] {
        guard !isAddress else { return [name] }
        var suffixes = [name]
        var rest = name[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            guard !rest.isEmpty else { break }
            suffixes.append(String(rest))
        }
        return suffixes
    }

    /// Whether this host gets the cookies of a domain (RFC 6265 §5.1.3).
    func domainMatches(_ domain: String) -> Bool {
        name == domain || (!domain.isEmpty && !isAddress && name.hasSuffix(".\(domain)"))
    }
}

/// The parts of a URL that decide about cookies.
struct CookieLocation {
    let host: CookieHost
    /// The path in the form in which it is sent; at least a slash.
    let path: String
    /// Whether the scheme's protocol is a secure one.
    let isSecure: Bool

    /// Returns `nil` for a scheme that carries no cookies and for a URL without a host.
    init?(_ url: URL) {
        // A relative URL gets its host from its base. The host is read decoded, because Foundation's encoded form has
        // percent signs for a name whose `xn--` form it knows.
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), let name = url.host(percentEncoded: false),
            let host = CookieHost(name)
        else { return nil }
        switch scheme {
        case "https", "wss": isSecure = true
        case "http", "ws": isSecure = false
        default: return nil
        }
        self.host = host
        // Paths are compared as they are sent; `URL.path` would decode the path and drop its last slash.
        let path = url.path(percentEncoded: true)
        self.path = path.hasPrefix("/") ? path : "/"
    }
}

/// Compares paths as cookies do: byte by byte, in the form in which they are sent (RFC 6265 §5.1.4).
enum CookiePath {
    /// The path of a cookie without a `Path` attribute: the request's path up to its last slash.
    static func defaultPath(of requestPath: String) -> String {
        let octets = requestPath.utf8
        guard octets.first == UInt8(ascii: "/"), let last = octets.lastIndex(of: UInt8(ascii: "/")),
            last != octets.startIndex
        else { return "/" }
        return String(requestPath[..<last])
    }

    /// Whether a request's path equals a cookie's path or lies below it.
    static func matches(request requestPath: String, cookie cookiePath: String) -> Bool {
        let request = requestPath.utf8
        let cookie = cookiePath.utf8
        guard request.starts(with: cookie) else { return false }
        return request.count == cookie.count || cookie.last == UInt8(ascii: "/")
            || request.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}

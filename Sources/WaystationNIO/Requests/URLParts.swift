#if NIO
import Foundation

/// The parts of an `http` or `https` URL that a request needs, percent-encoding left alone (RFC 3986 §3).
struct URLParts: Equatable {
    /// Whether the scheme is `https`.
    var isSecure: Bool
    /// The name or IP address as the URL spells it, with the brackets of an IPv6 address.
    var host: Substring
    var port: Int?
    /// User name and password, percent-encoded, without the `@`.
    var userinfo: Substring?
    /// Empty or begins with `/`; dot segments are still there.
    var path: Substring
    /// With its `?`; empty if there is no query.
    var query: Substring

    /// Nil unless the URL has the scheme `http` or `https` and a host that can be connected to.
    init?(_ url: String) {
        let text = Substring(url)
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        switch text[..<colon].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        var rest = text[text.utf8.index(after: colon)...]
        guard rest.utf8.starts(with: "//".utf8) else { return nil }
        rest = rest.dropFirst(2)
        let fragment = rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        rest = rest[..<fragment]
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        let queryStart = rest[end...].utf8.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = rest[end..<queryStart]
        query = rest[queryStart...]
        guard Self.isSendable(path), Self.isSendable(query) else { return nil }

        var hostAndPort = authority
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            userinfo = authority[..<at]
            hostAndPort = authority[authority.utf8.index(after: at)...]
        }
        let portColon: Substring.Index?
        if hostAndPort.utf8.first == UInt8(ascii: "[") {
            guard let close = hostAndPort.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let after = hostAndPort.utf8.index(after: close)
            guard after == hostAndPort.endIndex || hostAndPort.utf8[after] == UInt8(ascii: ":") else { return nil }
            portColon = after == hostAndPort.endIndex ? nil : after
        } else {
            portColon = hostAndPort.utf8.lastIndex(of: UInt8(ascii: ":"))
        }
        host = hostAndPort[..<(portColon ?? hostAndPort.endIndex)]
        if let portColon {
            let digits = hostAndPort[hostAndPort.utf8.index(after: portColon)...]
            if !digits.isEmpty {
                guard let number = UInt16(digits), number > 0 else { return nil }
                port = Int(number)
            }
        }
        // A percent sign in brackets begins a zone identifier (RFC 6874), which only this machine understands.
        guard !host.isEmpty, host != "[]", Self.isHost(host) else { return nil }
    }

    /// The host in lower case and without brackets.
    var plainHost: String { (host.hasPrefix("[") ? host.dropFirst().dropLast() : host).lowercased() }

    /// The port that is connected to.
    var effectivePort: Int { port ?? (isSecure ? 443 : 80) }

    /// The value of `Host`: the default port is left out (RFC 9110 §7.2).
    var authority: String {
        guard let port, port != (isSecure ? 443 : 80) else { return String(host) }
        return "\(host):\(port)"
    }

    private static func isHost(_ host: Substring) -> Bool {
        host.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && !"%/?#@\\\"<>^`{|}".utf8.contains(byte)
        }
    }

    /// Whether text can stand in a request line: no white space and no control characters.
    private static func isSendable(_ text: Substring) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }
}
#endif

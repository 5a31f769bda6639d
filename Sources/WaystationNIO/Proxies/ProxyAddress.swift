#if NIO
import Foundation

/// The address of a proxy as the environment gives it: `scheme://user:password@host:port`, where only the host is
/// required.
enum ProxyAddress {
    /// The port of a proxy without one, as in libcurl.
    static let defaultPort = 1080

    /// Reads an address.
    ///
    /// - Parameters:
    ///   - text: The value of the variable; nil if there is none.
    ///   - makeRoute: Makes the route over an HTTP proxy.
    /// - Returns: The route; direct without a proxy.
    static func route(_ text: String?, _ makeRoute: (Route.Proxy) -> Route) -> Route {
        guard let text else { return .direct }
        var rest = text[...]
        if let range = text.range(of: "://") {
            let scheme = text[..<range.lowerBound].lowercased()
            guard scheme == "http" else { return .unsupported(scheme.isEmpty ? text : scheme) }
            rest = text[range.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var authorization: String?
        if let at = rest.lastIndex(of: "@") {
            authorization = basic(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = hostAndPort(rest) else { return .unsupported(text) }
        return makeRoute(Route.Proxy(host: host, port: port, authorization: authorization))
    }

    /// RFC 7617 §2; user and password are percent-encoded in an address.
    private static func basic(_ userinfo: Substring) -> String? {
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            String(part).removingPercentEncoding ?? String(part)
        }
        guard let user = parts.first else { return nil }
        let password = parts.count > 1 ? parts[1] : ""
        guard !user.isEmpty || !password.isEmpty else { return nil }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    private static func hostAndPort(_ text: Substring) -> (String, Int)? {
        let host: Substring
        let rest: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        guard rest.first == ":" else { return rest.isEmpty ? (host.lowercased(), defaultPort) : nil }
        let digits = rest.dropFirst()
        guard !digits.isEmpty else { return (host.lowercased(), defaultPort) }
        guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let port = Int(digits), (1...65_535).contains(port)
        else { return nil }
        return (host.lowercased(), port)
    }
}
#endif

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
            guard scheme == "http" else { return .unsupported(unsupportedKind(scheme)) }
            rest = text[range.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var authorization: String?
        if let at = rest.lastIndex(of: "@") {
            authorization = basic(rest[..<at])
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
        let isScheme = scheme.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        guard isScheme, !scheme.isEmpty else { return "whose kind is not supported" }
        return "of the kind \(scheme), which is not supported"
    }

    /// The fault of an address.
    private struct Fault: Error {
        /// A part of a sentence: "the environment names a proxy …".
        let reason: String

        static let host = Fault(reason: "whose host is missing or cannot be read")
        static let port = Fault(reason: "whose port is not a number from 1 to 65535")
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
        guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let port = Int(digits), (1...65_535).contains(port)
        else { throw .port }
        return (host.lowercased(), port)
    }
}
#endif

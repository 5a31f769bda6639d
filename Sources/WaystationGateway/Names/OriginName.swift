#if Gateway
/// An origin: scheme, host and port (RFC 6454 §4), and the name under which a gateway stands for it.
///
/// A browser resolves every name below `localhost` to this machine, and treats it as a secure context (Secure Contexts
/// §3.1). So `http://shop.example.localhost:8080/` can stand for `https://shop.example/`. The name is the host, the port
/// if it is not the scheme's own, `http` if the scheme is not `https`, and `localhost`:
///
/// | Origin | Name |
/// | --- | --- |
/// | `https://shop.example` | `shop.example.localhost` |
/// | `https://shop.example:8443` | `shop.example.8443.localhost` |
/// | `http://shop.example` | `shop.example.http.localhost` |
/// | `http://127.0.0.1:8000` | `127.0.0.1.8000.http.localhost` |
///
/// No host ends in a number or in `http`, except for IPv4 addresses, which have exactly four numbers. IPv6 addresses
/// have no name.
struct OriginName: Hashable, Sendable {
    let scheme: String
    /// In lower case.
    let host: String
    /// Nil for the scheme's own port.
    let port: Int?

    static let suffix = ".localhost"

    init?(scheme: String, host: String, port: Int?) {
        guard let standard = Self.standardPort(of: scheme), Self.isHost(host) else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port == standard ? nil : port
    }

    /// The origin that a name stands for; nil if the name is not one of a gateway.
    init?(name: some StringProtocol) {
        let name = name.lowercased()
        guard name.hasSuffix(Self.suffix) else { return nil }
        var labels = name.dropLast(Self.suffix.count).split(separator: ".", omittingEmptySubsequences: false)
        let isPlain = labels.count > 1 && labels.last == "http"
        if isPlain { labels.removeLast() }
        var port: Int?
        if let last = labels.last, labels.count > 1, Self.isNumber(last), !Self.isAddress(labels) {
            guard let number = Self.port(last) else { return nil }
            port = number
            labels.removeLast()
        }
        self.init(scheme: isPlain ? "http" : "https", host: labels.joined(separator: "."), port: port)
        // One origin has one name.
        guard self.name == name else { return nil }
    }

    /// The name at the gateway.
    var name: String { host + Self.end(scheme: scheme, port: port) }

    /// The part of a name after the host.
    static func end(scheme: String, port: Int?) -> String {
        (port.map { ".\($0)" } ?? "") + (scheme == "http" ? ".http" : "") + suffix
    }

    /// The origin as a URL without a path.
    var serialized: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// Whether the host is an IPv4 address.
    var isAddress: Bool { Self.isAddress(host.split(separator: ".", omittingEmptySubsequences: false)) }

    static func standardPort(of scheme: String) -> Int? {
        switch scheme {
        case "https": 443
        case "http": 80
        default: nil
        }
    }

    /// The port that the text after the colon of an authority names; nil if the text is written in another way than
    /// browsers write it.
    ///
    /// Programs disagree about a sign and about leading zeros.
    static func port(_ digits: some StringProtocol) -> Int? {
        guard digits.first != "0", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(digits).map(Int.init)
    }

    private static func isNumber(_ label: Substring) -> Bool { label.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    private static func isAddress(_ labels: [Substring]) -> Bool {
        labels.count == 4 && labels.allSatisfy { !$0.isEmpty && isNumber($0) && UInt8($0) != nil }
    }

    /// Whether a text is a host name or an IPv4 address: labels of letters, digits, hyphens and underscores.
    private static func isHost(_ host: String) -> Bool {
        guard host.utf8.count <= 253 else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }
    }
}
#endif

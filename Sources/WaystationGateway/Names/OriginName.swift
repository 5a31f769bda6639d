#if Gateway
import Foundation
import WaystationHTTP
import WaystationStorage

/// An origin: scheme, host and port (RFC 6454 §4), and the name under which a gateway stands for it.
///
/// A browser resolves every name below `localhost` to this machine, and treats it as a secure context (Secure Contexts
/// §3.1). So `http://shop-example.localhost:8080/` can stand for `https://shop.example/`. The last label before
/// `localhost` is the origin's site: the registrable domain of its host, the port if it is not the scheme's own, and
/// `http` if the scheme is not `https`. In this label, `-` stands for a dot and `--` for a hyphen. The labels of the host
/// that are in front of its registrable domain stay in front:
///
/// | Origin | Name |
/// | --- | --- |
/// | `https://shop.example` | `shop-example.localhost` |
/// | `https://www.my-shop.co.uk` | `www.my--shop-co-uk.localhost` |
/// | `https://shop.example:8443` | `shop-example-8443.localhost` |
/// | `http://shop.example` | `shop-example-http.localhost` |
/// | `http://127.0.0.1:8000` | `127-0-0-1-8000-http.localhost` |
///
/// A browser takes the label below a top-level domain that it does not know for the registrable domain. So two names are
/// of one site for it if their origins are of one site, with the difference that ports count too.
///
/// Some sites do not fit into such a label: if it had more than 63 bytes, if it began with `xn--`, which means another
/// encoding, or if a label of the registrable domain begins or ends with a hyphen. Their names have all labels, and then
/// the digest of their site as a label: `www.xn--bcher-kva.example.site---970c….localhost`.
///
/// No host ends in a number or in `http`, except for IPv4 addresses, which have exactly four numbers; such a host has no
/// name, and neither have IPv6 addresses.
struct OriginName: Hashable, Sendable {
    let scheme: String
    /// In lower case.
    let host: String
    /// Nil for the scheme's own port.
    let port: Int?
    /// The name at the gateway; nil if the origin has none.
    let name: String?

    init?(scheme: String, host: String, port: Int?) {
        guard let standard = Self.standardPort(of: scheme), Self.isHost(host) else { return nil }
        let parts = Parts(scheme: scheme, host: host.lowercased(), port: port == standard ? nil : port)
        (self.scheme, self.host, self.port) = (parts.scheme, parts.host, parts.port)
        name = Self.name(of: parts)
    }

    /// The origin that a name stands for; nil if the name is not one of a gateway.
    init?(name: some StringProtocol) {
        let name = name.lowercased()
        guard name.hasSuffix(Self.suffix) else { return nil }
        var labels = name.dropLast(Self.suffix.count).split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
        guard let site = labels.popLast() else { return nil }
        if !Self.isDigest(site) { labels += Self.unfolded(site) }
        guard let parts = Parts(labels: labels) else { return nil }
        self.init(scheme: parts.scheme, host: parts.host, port: parts.port)
        // One origin has one name.
        guard self.name == name else { return nil }
    }

    /// The origin that someone means who writes its labels in front of `localhost`, as in `shop.example.localhost`.
    init?(meantBy name: some StringProtocol) {
        let name = name.lowercased()
        guard name.hasSuffix(Self.suffix),
            let parts = Parts(labels: name.dropLast(Self.suffix.count).components(separatedBy: "."))
        else { return nil }
        self.init(scheme: parts.scheme, host: parts.host, port: parts.port)
    }

    /// The origin as a URL without a path.
    var serialized: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// The origin of a host at the same port and with the same scheme; nil for a text that is no host.
    func sibling(at host: String) -> OriginName? { OriginName(scheme: scheme, host: host, port: port) }

    /// The port to connect to.
    var effectivePort: Int { port ?? Self.standardPort(of: scheme) ?? 80 }

    /// The port that URLs of a scheme have if they name none; nil for a scheme other than `http` and `https`.
    static func standardPort(of scheme: String) -> Int? {
        switch KnownScheme(scheme.utf8) {
        case let known? where known == .http || known == .https: known.defaultPort
        default: nil
        }
    }

    /// The port that the text after the colon of an authority names; nil if the text is written in another way than
    /// browsers write it.
    ///
    /// Programs disagree about a sign and about leading zeros.
    static func port(_ digits: some StringProtocol) -> Int? {
        guard digits.first != "0", digits.utf8.isDecimal else { return nil }
        return UInt16(digits).map(Int.init)
    }

    /// Whether a text is a host name or an IPv4 address: labels of letters, digits, hyphens and underscores.
    static func isHost(_ host: String) -> Bool {
        guard host.utf8.count <= 253 else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy {
                    $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                }
        }
    }
}

// MARK: - Names

extension OriginName {
    private static let suffix = ".localhost"
    /// In a label that was folded, no run of hyphens has exactly three: hyphens are doubled.
    private static let digestMark = "site---"

    private static func isDigest(_ label: String) -> Bool {
        label.hasPrefix(digestMark) && !label.dropFirst(digestMark.count).hasPrefix("-")
    }

    private static func name(of parts: Parts) -> String? {
        // A host such as `127.1`, which a browser takes for an address, would stand for another origin.
        guard Parts(labels: parts.labels) == parts else { return nil }
        let site = PublicSuffixes.builtIn.site(of: parts.host)
        let front = String(parts.host.dropLast(site.count))
        let siteLabels = Parts(scheme: parts.scheme, host: site, port: parts.port).labels
        let name =
            folded(siteLabels).map { front + $0 + suffix }
            ?? parts.labels.joined(separator: ".") + "." + digest(siteLabels) + suffix
        return name.utf8.count <= 253 ? name : nil
    }

    /// One label for some labels; nil if they do not fit into one.
    private static func folded(_ labels: [String]) -> String? {
        guard !labels.contains(where: { $0.hasPrefix("-") || $0.hasSuffix("-") }) else { return nil }
        let label = labels.map { $0.replacingOccurrences(of: "-", with: "--") }.joined(separator: "-")
        return label.utf8.count <= 63 && !label.hasPrefix("xn--") ? label : nil
    }

    /// The labels that were folded into one.
    private static func unfolded(_ label: String) -> [String] {
        var bytes: [UInt8] = []
        var rest = label.utf8[...]
        while let byte = rest.popFirst() {
            let isHyphen = byte == UInt8(ascii: "-")
            let isDoubled = isHyphen && rest.first == byte
            if isDoubled { rest.removeFirst() }
            bytes.append(isHyphen && !isDoubled ? UInt8(ascii: ".") : byte)
        }
        return String(decoding: bytes, as: UTF8.self).components(separatedBy: ".")
    }

    private static func digest(_ labels: [String]) -> String {
        digestMark + MessageDigest.of(Array(labels.joined(separator: ".").utf8)).prefix(16).hexadecimal
    }

    /// The parts of an origin, and the labels that stand for them.
    private struct Parts: Equatable {
        let scheme: String
        let host: String
        let port: Int?

        init(scheme: String, host: String, port: Int?) {
            self.scheme = scheme
            self.host = host
            self.port = port
        }

        /// Reads the labels; nil if there are none, or if the port is not one.
        init?(labels: [String]) {
            var labels = labels
            let isPlain = labels.count > 1 && labels.last == "http"
            if isPlain { labels.removeLast() }
            var port: Int?
            if let last = labels.last, labels.count > 1, Self.isNumber(last), !Self.isAddress(labels) {
                guard let number = OriginName.port(last) else { return nil }
                port = number
                labels.removeLast()
            }
            self.init(scheme: isPlain ? "http" : "https", host: labels.joined(separator: "."), port: port)
        }

        var labels: [String] {
            host.components(separatedBy: ".") + (port.map { ["\($0)"] } ?? []) + (scheme == "http" ? ["http"] : [])
        }

        private static func isNumber(_ label: String) -> Bool {
            label.utf8.allSatisfy(\.isASCIIDigit)
        }

        private static func isAddress(_ labels: [String]) -> Bool {
            labels.count == 4 && labels.allSatisfy { !$0.isEmpty && isNumber($0) && UInt8($0) != nil }
        }
    }
}
#endif

#if NIO
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
#endif

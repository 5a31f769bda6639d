/// Canonicalises hosts of RFC 3986 §3.2.2.
enum HostName {
    /// The host in canonical form, or `nil` when it is not a valid host.
    ///
    /// An empty host stays empty. With `readsNumbersAsIPv4`, a host that ends in a number must be a valid IPv4 address,
    /// as in http URLs.
    static func canonicalize(_ text: ArraySlice<UInt8>, readsNumbersAsIPv4: Bool) -> [UInt8]? {
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]"), let address = IPv6Address(text.dropFirst().dropLast()) else {
                return nil
            }
            return Array("[\(address)]".utf8)
        }

        var host = percentDecoded(text)
        if host.contains(where: { $0 >= 0x80 }) {
            guard let ascii = InternationalName.encode(host) else { return nil }
            host = ascii
        } else {
            for index in host.indices { host[index] = URLCanonicalizer.lowercased(host[index]) }
        }
        guard host.allSatisfy({ ByteSet.host.contains($0) }), !hasEmptyLabel(host) else { return nil }
        guard readsNumbersAsIPv4, IPv4Address.endsInNumber(host) else { return host }
        return IPv4Address(host).map { Array($0.description.utf8) }
    }

    /// Whether a label is empty; a single dot at the end is the DNS root and does not count.
    private static func hasEmptyLabel(_ host: [UInt8]) -> Bool {
        var previous = UInt8(ascii: ".")
        for byte in host {
            if byte == UInt8(ascii: "."), previous == byte { return true }
            previous = byte
        }
        return false
    }
}

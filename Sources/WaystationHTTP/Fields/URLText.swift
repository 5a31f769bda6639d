// Schemes, ports, hosts and percent-encoding, for code that the canonical URL depends on, or that has no canonical URL.

/// The schemes whose URLs need a host and have a default port.
package enum KnownScheme: Sendable {
    case http, https, ws, wss, ftp

    /// Reads a scheme in lower case; nil for every other one.
    @inlinable package init?(_ bytes: some Collection<UInt8>) {
        func spells(_ name: StaticString) -> Bool {
            name.withUTF8Buffer { bytes.elementsEqual($0) }
        }
        switch bytes.count {
        case 5 where spells("https"): self = .https
        case 4 where spells("http"): self = .http
        case 3 where spells("wss"): self = .wss
        case 3 where spells("ftp"): self = .ftp
        case 2 where spells("ws"): self = .ws
        default: return nil
        }
    }

    /// The port of a URL that names none.
    @inlinable package var defaultPort: Int {
        switch self {
        case .http, .ws: 80
        case .https, .wss: 443
        case .ftp: 21
        }
    }
}

extension UInt8 {
    /// Whether the byte may be a part of a URL's scheme after its first letter (RFC 3986 §3.1).
    @inlinable package var isSchemeCharacter: Bool {
        switch self {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: isASCIIAlphanumeric
        }
    }
}

extension Collection<UInt8> {
    /// Whether the text is a scheme (RFC 3986 §3.1).
    @inlinable package var isScheme: Bool {
        first.map { $0.isASCIILetter } ?? false && allSatisfy { $0.isSchemeCharacter }
    }
}

extension String {
    /// Makes an authority of a host and a port (RFC 3986 §3.2); an IPv6 address is in brackets.
    ///
    /// - Parameters:
    ///   - host: A name or an address, without brackets.
    ///   - port: The port.
    package init(host: String, port: Int) {
        self = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The byte of the percent-encoding at `index` (RFC 3986 §2.1), or `nil` when there is no percent-encoding that ends
/// before `end`.
@inlinable @inline(__always)
package func percentDecodedByte<Bytes: RandomAccessCollection<UInt8>>(
    _ bytes: Bytes,
    at index: Int,
    end: Int
) -> UInt8? where Bytes.Index == Int {
    guard index + 2 < end, bytes[index] == UInt8(ascii: "%"),
        let high = bytes[index + 1].hexadecimalDigit, let low = bytes[index + 2].hexadecimalDigit
    else { return nil }
    return high << 4 | low
}

extension [UInt8] {
    /// Appends `%XX` with upper-case digits (RFC 3986 §6.2.2.1).
    @inlinable package mutating func appendPercentEncoded(_ byte: UInt8) {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
        }
        append(UInt8(ascii: "%"))
        append(digit(byte >> 4))
        append(digit(byte & 15))
    }
}

extension Sequence<UInt8> {
    /// The bytes as text of a URI in which all but the unreserved characters are percent-encoded (RFC 3986 §2.3).
    package var percentEncoded: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(underestimatedCount * 3)
        for byte in self {
            if byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) {
                text.append(byte)
            } else {
                text.appendPercentEncoded(byte)
            }
        }
        return text
    }
}

extension BidirectionalCollection<UInt8> {
    /// Whether the last label of a host is a number, so that the host must be an address
    /// (<https://url.spec.whatwg.org/#ends-in-a-number-checker>).
    ///
    /// Resolvers read `127.1` and `0x7f000001` as addresses. A number may be too large for any address.
    @inlinable package var endsInNumber: Bool {
        let name = last == UInt8(ascii: ".") ? dropLast() : self[...]
        let label = name.lastIndex(of: UInt8(ascii: ".")).map { name[name.index(after: $0)...] } ?? name[...]
        // A number begins with a digit: this check is enough for nearly every host.
        guard let first = label.first, first.isASCIIDigit else { return false }
        if label.allSatisfy({ $0.isASCIIDigit }) { return true }
        return label.startsIgnoringCase(with: "0x".utf8) && label.dropFirst(2).allSatisfy { $0.hexadecimalDigit != nil }
    }
}

extension StringProtocol {
    /// Whether a host, in lower case, is this machine.
    package var isLoopbackHost: Bool {
        if self == "localhost" || hasSuffix(".localhost") || self == "::1" || self == "[::1]" { return true }
        let parts = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0].elementsEqual("127".utf8)
            && parts.allSatisfy { (1...3).contains($0.count) && $0.isDecimal }
    }
}

extension String {
    /// The URL with the characters of its path and query percent-encoded that browsers send as they are (URL Standard,
    /// query percent-encode set), and that RFC 3986 does not allow: `[ ] { } | ^ \` and others.
    ///
    /// A percent sign without two hexadecimal digits is one of them. It stands for itself (URL Standard §1.3), so it
    /// becomes `%25`, as in the path of a canonical URL. A gateway loads a browser's link under this URL, and an import
    /// stores the response of a recorded link under it. The authority stays as it is: an IPv6 address has brackets.
    ///
    /// - Complexity: O(length); without such characters the text itself is returned.
    package var encodedForURL: String {
        guard utf8.contains(where: { Self.unsafeInURL.contains($0) || $0 == UInt8(ascii: "%") }) else { return self }
        let bytes = Array(utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        let start = Self.endOfAuthority(bytes)
        result.append(contentsOf: bytes[..<start])
        for index in start..<bytes.count {
            let byte = bytes[index]
            let isStray =
                byte == UInt8(ascii: "%") && percentDecodedByte(bytes, at: index, end: bytes.count) == nil
            if isStray || Self.unsafeInURL.contains(byte) {
                result.appendPercentEncoded(byte)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let unsafeInURL = Set("[]{}|^`\"<>\\".utf8)

    /// The index after the authority of an absolute URL; 0 for a text without an authority, such as a path.
    private static func endOfAuthority(_ bytes: [UInt8]) -> Int {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[..<colon].isScheme,
            bytes[colon...].starts(with: "://".utf8)
        else { return 0 }
        return bytes[(colon + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
    }
}

extension UInt8 {
    /// An ASCII upper-case letter in lower case; any other byte unchanged.
    @inlinable @inline(__always) package var lowercased: UInt8 { self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self }

    /// The value of an ASCII digit; nil for any other byte.
    @inlinable package var decimalDigit: Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self - UInt8(ascii: "0")) : nil
    }

    /// Whether the byte is an ASCII digit.
    @inlinable @inline(__always) package var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    /// Whether the byte is an ASCII letter.
    @inlinable @inline(__always) package var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Whether the byte is an ASCII letter or digit.
    @inlinable @inline(__always) package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// The value of a hexadecimal digit in upper or lower case; nil for any other byte.
    @inlinable package var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Whether the byte is a hexadecimal digit that is not an upper-case letter.
    @inlinable package var isLowerCaseHexadecimalDigit: Bool { hexadecimalDigit != nil && lowercased == self }

    /// Whether the byte is optional whitespace around list members (RFC 9110 §5.6.3).
    @inlinable package var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether the byte is a tchar (RFC 9110 §5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The collection without the spaces and tabs at both ends.
    @inlinable package func trimmingSpace() -> Self {
        var rest = drop(while: \.isSpace)
        while rest.last?.isSpace == true { rest.removeLast() }
        return rest
    }
}

extension Collection<UInt8> {
    /// Whether two texts differ in nothing but the case of ASCII letters: names of fields, schemes, hosts and codings.
    ///
    /// Letters beyond ASCII are compared as they are, so that no other letter equals one of ASCII, as the sign for Kelvin
    /// would after `lowercased()`.
    @inlinable package func equalsIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
        count == other.count && elementsEqual(other) { $0 == $1 || $0.lowercased == $1.lowercased }
    }

    /// Whether the text begins with another one, whatever the case of ASCII letters is.
    @inlinable package func startsIgnoringCase(with prefix: some Collection<UInt8>) -> Bool {
        starts(with: prefix) { $0 == $1 || $0.lowercased == $1.lowercased }
    }

    /// Whether the text is a token: a method, or the name of a field (RFC 9110 §5.6.2).
    @inlinable package var isToken: Bool { !isEmpty && allSatisfy { $0.isTokenCharacter } }

    /// Whether the text is a number in decimal digits, without a sign.
    @inlinable package var isDecimal: Bool { !isEmpty && allSatisfy { $0.isASCIIDigit } }
}

extension StringProtocol {
    /// Whether two texts differ in nothing but the case of ASCII letters.
    @inlinable package func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
        utf8.equalsIgnoringCase(other.utf8)
    }

    /// Whether the text begins with another one, whatever the case of ASCII letters is.
    @inlinable package func startsIgnoringCase(with prefix: some StringProtocol) -> Bool {
        utf8.startsIgnoringCase(with: prefix.utf8)
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without the spaces and tabs at both ends, which are no part of a field's value (RFC 9110 §5.5).
    ///
    /// Other space is: `trimmingCharacters(in: .whitespaces)` would also take away that of Unicode.
    @inlinable package func trimmingSpace() -> String {
        let text = self[...].utf8
        guard let first = text.first, let last = text.last, first.isSpace || last.isSpace else { return String(self) }
        return String(Substring(text.trimmingSpace()))
    }
}

extension Collection<UInt8> {
    /// The bytes as hexadecimal digits, two lower-case ones for each byte.
    @inlinable package var hexadecimal: String {
        func digit(_ half: UInt8) -> UInt8 {
            half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") - 10 + half
        }
        return String(unsafeUninitializedCapacity: count * 2) { text in
            var place = 0
            for byte in self {
                text[place] = digit(byte >> 4)
                text[place + 1] = digit(byte & 15)
                place += 2
            }
            return place
        }
    }
}

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

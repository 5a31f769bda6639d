extension UInt8 {
    /// An ASCII upper-case letter in lower case; any other byte unchanged.
    @inlinable package var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// The value of an ASCII digit; nil for any other byte.
    @inlinable package var decimalDigit: Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self - UInt8(ascii: "0")) : nil
    }

    /// Whether the byte is an ASCII digit.
    @inlinable package var isASCIIDigit: Bool { decimalDigit != nil }

    /// Whether the byte is an ASCII letter.
    @inlinable package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased) }

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

extension String {
    /// The members of a comma-separated list, trimmed and without empty ones; quoted strings get no special treatment.
    @inlinable package var listMembers: [String] {
        utf8.split(separator: UInt8(ascii: ",")).compactMap {
            let member = $0.trimmingSpace()
            return member.isEmpty ? nil : String(Substring(member))
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes as hexadecimal digits, two lower-case ones for each byte.
    @inlinable package var hexadecimal: String {
        var text: [UInt8] = []
        text.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            for half in [byte >> 4, byte & 15] {
                text.append(half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") - 10 + half)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes as text of a URI in which all but the unreserved characters are percent-encoded (RFC 3986 §2.3).
    package var percentEncoded: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(underestimatedCount * 3)
        for byte in self {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return text
    }
}

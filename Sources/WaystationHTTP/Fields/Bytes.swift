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

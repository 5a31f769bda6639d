// Cookies are defined over octets. Swift's `Character` would join a letter with the combining mark after it, and would
// compare canonically equivalent texts as equal.

extension UInt8 {
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(asciiLowercased) }

    var isASCIIHexDigit: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(asciiLowercased)
    }

    var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// A space or a tab (`WSP`).
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// A control character other than the tab (RFC 6265bis §5.6 step 1).
    var isForbiddenControl: Bool { (self < 0x20 && self != 0x09) || self == 0x7F }
}

extension Substring.UTF8View {
    /// The text without blanks at either end.
    var trimmed: Substring.UTF8View {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }

    func equalsIgnoringCase(_ other: StaticString) -> Bool {
        other.withUTF8Buffer { other in
            count == other.count && zip(self, other).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }
    }
}

extension String {
    /// Whether the text begins with a prefix, ignoring the case of ASCII letters.
    func hasASCIIPrefix(_ prefix: StaticString) -> Bool {
        utf8.prefix(prefix.utf8CodeUnitCount).equalsIgnoringCase(prefix)
    }
}

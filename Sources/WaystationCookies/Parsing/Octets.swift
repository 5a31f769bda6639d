import WaystationFields

// Cookies are defined over octets. Swift's `Character` would join a letter with the combining mark after it, and would
// compare canonically equivalent texts as equal.

extension UInt8 {
    /// A control character other than the tab (RFC 6265bis §5.6 step 1).
    var isForbiddenControl: Bool { (self < 0x20 && self != 0x09) || self == 0x7F }
}

extension Substring.UTF8View {
    func equalsIgnoringCase(_ other: StaticString) -> Bool {
        other.withUTF8Buffer { other in
            count == other.count && zip(self, other).allSatisfy { $0.lowercased == $1.lowercased }
        }
    }
}

extension String {
    /// Whether the text begins with a prefix, ignoring the case of ASCII letters.
    func hasASCIIPrefix(_ prefix: StaticString) -> Bool {
        utf8.prefix(prefix.utf8CodeUnitCount).equalsIgnoringCase(prefix)
    }
}

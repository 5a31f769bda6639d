/// The length limits and syntax checks of a cookie's parts (RFC 6265bis §5.6).
enum CookieSyntax {
    /// The most octets of a name and its value together.
    static let maximumPairLength = 4_096
    /// The most octets of an attribute's value; a longer one is ignored.
    static let maximumAttributeLength = 1_024

    /// Checks a pair that did not come from the parser, so that it can be written into a field and read back.
    static func check(name: String, value: String) throws(CookieError) {
        guard !name.isEmpty || !value.isEmpty else {
            throw CookieError(.nameless, "a cookie needs a name")
        }
        for part in [name, value] {
            guard part.utf8.allSatisfy({ !$0.isForbiddenControl && $0 != UInt8(ascii: ";") }) else {
                throw CookieError(.character, "a cookie's name or value has a control character or “;”; remove it")
            }
            guard part.utf8.first?.isSpace != true, part.utf8.last?.isSpace != true else {
                throw CookieError(.character, "a cookie's name or value begins or ends with a blank; remove it")
            }
        }
        guard !name.utf8.contains(UInt8(ascii: "=")) else {
            throw CookieError(.character, "a cookie's name contains “=”; remove it")
        }
        try check(length: name.utf8.count + value.utf8.count)
    }

    static func check(length: Int) throws(CookieError) {
        guard length <= maximumPairLength else {
            throw CookieError(.length, "name and value have \(length) octets; at most \(maximumPairLength) are allowed")
        }
    }

    static func check(path: String) throws(CookieError) {
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ !$0.isForbiddenControl }) else {
            throw CookieError(.path, "a cookie's path must begin with “/” and contain no control characters")
        }
    }
}

// Cookies are defined over octets. Swift's `Character` would join a letter with the combining mark after it, and would
// compare canonically equivalent texts as equal.

extension UInt8 {
    /// A control character other than the tab (RFC 6265bis §5.6 step 1).
    var isForbiddenControl: Bool { (self < 0x20 && self != 0x09) || self == 0x7F }
}

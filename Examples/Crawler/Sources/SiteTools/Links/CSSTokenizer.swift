/// The part of CSS tokenization (CSS Syntax Level 3, section 4.3) that matters for finding URLs.
struct CSSTokenizer {
    enum Token: Equatable {
        /// `@import`, without the `@`, in lower case.
        case atKeyword(String)
        /// An unquoted `url(…)`. The quoted form is a `function("url")` and a string.
        case url(String)
        case string(String)
        case function(String)
        case openParenthesis, closeParenthesis, semicolon, brace
        /// Any other token; adjacent ones are not separated.
        case other
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func next() -> Token? {
        skipComments()
        guard let byte = peek() else { return nil }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            index += 1
            return string(endingWith: byte)
        case UInt8(ascii: "@"):
            index += 1
            return startsName() ? .atKeyword(name().lowercased()) : .other
        case UInt8(ascii: "("):
            index += 1
            return .openParenthesis
        case UInt8(ascii: ")"):
            index += 1
            return .closeParenthesis
        case UInt8(ascii: ";"):
            index += 1
            return .semicolon
        case UInt8(ascii: "{"), UInt8(ascii: "}"):
            index += 1
            return .brace
        default:
            guard startsName() else {
                index += 1
                return .other
            }
            return identifierLike()
        }
    }

    // MARK: Identifiers and url()

    private mutating func identifierLike() -> Token {
        let name = name()
        guard peek() == UInt8(ascii: "(") else { return .other }
        index += 1
        let lowercased = name.lowercased()
        guard lowercased == "url" else { return .function(lowercased) }
        var ahead = index
        while ahead < bytes.count, Self.isSpace(bytes[ahead]) { ahead += 1 }
        if ahead < bytes.count, bytes[ahead] == UInt8(ascii: "\"") || bytes[ahead] == UInt8(ascii: "'") {
            index = ahead
            return .function("url")
        }
        index = ahead
        return unquotedURL()
    }

    /// Reads an unquoted URL (section 4.3.6).
    ///
    /// A quote, a parenthesis or white space within makes a bad token, which is skipped to its end.
    private mutating func unquotedURL() -> Token {
        var value: [UInt8] = []
        while let byte = peek() {
            index += 1
            switch byte {
            case UInt8(ascii: ")"):
                return .url(String(decoding: value, as: UTF8.self))
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "("):
                return badURL()
            case UInt8(ascii: "\\"):
                guard appendEscape(to: &value) else { return badURL() }
            case _ where Self.isSpace(byte):
                while let next = peek(), Self.isSpace(next) { index += 1 }
                guard let next = peek() else { return .url(String(decoding: value, as: UTF8.self)) }
                guard next == UInt8(ascii: ")") else { return badURL() }
            default:
                value.append(byte)
            }
        }
        return .url(String(decoding: value, as: UTF8.self))
    }

    private mutating func badURL() -> Token {
        var ignored: [UInt8] = []
        while let byte = peek() {
            index += 1
            if byte == UInt8(ascii: ")") { break }
            if byte == UInt8(ascii: "\\") { _ = appendEscape(to: &ignored) }
        }
        return .other
    }

    // MARK: Strings, names, escapes

    private mutating func string(endingWith quote: UInt8) -> Token {
        var value: [UInt8] = []
        while let byte = peek() {
            if byte == quote {
                index += 1
                return .string(String(decoding: value, as: UTF8.self))
            }
            if Self.isNewline(byte) { return .other }  // A bad string ends at the end of its line.
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            if let next = peek(), Self.isNewline(next) {
                index += 1
                if next == 0x0D, peek() == 0x0A { index += 1 }
            } else {
                _ = appendEscape(to: &value)
            }
        }
        return .string(String(decoding: value, as: UTF8.self))
    }

    private func startsName() -> Bool {
        guard let byte = peek() else { return false }
        if byte == UInt8(ascii: "\\") {
            return index + 1 < bytes.count && !Self.isNewline(bytes[index + 1])
        }
        return Self.isName(byte) && !(0x30...0x39).contains(byte)
    }

    private mutating func name() -> String {
        var value: [UInt8] = []
        while let byte = peek() {
            if Self.isName(byte) {
                index += 1
                value.append(byte)
            } else if byte == UInt8(ascii: "\\"), index + 1 < bytes.count, !Self.isNewline(bytes[index + 1]) {
                index += 1
                _ = appendEscape(to: &value)
            } else {
                break
            }
        }
        return String(decoding: value, as: UTF8.self)
    }

    /// Reads the characters after a backslash (section 4.3.7): up to six hexadecimal digits and one white space, or any
    /// one character.
    ///
    /// False at a line break, which cannot be escaped outside strings.
    private mutating func appendEscape(to value: inout [UInt8]) -> Bool {
        guard let byte = peek() else { return true }
        if Self.isNewline(byte) { return false }
        var code: UInt32 = 0
        var digits = 0
        while digits < 6, let digit = peek().flatMap(Self.hexDigit) {
            code = code << 4 | UInt32(digit)
            digits += 1
            index += 1
        }
        guard digits > 0 else {
            value.append(byte)
            index += 1
            return true
        }
        if let next = peek(), Self.isSpace(next) {
            index += 1
            if next == 0x0D, peek() == 0x0A { index += 1 }
        }
        let scalar = code == 0 ? nil : Unicode.Scalar(code)
        value.append(contentsOf: String(Character(scalar ?? "\u{FFFD}")).utf8)
        return true
    }

    // MARK: Bytes

    private mutating func skipComments() {
        while index + 1 < bytes.count, bytes[index] == UInt8(ascii: "/"), bytes[index + 1] == UInt8(ascii: "*") {
            index += 2
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "*"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/") {
                    index += 2
                    break
                }
                index += 1
            }
        }
    }

    private func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private static func isNewline(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D || byte == 0x0C }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || isNewline(byte) }

    private static func isName(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte >= 0x80
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

import Foundation

/// A structured field that is a list of strings (RFC 9651 §3.1, §3.3.3), such as `Cache-Groups`.
package enum StructuredStrings {
    /// The strings of a field, in order and without their parameters.
    ///
    /// - Parameter lines: The values of the field's lines, in order.
    /// - Returns: nil if the field is malformed or has a member that is not a string: it is then ignored as a whole (§4.2).
    package static func parse(_ lines: [String]) -> [String]? {
        var reader = StructuredReader(lines.joined(separator: ", "))
        return reader.strings()
    }

    /// The field's value for strings; those that have a character other than printable ASCII are left out (§4.1.6).
    package static func serialize(_ strings: [String]) -> String {
        strings.filter(isString).map(serialize).joined(separator: ", ")
    }

    /// One string as it stands in a field; each string has one form only.
    package static func serialize(_ string: String) -> String {
        "\"" + string.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Whether a structured field can express a text as a string: it has printable ASCII only (§3.3.3).
    package static func isString(_ text: String) -> Bool { text.utf8.allSatisfy(StructuredReader.isPrintable) }
}

/// A structured field that is a dictionary (RFC 9651 §3.2), such as `No-Vary-Search` and `Repr-Digest`.
package enum StructuredDictionary {
    /// A value of the dictionary, as far as the fields that the library reads need it.
    package enum Value: Hashable, Sendable {
        case boolean(Bool)
        /// An inner list (§3.1.1) of strings.
        case strings([String])
        /// A byte sequence (§3.3.5).
        case bytes([UInt8])
        /// Any other value, such as a number, or an inner list with a member that is not a string.
        case other
    }

    /// The values of a field by their keys, without parameters; of a key that occurs twice, the last value.
    ///
    /// - Parameter lines: The values of the field's lines, in order.
    /// - Returns: nil if the field is malformed: it is then ignored as a whole (§4.2).
    package static func parse(_ lines: [String]) -> [String: Value]? {
        var reader = StructuredReader(lines.joined(separator: ", "))
        return reader.dictionary()
    }
}

/// Reads a structured field from its front (RFC 9651 §4.2).
///
/// A function that returns nil has found a fault, after which nothing more is read.
private struct StructuredReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    /// A list whose members are all strings (§4.2.1).
    mutating func strings() -> [String]? {
        skip { $0 == UInt8(ascii: " ") }
        var strings: [String] = []
        while !rest.isEmpty {
            guard let string = string(), skipParameters() else { return nil }
            strings.append(string)
            skip(while: \.isSpace)
            if rest.isEmpty { return strings }
            guard take(",") else { return nil }
            skip(while: \.isSpace)
            // A comma must be followed by a member.
            if rest.isEmpty { return nil }
        }
        return strings
    }

    /// A dictionary (§4.2.2).
    mutating func dictionary() -> [String: StructuredDictionary.Value]? {
        skip { $0 == UInt8(ascii: " ") }
        var values: [String: StructuredDictionary.Value] = [:]
        while !rest.isEmpty {
            guard let key = key() else { return nil }
            var value = StructuredDictionary.Value.boolean(true)
            if take("=") {
                guard let written = self.value() else { return nil }
                value = written
            }
            guard skipParameters() else { return nil }
            values[key] = value
            skip(while: \.isSpace)
            if rest.isEmpty { return values }
            guard take(",") else { return nil }
            skip(while: \.isSpace)
            // A comma must be followed by a member.
            if rest.isEmpty { return nil }
        }
        return values
    }

    /// A key (§4.2.3.3).
    private mutating func key() -> String? {
        guard let first = rest.first, first == UInt8(ascii: "*") || Self.isLowerCaseLetter(first) else { return nil }
        let text = rest.prefix { Self.isLowerCaseLetter($0) || $0.isASCIIDigit || "_-.*".utf8.contains($0) }
        rest = rest.dropFirst(text.count)
        return String(Substring(text))
    }

    /// A value without its parameters: an inner list or an item (§4.2.1.1).
    private mutating func value() -> StructuredDictionary.Value? {
        if take("?1") { return .boolean(true) }
        if take("?0") { return .boolean(false) }
        if rest.first == UInt8(ascii: ":") { return byteSequence().map(StructuredDictionary.Value.bytes) }
        guard take("(") else { return skipItem() ? .other : nil }
        var strings: [String]? = []
        while !rest.isEmpty {
            skip { $0 == UInt8(ascii: " ") }
            if take(")") { return strings.map(StructuredDictionary.Value.strings) ?? .other }
            if rest.first == UInt8(ascii: "\"") {
                guard let string = string() else { return nil }
                strings?.append(string)
            } else {
                guard skipItem() else { return nil }
                strings = nil
            }
            guard skipParameters(), rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else {
                return nil
            }
        }
        return nil
    }

    /// A string without its quotation marks and escapes (§4.2.5).
    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                text.append(escaped)
            case _ where Self.isPrintable(byte): text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// A byte sequence, whose padding may be missing (§4.2.7).
    private mutating func byteSequence() -> [UInt8]? {
        guard take(":") else { return nil }
        let text = rest.prefix { $0.isASCIIAlphanumeric || "+/=".utf8.contains($0) }
        rest = rest.dropFirst(text.count)
        guard take(":") else { return nil }
        let padding = text.last == UInt8(ascii: "=") ? 0 : (4 - text.count % 4) % 4
        return Data(base64Encoded: String(Substring(text)) + String(repeating: "=", count: padding)).map(Array.init)
    }

    /// Reads the parameters of a member (§4.2.3.2), which have no meaning here.
    ///
    /// - Returns: Whether they are well-formed.
    private mutating func skipParameters() -> Bool {
        while take(";") {
            skip { $0 == UInt8(ascii: " ") }
            guard key() != nil else { return false }
            if take("="), !skipItem() { return false }
        }
        return true
    }

    /// Reads an item without parameters (§4.2.3.1).
    ///
    /// - Returns: Whether it is well-formed.
    private mutating func skipItem() -> Bool {
        guard let first = rest.first else { return false }
        switch first {
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "?"): return take("?0") || take("?1")
        case UInt8(ascii: ":"): return byteSequence() != nil
        case UInt8(ascii: "@"):
            _ = take("@")
            return skipNumber(isInteger: true)
        case UInt8(ascii: "%"):
            // A display string is a quoted one, whose escapes are percent-encoded (§4.2.10).
            _ = take("%")
            return string() != nil
        case _ where first == UInt8(ascii: "-") || first.isASCIIDigit: return skipNumber(isInteger: false)
        case _ where first == UInt8(ascii: "*") || first.isASCIILetter:
            skip { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return true
        default: return false
        }
    }

    /// Reads an integer of up to 15 digits, or a decimal with up to 12 digits before the point and 3 behind it (§4.2.4).
    private mutating func skipNumber(isInteger: Bool) -> Bool {
        _ = take("-")
        let whole = skip(while: \.isASCIIDigit)
        guard (1...15).contains(whole) else { return false }
        guard !isInteger, take(".") else { return true }
        return whole <= 12 && (1...3).contains(skip(while: \.isASCIIDigit))
    }

    private static func isLowerCaseLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    /// Takes a text, if it stands at the front.
    private mutating func take(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            guard rest.starts(with: text) else { return false }
            rest = rest.dropFirst(text.count)
            return true
        }
    }

    /// - Returns: The number of bytes that were skipped.
    @discardableResult
    private mutating func skip(while isSkipped: (UInt8) -> Bool) -> Int {
        let kept = rest.drop(while: isSkipped)
        defer { rest = kept }
        return rest.count - kept.count
    }
}

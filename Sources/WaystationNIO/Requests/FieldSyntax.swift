#if NIO
/// The characters that may stand in a request (RFC 9110 §5.1, §5.5 and §5.6.2).
enum FieldSyntax {
    /// Whether text is a token: a method or the name of a field.
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// Whether text can be the value of a field: CR, LF and NUL would end the field early.
    static func isValue(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }

    /// The value without the white space around it, which is not part of it (RFC 9110 §5.5).
    static func trimmed(_ value: String) -> String {
        guard let first = value.utf8.first, let last = value.utf8.last else { return value }
        guard isBlank(first) || isBlank(last) else { return value }
        var rest = Substring(value).utf8
        rest = rest.drop(while: isBlank)
        while let end = rest.last, isBlank(end) { rest = rest.dropLast() }
        return String(Substring(rest))
    }

    /// Whether two names of fields are the same: ASCII letters are compared without their case.
    static func isSame(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
        let first = one.utf8
        let second = other.utf8
        return first.count == second.count && zip(first, second).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
#endif

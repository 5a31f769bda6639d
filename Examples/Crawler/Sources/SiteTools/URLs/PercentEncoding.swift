/// Percent-encoding in its normal form (RFC 3986, section 6.2.2): unreserved characters are decoded, other encodings
/// have upper-case digits, and characters that a URL must not contain are encoded.
enum PercentEncoding {
    enum Component {
        case path, query
    }

    static func normalized(_ bytes: ArraySlice<UInt8>, _ component: Component) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                if index + 2 < bytes.endIndex, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) {
                    append(encoded: high << 4 | low, to: &output)
                    index += 3
                    continue
                }
                // A stray percent sign is not valid anywhere; servers treat `%25` in the same way.
                append(encoded: byte, to: &output)
            } else if component == .path, byte == UInt8(ascii: "\\") {
                output.append(UInt8(ascii: "/"))
            } else if isAllowed(byte, in: component) {
                output.append(byte)
            } else {
                append(encoded: byte, to: &output)
            }
            index += 1
        }
        return output
    }

    /// The query of a URL with the characters encoded that RFC 3986 does not allow, `[ ] { } | ^ \` and others, and with
    /// `%25` for each percent sign that begins no encoding; nil if it has none of them.
    ///
    /// Foundation would encode all percent signs of a URL with such a character once more. `'` is among them, since
    /// browsers encode it.
    static func validQuery(_ query: Substring?) -> String? {
        guard let bytes = query?.utf8 else { return nil }
        var output: [UInt8] = []
        var isValid = true
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            let digits = bytes[bytes.index(after: index)...].prefix(2)
            let isStray = byte == UInt8(ascii: "%") && (digits.count < 2 || !digits.allSatisfy { digit($0) != nil })
            if isStray || notInQuery.contains(byte) {
                append(encoded: byte, to: &output)
                isValid = false
            } else {
                output.append(byte)
            }
            index = bytes.index(after: index)
        }
        return isValid ? nil : String(decoding: output, as: UTF8.self)
    }

    private static let notInQuery = Set("[]{}|^`\\'".utf8)

    /// Appends a byte: as it is if it is unreserved, otherwise percent-encoded.
    static func append(encoded byte: UInt8, to output: inout [UInt8]) {
        if isUnreserved(byte) {
            output.append(byte)
        } else {
            output.append(UInt8(ascii: "%"))
            output.append(hexDigits[Int(byte >> 4)])
            output.append(hexDigits[Int(byte & 15)])
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    private static func isAllowed(_ byte: UInt8, in component: Component) -> Bool {
        if isUnreserved(byte) { return true }
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"):
            return true
        case UInt8(ascii: "?"):
            return component == .query
        default:
            return false
        }
    }
}

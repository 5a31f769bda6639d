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

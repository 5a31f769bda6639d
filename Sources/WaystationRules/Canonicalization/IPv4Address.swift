/// An IPv4 address, parsed as URL libraries and `inet_aton` do: `127.1`, `0x7f.0.0.1`, `017700000001`.
///
/// https://url.spec.whatwg.org/#concept-ipv4-parser
struct IPv4Address: CustomStringConvertible {
    let value: UInt32

    init?(_ host: [UInt8]) {
        var parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        guard let last = parts.popLast(), parts.count <= 3, let tail = Self.number(last) else { return nil }

        var value: UInt64 = 0
        for part in parts {
            guard let number = Self.number(part), number <= 255 else { return nil }
            value = value << 8 | number
        }
        let tailBits = UInt64(32 - 8 * parts.count)
        guard tail < 1 << tailBits else { return nil }
        self.value = UInt32(value << tailBits | tail)
    }

    var description: String {
        "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
    }

    /// Whether the last label is a number, so that the host must be an address.
    static func endsInNumber(_ host: [UInt8]) -> Bool {
        let name = host.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
        let last = name.lastIndex(of: UInt8(ascii: ".")).map { name[($0 + 1)...] } ?? name
        // A number begins with a digit: this check is enough for nearly every host.
        guard let first = last.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") else { return false }
        return last.allSatisfy { hexadecimalValue($0).map { $0 < 10 } ?? false } || number(last) != nil
    }

    /// Whether the bytes are four decimal numbers up to 255 without leading zeros.
    static func isCanonical(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var dots = 0
        var digits = 0
        var value = 0
        for byte in host {
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return false }
                dots += 1
                digits = 0
                value = 0
            } else {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), digits == 0 || value > 0 else {
                    return false
                }
                digits += 1
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
                guard value <= 255 else { return false }
            }
        }
        return dots == 3 && digits > 0
    }

    /// A decimal, octal (`0…`) or hexadecimal (`0x…`) number; `nil` when the text is not a number or too large for any
    /// address.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var digits = text
        var radix: UInt64 = 10
        if text.count >= 2, text.first == UInt8(ascii: "0") {
            let isHexadecimal = text[text.startIndex + 1] | 0x20 == UInt8(ascii: "x")
            radix = isHexadecimal ? 16 : 8
            digits = text.dropFirst(isHexadecimal ? 2 : 1)
        }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = hexadecimalValue(byte), digit < radix else { return nil }
            value = value * radix + UInt64(digit)
            guard value <= UInt32.max else { return nil }
        }
        return value
    }
}

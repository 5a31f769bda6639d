extension String {
    /// Calls `body` with the text's UTF-8 bytes in place; copies them only when the string is not native.
    @inline(__always)
    func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}

/// The value of an ASCII hexadecimal digit, or `nil`.
@inline(__always)
func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
}

/// The byte of the percent-encoding at `index`, or `nil` when there is no percent-encoding that ends before `end`.
@inline(__always)
func percentDecodedByte<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, at index: Int, end: Int) -> UInt8?
where Bytes.Index == Int {
    guard index + 2 < end, bytes[index] == UInt8(ascii: "%"),
        let high = hexadecimalValue(bytes[index + 1]), let low = hexadecimalValue(bytes[index + 2])
    else { return nil }
    return high << 4 | low
}

/// The bytes with every percent-encoding replaced by its byte.
func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
        if let byte = percentDecodedByte(bytes, at: index, end: bytes.endIndex) {
            decoded.append(byte)
            index += 3
        } else {
            decoded.append(bytes[index])
            index += 1
        }
    }
    return decoded
}

extension [UInt8] {
    /// Appends `%XX` with upper-case digits (RFC 3986 §6.2.2.1).
    mutating func appendPercentEncoded(_ byte: UInt8) {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
        }
        append(UInt8(ascii: "%"))
        append(digit(byte >> 4))
        append(digit(byte & 15))
    }
}

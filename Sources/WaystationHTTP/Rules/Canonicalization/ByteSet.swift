/// A set of ASCII bytes as two machine words, for the character classes of RFC 3986.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    init(_ characters: StaticString) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        characters.withUTF8Buffer { bytes in
            for byte in bytes where byte < 128 {
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
            }
        }
        self.init(low: low, high: high)
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 64 == 0 ? low : high
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    func union(_ other: ByteSet) -> ByteSet { ByteSet(low: low | other.low, high: high | other.high) }
}

extension ByteSet {
    private static let lowerAlphanumeric = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789")
    static let alphanumeric = lowerAlphanumeric.union(ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))

    /// RFC 3986 §2.3.
    static let unreserved = alphanumeric.union(ByteSet("-._~"))

    /// RFC 3986 §2.2.
    private static let subDelimiters = ByteSet("!$&'()*+,;=")

    /// RFC 3986 §3.2.1, without percent-encodings.
    static let userInfo = unreserved.union(subDelimiters).union(ByteSet(":"))

    /// RFC 3986 §3.2.2 `reg-name` in lower case, without percent-encodings.
    static let host = lowerAlphanumeric.union(ByteSet("-._~")).union(subDelimiters)

    /// RFC 3986 §3.3 `pchar`, without percent-encodings.
    static let segment = unreserved.union(subDelimiters).union(ByteSet(":@"))

    /// The characters that a query keeps unencoded: every printable ASCII character except those of the WHATWG query
    /// percent-encode set.
    static let query = segment.union(ByteSet("/?%[]\\^`{|}"))
}

extension String {
    /// Calls `body` with the text's UTF-8 bytes in place; copies them only when the string is not native.
    @inline(__always)
    func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}

/// The bytes with every percent-encoding replaced by its byte.
func removingPercentEncoding(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
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

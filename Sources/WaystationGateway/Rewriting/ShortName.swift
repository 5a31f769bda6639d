#if Gateway
/// The name of a tag, an attribute or a CSS token, in lower case: as many of its bytes as the longest known name has.
///
/// A name can be arbitrarily long, and arrives in parts; a longer one equals no known name.
struct ShortName: Hashable, Sendable {
    private static let maximum = 18

    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var last: UInt16 = 0
    private(set) var count: UInt8 = 0

    init() {}

    init(_ name: StaticString) {
        name.withUTF8Buffer { for byte in $0 { append(byte) } }
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        let byte = Characters.lowered(byte)
        switch count {
        case 0..<8: high = high << 8 | UInt64(byte)
        case 8..<16: low = low << 8 | UInt64(byte)
        case 16..<18: last = last << 8 | UInt16(byte)
        default: return count = UInt8(Self.maximum) + 1
        }
        count += 1
    }

    /// A number that differs for most names.
    @inline(__always)
    var mixed: Int {
        let product = (high ^ (low &* 0x9e37_79b9) ^ UInt64(last) ^ UInt64(count)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: product >> 40)
    }

    /// The bytes of a name that is not too long.
    var bytes: [UInt8] {
        guard count <= Self.maximum else { return [] }
        let first = (0..<min(count, 8)).reversed().map { UInt8(truncatingIfNeeded: high >> (UInt64($0) * 8)) }
        let second = (0..<min(max(count, 8) - 8, 8)).reversed().map {
            UInt8(truncatingIfNeeded: low >> (UInt64($0) * 8))
        }
        let third = (0..<(max(count, 16) - 16)).reversed().map { UInt8(truncatingIfNeeded: last >> (UInt16($0) * 8)) }
        return first + second + third
    }
}
#endif

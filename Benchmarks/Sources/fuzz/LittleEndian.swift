/// Access to the numbers of zip and bsdiff, at any place of bytes that may be damaged.
extension [UInt8] {
    /// The number of `width` bytes at a place; nil when it does not fit.
    func number(at place: Int, _ width: Int) -> UInt64? {
        guard place >= 0, place <= count - width else { return nil }
        return (0..<width).reversed().reduce(0) { $0 << 8 | UInt64(self[place + $1]) }
    }

    mutating func put(_ number: some FixedWidthInteger, at place: Int, _ width: Int) {
        guard place >= 0, place <= count - width else { return }
        for index in 0..<width { self[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    }

    mutating func append(_ number: some FixedWidthInteger, _ width: Int) {
        for index in 0..<width { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    /// A part of the bytes; nil when it does not fit.
    func part(_ start: Int, _ length: Int) -> [UInt8]? {
        guard start >= 0, length >= 0, start <= count - length else { return nil }
        return Array(self[start..<start + length])
    }
}

/// Numbers at the limits of fields and of arithmetic.
enum Edge {
    static let numbers: [UInt64] = [
        0, 1, 2, 3, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000,
        0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 0x7FFF_FFFF_FFFF_FFFE, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000,
        0x8000_0000_0000_0001, 0xFFFF_FFFF_FFFF_FFFF,
    ]

    /// A number at a limit, a number near the current value, or a random one.
    static func number(near value: UInt64, using random: inout SeededGenerator) -> UInt64 {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: numbers.randomElement(using: &random) ?? 0
        case 1: value &+ UInt64(bitPattern: Int64.random(in: -4...4, using: &random))
        default: random.next() >> UInt64.random(in: 0..<64, using: &random)
        }
    }
}

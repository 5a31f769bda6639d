/// The 64-bit integers of BSDIFF40: little endian, the highest bit a sign, the other 63 the magnitude.
enum SignedMagnitude {
    static let byteCount = 8

    /// Decodes any bit pattern; minus zero is zero, and `Int.min` does not occur.
    static func decode(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let magnitude = Int(bits & ~(1 << 63))
        return bits >> 63 == 0 ? magnitude : -magnitude
    }

    static func encode(_ value: Int, into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        let bits = UInt64(value.magnitude) | (value < 0 ? 1 << 63 : 0)
        bytes.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
}

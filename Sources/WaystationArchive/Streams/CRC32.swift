import CZlib

/// A CRC-32 as zip archives use it, updated piece by piece.
struct CRC32 {
    private(set) var value: UInt32 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard start != nil else { return }
        value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), start, bytes.count))
    }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }
}

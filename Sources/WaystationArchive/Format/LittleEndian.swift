extension RandomAccessCollection<UInt8> where Index == Int {
    /// The little-endian integer at an offset from the start; all its bytes must be in the collection.
    func field<Integer: FixedWidthInteger>(_ offset: Int, as type: Integer.Type) -> Integer {
        var value: Integer = 0
        for index in stride(from: MemoryLayout<Integer>.size - 1, through: 0, by: -1) {
            value = value << 8 | Integer(truncatingIfNeeded: self[startIndex + offset + index])
        }
        return value
    }
}

extension [UInt8] {
    /// Appends an integer, lowest byte first.
    mutating func append<Integer: FixedWidthInteger>(littleEndian value: Integer) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

extension Int {
    /// The sum, or `nil` when it is too large for an `Int`.
    func adding(_ other: Int) -> Int? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}

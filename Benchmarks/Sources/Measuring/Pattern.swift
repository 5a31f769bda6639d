public import Foundation

/// Bodies that can be made again from their number, and that differ for different numbers.
public enum Pattern {
    /// The body of a number: between 0 bytes and 32 KiB, and 256 KiB for one number in a hundred.
    public static func body(_ number: Int) -> Data {
        body(number, count: number % 100 == 99 ? 256 << 10 : Int((number &* 7_919).magnitude % (32 << 10)))
    }

    /// The body of a number.
    ///
    /// - Parameters:
    ///   - number: The number of the body.
    ///   - count: The size of the body in bytes.
    /// - Returns: The bytes.
    public static func body(_ number: Int, count: Int) -> Data {
        var state = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15 | 1
        var data = Data(count: count)
        data.withUnsafeMutableBytes { bytes in
            var offset = 0
            while offset < count {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                withUnsafeBytes(of: state.littleEndian) { word in
                    bytes[offset..<min(offset + 8, count)].copyBytes(from: word.prefix(count - offset))
                }
                offset += 8
            }
        }
        return data
    }
}

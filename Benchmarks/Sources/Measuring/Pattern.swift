public import Foundation

/// Bodies that anybody can make again from their number, and that no two numbers share.
public enum Pattern {
    /// The body of a number: of any size from nothing to 32 KiB, and for one in a hundred a quarter of a MiB.
    public static func body(_ number: Int) -> Data {
        body(number, count: number % 100 == 99 ? 256 << 10 : Int((number &* 7_919).magnitude % (32 << 10)))
    }

    /// The body of a number.
    ///
    /// - Parameters:
    ///   - number: Which body.
    ///   - count: How many bytes it has.
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

package import Foundation

extension Data {
    /// Makes bytes that differ for each seed and that cannot be compressed.
    package static func random(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        var bytes = Data(capacity: count + 8)
        while bytes.count < count {
            Swift.withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(count)
    }
}

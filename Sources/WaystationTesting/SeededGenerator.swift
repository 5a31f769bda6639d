package import Foundation

/// SplitMix64: the same numbers for the same seed, each time and everywhere.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator that begins at a seed.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Data {
    /// Bytes that no two seeds share and that nothing compresses.
    package static func random(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        var bytes = Data(capacity: count + 8)
        while bytes.count < count {
            Swift.withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(count)
    }
}

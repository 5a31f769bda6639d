import Foundation

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// Bytes from the first `symbols` values: few symbols give many repetitions.
    mutating func bytes(_ count: Int, symbols: Int = 256) -> Data {
        Data((0..<count).map { _ in UInt8(Int.random(in: 0..<symbols, using: &self)) })
    }

    /// The bytes after a number of edits, as a new release would have them: changed, added, removed and moved pieces.
    mutating func edited(_ data: Data, edits: Int) -> Data {
        var bytes = [UInt8](data)
        for _ in 0..<edits {
            let start = Int.random(in: 0...bytes.count, using: &self)
            let end = Int.random(in: start...min(bytes.count, start + 300), using: &self)
            let piece = Array(bytes[start..<end])
            switch Int.random(in: 0..<4, using: &self) {
            case 0: for index in start..<end where Bool.random(using: &self) { bytes[index] &+= 1 }
            case 1: bytes.insert(contentsOf: self.bytes(Int.random(in: 0..<300, using: &self)), at: start)
            case 2: bytes.removeSubrange(start..<end)
            default:
                bytes.removeSubrange(start..<end)
                bytes.insert(contentsOf: piece, at: Int.random(in: 0...bytes.count, using: &self))
            }
        }
        return Data(bytes)
    }
}

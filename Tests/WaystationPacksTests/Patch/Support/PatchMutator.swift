import Foundation

@testable import WaystationPacks

/// Damages patches, in the same way for the same seed.
///
/// The checksums of bzip2 detect most damage to the bytes; so half of the time the parts are damaged and packed again
/// with everything else sound, which reaches the instructions.
struct PatchMutator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func mutate(_ patch: RawPatch) throws -> Data {
        var bytes: Data
        if Bool.random(using: &generator) {
            bytes = try patch.encoded()
            for _ in 0..<Int.random(in: 1...4, using: &generator) { damage(&bytes) }
        } else {
            var patch = patch
            for _ in 0..<Int.random(in: 1...3, using: &generator) { damage(&patch) }
            bytes = try patch.encoded()
        }
        return bytes
    }

    private mutating func damage(_ bytes: inout Data) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
        case 2: bytes = bytes.prefix(index)
        case 3: bytes.insert(contentsOf: generator.bytes(Int.random(in: 1...40, using: &generator)), at: index)
        case 4: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...40, using: &generator)))
        default:
            let field = [8, 16, 24].randomElement(using: &generator) ?? 8
            guard bytes.count >= field + 8 else { return }
            let value = number(near: bytes.count)
            bytes.withUnsafeMutableBytes { SignedMagnitude.encode(value, into: $0, at: field) }
        }
        bytes = Data(bytes)
    }

    private mutating func damage(_ patch: inout RawPatch) {
        let index = patch.instructions.indices.randomElement(using: &generator)
        switch (Int.random(in: 0..<8, using: &generator), index) {
        case (0, let index?): patch.instructions[index].added = number(near: patch.instructions[index].added)
        case (1, let index?): patch.instructions[index].extra = number(near: patch.instructions[index].extra)
        case (2, let index?): patch.instructions[index].seek = number(near: patch.instructions[index].seek)
        case (3, let index?): patch.instructions.remove(at: index)
        case (4, let index?): patch.instructions.insert(patch.instructions[index], at: index)
        case (5, _): damage(&patch.diff)
        case (6, _): damage(&patch.extra)
        default: patch.newSize = number(near: patch.newSize)
        }
    }

    /// A number, most often at a bound of the arithmetic.
    private mutating func number(near value: Int) -> Int {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: value &+ Int.random(in: -3...3, using: &generator)
        case 1: [0, -1, 1, .max, -.max, 1 << 31, 1 << 32, -(1 << 31)].randomElement(using: &generator) ?? 0
        case 2: Int.random(in: -100_000...100_000, using: &generator)
        default: Int.random(in: -.max ... .max, using: &generator)
        }
    }
}

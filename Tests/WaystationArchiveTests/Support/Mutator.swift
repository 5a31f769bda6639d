import Foundation
import WaystationTestSupport

/// Damages archives in ways that follow from a seed alone, so that every finding can be reproduced.
struct Mutator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Numbers at the bounds of the format's fields.
    private static let edges: [UInt64] = [
        0, 1, 2, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE,
        0xFFFF_FFFF, 0x1_0000_0000, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, 0xFFFF_FFFF_FFFF_FFFF,
    ]
    private static let signatures: [[UInt8]] = [
        [0x50, 0x4B, 1, 2], [0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6], [0x50, 0x4B, 6, 6], [0x50, 0x4B, 6, 7],
        [0x50, 0x4B, 7, 8], Array("../".utf8), Array("/".utf8), [0],
    ]

    /// Returns a copy of an archive with one to four kinds of damage; spliced bytes come from `donor`.
    mutating func mutate(_ original: [UInt8], donor: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) { damage(&bytes, donor: donor) }
        return bytes
    }

    private mutating func damage(_ bytes: inout [UInt8], donor: [UInt8]) {
        guard !bytes.isEmpty else { return bytes = donor }
        let place = place(in: bytes)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1, 2: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 3, 4: overwrite(&bytes, at: place, with: edge())
        case 5: overwrite(&bytes, at: place, with: Self.signatures.randomElement(using: &random) ?? [])
        case 6: bytes.removeSubrange(range(in: bytes))
        case 7: bytes.insert(contentsOf: bytes[range(in: bytes)], at: place)
        case 8: overwrite(&bytes, at: place, with: Array(donor[range(in: donor)]))
        default: bytes.removeLast(bytes.count - place)
        }
    }

    /// A random place, mostly near the end, where the directory is.
    private mutating func place(in bytes: [UInt8]) -> Int {
        let start = Bool.random(using: &random) ? max(0, bytes.count - 400) : 0
        return Int.random(in: start..<bytes.count, using: &random)
    }

    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        guard !bytes.isEmpty else { return 0..<0 }
        let start = place(in: bytes)
        return start..<min(bytes.count, start + Int.random(in: 1...64, using: &random))
    }

    private mutating func edge() -> [UInt8] {
        let number = Self.edges.randomElement(using: &random) ?? 0
        let bytes = withUnsafeBytes(of: number.littleEndian) { Array($0) }
        return Array(bytes.prefix([1, 2, 4, 8].randomElement(using: &random) ?? 4))
    }

    private func overwrite(_ bytes: inout [UInt8], at place: Int, with replacement: [UInt8]) {
        let count = min(replacement.count, bytes.count - place)
        bytes.replaceSubrange(place..<place + count, with: replacement.prefix(count))
    }
}

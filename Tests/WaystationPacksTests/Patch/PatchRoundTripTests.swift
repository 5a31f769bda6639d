import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("Making and applying a patch")
struct PatchRoundTripTests {
    @Test("restores edited bytes", arguments: 0..<UInt64(60))
    func editedBytes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let symbols = [2, 4, 30, 256][Int(seed % 4)]
        let old = generator.bytes(Int.random(in: 0...6_000, using: &generator), symbols: symbols)
        let new = generator.edited(old, edits: Int(seed % 12))
        #expect(try applied(patch(from: old, to: new), to: old) == new)
    }

    @Test(
        "restores bytes that have nothing in common",
        arguments: [(0, 0), (0, 1), (1, 0), (1, 1), (700, 3_000), (3_000, 2)]
    )
    func unrelatedBytes(oldCount: Int, newCount: Int) throws {
        var generator = SeededGenerator(seed: 1)
        let (old, new) = (generator.bytes(oldCount), generator.bytes(newCount))
        #expect(try applied(patch(from: old, to: new), to: old) == new)
    }

    @Test(
        "works across the ends of every buffer",
        arguments: [65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 600_000]
    )
    func largeBytes(count: Int) throws {
        // A long repetition is quick to sort, and long enough to fill every buffer.
        let old = Data(repeating: 5, count: 1_000)
        var new = Data(repeating: 5, count: count)
        new[count / 2] = 6
        #expect(try applied(patch(from: old, to: new), to: old) == new)
        let instructions = RawPatch(
            [(1_000, count - 1_000, 0)],
            diff: Data(count: 1_000),
            extra: new.dropFirst(1_000),
            newSize: count
        )
        #expect(try applied(instructions.encoded(), to: old) == new)
    }

    @Test("needs few instructions for few changes")
    func similarBytesAreOnePart() throws {
        var generator = SeededGenerator(seed: 9)
        let old = generator.bytes(20_000)
        var new = old
        for index in stride(from: 500, to: 20_000, by: 1_000) { new[index] &+= 1 }
        let made = try RawPatch(patch(from: old, to: new))
        #expect(made.instructions.count == 1)
        #expect(made.diff.filter { $0 != 0 }.count == 20)
        #expect(made.extra.isEmpty)
    }

    @Test("refers to moved bytes by their old position")
    func movedBytesAreNotExtra() throws {
        var generator = SeededGenerator(seed: 10)
        let (first, second) = (generator.bytes(5_000), generator.bytes(5_000))
        let made = try RawPatch(patch(from: first + second, to: second + first))
        #expect(made.extra.isEmpty)
        #expect(made.diff.allSatisfy { $0 == 0 })
    }

    @Test("gives the same patch each time")
    func patchesAreReproducible() throws {
        var generator = SeededGenerator(seed: 11)
        let old = generator.bytes(3_000)
        let new = generator.edited(old, edits: 8)
        #expect(try patch(from: old, to: new) == patch(from: old, to: new))
    }

    @Test("takes less than quadratic time for repetitions", .timeLimit(.minutes(10)))
    func repetitionIsCheap() throws {
        // The search runs on a copy of the block that differs in its middle, and the other copy matches a little longer
        // at each byte of the first half: comparing both to their ends each time would take minutes.
        var generator = SeededGenerator(seed: 12)
        let (start, block) = (generator.bytes(1_000), generator.bytes(400_000))
        var wrong = block
        wrong[0] &+= 1
        wrong[200_000] &+= 1
        let old = start + wrong + block
        #expect(try applied(patch(from: old, to: start + block), to: old) == start + block)
    }

    @Test("counts a part of the old bytes that lies outside as zero, as bspatch does")
    func bytesOutsideAreZero() throws {
        let old = Data([1, 2, 3])
        let made = RawPatch(
            [(0, 0, -2), (4, 0, 0), (3, 0, 0)],
            diff: Data(repeating: 10, count: 7),
            extra: Data(),
            newSize: 7
        )
        #expect(try applied(made.encoded(), to: old) == Data([10, 10, 11, 12, 13, 10, 10]))
    }
}

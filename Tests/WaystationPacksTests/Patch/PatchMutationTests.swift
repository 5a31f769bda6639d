import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("Mutated patches")
struct PatchMutationTests {
    /// The number of mutations of each seed; the environment variable WAYSTATION_PATCH_MUTATIONS sets a larger one.
    private static let count =
        ProcessInfo.processInfo.environment["WAYSTATION_PATCH_MUTATIONS"].flatMap(Int.init) ?? 500

    @Test("throw PatchError or give exactly the announced bytes, in pieces of bounded size", arguments: 0..<UInt64(8))
    func neverCrash(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let old = generator.bytes(Int(seed) * 500, symbols: 4)
        let sound = try RawPatch(patch(from: old, to: generator.edited(old, edits: 10) + generator.bytes(100)))
        var (refused, yielded) = (0, 0)
        for number in 0..<Self.count {
            var mutator = PatchMutator(seed: seed << 32 | UInt64(number))
            let mutated = try mutator.mutate(sound)
            do {
                // A lower limit than the default, so that a mutation that announces 1 GiB is refused at once.
                let patch = try BSDiffPatch(DataSource(mutated), limits: PatchLimits(newSize: 1 << 20))
                var count = 0
                try patch.apply(to: DataSource(old)) { bytes in
                    try #require(bytes.count <= 256 << 10)
                    count += bytes.count
                }
                try #require(count == patch.newSize, "mutation \(number) of seed \(seed)")
                yielded += 1
            } catch is PatchError {
                refused += 1
            }
        }
        // If all mutations failed the checks, or all passed, this would test nothing.
        #expect(refused > yielded)
        #expect(yielded > 0)
    }

    @Test("are the same for the same seed")
    func mutatorIsDeterministic() throws {
        let sound = RawPatch([(3, 2, 1)], diff: Data(count: 3), extra: Data(count: 2), newSize: 5)
        for seed in 0..<UInt64(50) {
            var (one, other) = (PatchMutator(seed: seed), PatchMutator(seed: seed))
            #expect(try one.mutate(sound) == other.mutate(sound))
        }
    }
}

import Foundation
import Testing
import WaystationStorage

@testable import WaystationArchive

@Suite("Hostile input")
struct HostileInputTests {
    /// Archives with every structure that can be damaged.
    private static let samples: [[UInt8]] = {
        let text = String(repeating: "some text, some text; ", count: 30)
        var wide = RawZip([
            RawEntry("a/b.txt", text, deflated: true).with {
                ($0.size32, $0.compressedSize32) = (.max, .max)
                $0.extra = RawEntry.zip64($0.size, $0.compressedSize)
            },
            RawEntry("c/"), RawEntry("d", "stored").describedBehind(wide: true),
            RawEntry("e").with { ($0.size32, $0.extra) = (.max, RawEntry.zip64($0.size)) },
        ])
        wide.zip64 = .init()
        wide.end = .init(entriesOnDisk: .max, entries: .max, size: .max, offset: .max)
        var plain = RawZip([
            RawEntry("one.txt", text, deflated: true).describedBehind(), RawEntry("two.txt", text),
            RawEntry("\u{E9}.txt").with {
                $0.flags = 0
                $0.extra = RawEntry.unicodePath($0.name, for: $0.name)
            },
        ])
        let directory = RawEntry("f/").with { ($0.method, $0.data, $0.compressedSize) = (8, [3, 0], 2) }
        plain.entries += [directory, directory]
        plain.comment = Array("a comment".utf8)
        return [Array(wide.data), Array(plain.data)]
    }()

    @Test("An archive cut at any byte is refused", arguments: samples.indices)
    func truncation(sample: Int) throws {
        let bytes = Self.samples[sample]
        for count in 0..<bytes.count {
            #expect(throws: ZipError.self, "cut to \(count) bytes") {
                try ZipArchive(DataSource(Data(bytes.prefix(count))))
            }
        }
    }

    @Test("An archive with any one byte changed is refused, or reads without harm", arguments: samples.indices)
    func oneByte(sample: Int) throws {
        for place in Self.samples[sample].indices {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var bytes = Self.samples[sample]
                bytes[place] ^= mask
                try read(bytes)
            }
        }
    }

    /// The number of mutations of each of the four parts; the environment variable WAYSTATION_ARCHIVE_MUTATIONS sets a
    /// larger one.
    private static let count =
        ProcessInfo.processInfo.environment["WAYSTATION_ARCHIVE_MUTATIONS"].flatMap(UInt64.init) ?? 1_000

    @Test("Damaged archives throw a ZipError or extract inside the target, and nowhere else", arguments: 0..<4)
    func mutations(part: Int) async throws {
        let scratch = try Scratch()
        var extracted = 0
        for seed in UInt64(part) * Self.count..<UInt64(part + 1) * Self.count {
            var mutator = Mutator(seed: seed)
            let sample = Int(seed % 2)
            let bytes = mutator.mutate(Self.samples[sample], donor: Self.samples[1 - sample])
            let target = scratch.url.appending(path: "\(seed)")
            do {
                // With junk allowed, more of the damaged archives pass the first checks.
                var limits = ZipLimits()
                if seed % 3 == 0 { limits.toleratedJunk = [.leading, .between, .trailing] }
                try await ZipArchive(DataSource(Data(bytes)), limits: limits).extract(into: target)
                extracted += 1
            } catch is ZipError {
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            let found = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
            #expect(found.allSatisfy { $0 == "\(seed)" }, "seed \(seed)")
            try? FileManager.default.removeItem(at: target)
        }
        // Otherwise the same early check would find all the damage.
        #expect(extracted > 5)
    }

    @Test("The same seed makes the same damage")
    func deterministic() {
        for seed: UInt64 in 0..<50 {
            var (one, two) = (Mutator(seed: seed), Mutator(seed: seed))
            let sample = Self.samples[0]
            #expect(one.mutate(sample, donor: Self.samples[1]) == two.mutate(sample, donor: Self.samples[1]))
        }
    }

    @Test("A zip bomb is refused before any byte is inflated, or as soon as it exceeds the size that it states")
    func bombs() throws {
        let zeros = [UInt8](repeating: 0, count: 20 << 20)
        let bomb = RawEntry(Array("zeros".utf8), zeros, deflated: true)
        #expect(throws: ZipError.self) { try ZipArchive(DataSource(RawZip([bomb]).data)) }
        // A bomb that states a harmless size is stopped when it exceeds that size.
        let lying = try ZipArchive(DataSource(RawZip([bomb.with { $0.size = 100_000 }]).data))
        var seen = 0
        let error = #expect(throws: ZipError.self) { try lying.read(lying.entries[0]) { seen += $0.count } }
        #expect(error?.code == .sizeMismatch)
        #expect(seen <= 100_000)
    }

    private func read(_ bytes: [UInt8]) throws {
        do {
            let archive = try ZipArchive(DataSource(Data(bytes)))
            for entry in archive.entries { _ = try archive.read(entry) }
        } catch is ZipError {}
    }
}

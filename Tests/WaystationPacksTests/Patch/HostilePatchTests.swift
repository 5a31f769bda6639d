import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("A damaged or hostile patch")
struct HostilePatchTests {
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: PatchError.Code
        let tell: @Sendable (inout RawPatch) -> Void

        init(_ name: String, _ code: PatchError.Code, _ tell: @escaping @Sendable (inout RawPatch) -> Void) {
            testDescription = name
            self.code = code
            self.tell = tell
        }
    }

    static let lies: [Lie] = [
        Lie("another magic", .notAPatch) { $0.magic = "BSDIFF41" },
        Lie("a negative control length", .badHeader) { $0.controlLength = -1 },
        Lie("a negative diff length", .badHeader) { $0.diffLength = -1 },
        Lie("a negative new size", .badHeader) { $0.newSize = -1 },
        Lie("the least new size", .badHeader) { $0.newSize = -.max },
        Lie("a control block beyond the file", .badHeader) { $0.controlLength = 100_000 },
        Lie("a diff block beyond the file", .badHeader) { $0.diffLength = 100_000 },
        Lie("lengths whose sum overflows", .badHeader) { ($0.controlLength, $0.diffLength) = (.max, .max) },
        Lie("a diff length that overflows with the header", .badHeader) { $0.diffLength = .max },
        Lie("the greatest new size", .tooLarge) { $0.newSize = .max },
        Lie("a new size just above the limit", .tooLarge) { $0.newSize = 1 << 30 + 1 },
        Lie("a control length too short", .badCompression) { $0.controlLength = 20 },
        Lie("a control block of no bytes", .badCompression) { $0.controlLength = 0 },
        Lie("a diff block of no bytes", .badCompression) { $0.diffLength = 0 },
        Lie("a new size too large", .endsEarly) { $0.newSize += 1 },
        Lie("a new size too small", .badInstruction) { $0.newSize -= 1 },
        Lie("a new size of nothing", .leftover) { $0.newSize = 0 },
        Lie("no instructions", .endsEarly) { $0.instructions = [] },
        Lie("half an instruction", .endsEarly) {
            $0.controlTail = Data(count: 12)
            $0.instructions.removeLast()
        },
        Lie("an instruction too many", .leftover) { $0.instructions.append(.init(added: 0, extra: 0, seek: 0)) },
        Lie("half an instruction too many", .leftover) { $0.controlTail = Data(count: 1) },
        Lie("a negative count to add", .badInstruction) { $0.instructions[0].added = -1 },
        Lie("a negative count to take", .badInstruction) { $0.instructions[0].extra = -1 },
        Lie("the least count to add", .badInstruction) { $0.instructions[0].added = -.max },
        Lie("more to add than is left", .badInstruction) { $0.instructions[0].added = 10_000 },
        Lie("more to take than is left", .badInstruction) { $0.instructions[0].extra = 10_000 },
        Lie("counts whose sum overflows", .badInstruction) {
            ($0.instructions[0].added, $0.instructions[0].extra) = (.max, .max)
        },
        Lie("a seek beyond all positions", .badInstruction) {
            $0.instructions[0].seek = .max
            $0.instructions[1].seek = .max
        },
        Lie("a seek before all positions", .badInstruction) {
            $0.instructions.insert(.init(added: 0, extra: 0, seek: -.max), at: 0)
            $0.instructions.insert(.init(added: 0, extra: 0, seek: -.max), at: 0)
        },
        Lie("adding over the last position", .badInstruction) {
            $0.instructions.insert(.init(added: 0, extra: 0, seek: .max), at: 0)
        },
        Lie("instructions without end that do nothing", .badInstruction) {
            $0.instructions = Array(repeating: .init(added: 0, extra: 0, seek: 0), count: 5_000)
        },
        Lie("instructions that do nothing, far fewer than the new bytes", .badInstruction) {
            $0.instructions = Array(repeating: .init(added: 0, extra: 0, seek: 0), count: 5_000)
            $0.newSize = 1 << 30
        },
        Lie("a diff block that ends early", .endsEarly) { $0.diff.removeLast() },
        Lie("an extra block that ends early", .endsEarly) { $0.extra.removeLast() },
        Lie("a diff byte left over", .leftover) { $0.diff.append(0) },
        Lie("an extra byte left over", .leftover) { $0.extra.append(0) },
        Lie("bytes behind the control block", .leftover) { $0.afterControl = Data([0]) },
        Lie("a second stream behind the diff block", .leftover) { $0.afterDiff = Data("BZh9".utf8) },
        Lie("bytes behind the extra block", .leftover) { $0.afterExtra = Data([1, 2, 3]) },
        Lie("many bytes behind the extra block", .leftover) { $0.afterExtra = Data(count: 200_000) },
    ]

    /// Old bytes, and a sound patch of two instructions that adds bytes, takes extra bytes and seeks.
    private static func sound() -> (old: Data, patch: RawPatch) {
        var generator = SeededGenerator(seed: 77)
        let patch = RawPatch(
            [(600, 50, -300), (400, 60, 0)],
            diff: generator.bytes(1_000, symbols: 2),
            extra: generator.bytes(110),
            newSize: 1_110
        )
        return (generator.bytes(800), patch)
    }

    @Test("causes the error code of its defect", arguments: lies)
    func liesAreNamed(lie: Lie) throws {
        var (old, patch) = Self.sound()
        #expect(try applied(patch.encoded(), to: old).count == 1_110)
        lie.tell(&patch)
        let encoded = try patch.encoded()
        let error = #expect(throws: PatchError.self) { try applied(encoded, to: old) }
        #expect(error?.code == lie.code, "\(error.map(String.init(describing:)) ?? "no error")")
    }

    @Test("is refused if it is cut off at any byte")
    func truncation() throws {
        let (old, patch) = Self.sound()
        let encoded = try patch.encoded()
        for count in 0..<encoded.count {
            let error = #expect(throws: PatchError.self) { try applied(encoded.prefix(count), to: old) }
            let codes: [PatchError.Code] = [.notAPatch, .badHeader, .badCompression]
            #expect(error.map { codes.contains($0.code) } == true, "\(count): \(String(describing: error))")
        }
    }

    @Test("is refused if any bit of its blocks is flipped: bzip2's checksums find it")
    func flippedBits() throws {
        let (old, patch) = Self.sound()
        let new = try applied(patch.encoded(), to: old)
        let encoded = try patch.encoded()
        for index in PatchHeader.byteCount..<encoded.count {
            var damaged = encoded
            damaged[index] ^= 1 << UInt8(index % 8)
            // Only the level in a stream's header may be larger than necessary: bzip2 accepts that.
            let result = Result { try applied(damaged, to: old) }
            switch result {
            case .success(let bytes): #expect(bytes == new, "byte \(index)")
            case .failure(let error): #expect(error is PatchError, "byte \(index): \(error)")
            }
        }
    }

    @Test("is refused if it exceeds the caller's limit")
    func limits() throws {
        let (old, patch) = Self.sound()
        let encoded = try patch.encoded()
        #expect(try applied(encoded, to: old, limits: PatchLimits(newSize: 1_110)).count == 1_110)
        let error = #expect(throws: PatchError.self) {
            try applied(encoded, to: old, limits: PatchLimits(newSize: 1_109))
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("fails before the bytes that it announces if the limit is the greatest possible")
    func greatestLimit() throws {
        var (old, patch) = Self.sound()
        patch.newSize = .max
        let encoded = try patch.encoded()
        let error = #expect(throws: PatchError.self) {
            try applied(encoded, to: old, limits: PatchLimits(newSize: .max))
        }
        #expect(error?.code == .endsEarly)
    }

    @Test("causes a named error if a source cannot be read or became shorter", arguments: [true, false])
    func unreadableSources(isShort: Bool) throws {
        let (old, patch) = Self.sound()
        let encoded = try patch.encoded()
        let brokenOld = BrokenSource(data: old, breaksAt: 500, isShort: isShort)
        let ofOld = #expect(throws: PatchError.self) {
            try BSDiffPatch(DataSource(encoded)).apply(to: brokenOld) { _ in }
        }
        #expect(ofOld?.code == .unreadable)
        #expect((ofOld?.cause == nil) == isShort)
        let brokenPatch = BrokenSource(data: encoded, breaksAt: 100, isShort: isShort)
        let ofPatch = #expect(throws: PatchError.self) {
            try BSDiffPatch(brokenPatch).apply(to: DataSource(old)) { _ in }
        }
        #expect(ofPatch?.code == .unreadable)
        #expect(throws: PatchError.self) { try BSDiffPatch.create(from: brokenOld, to: DataSource(old)) }
        #expect(throws: PatchError.self) { try BSDiffPatch.create(from: DataSource(old), to: brokenOld) }
    }

    @Test("is refused after a thousand instructions that do nothing, however many of them a few bytes hold")
    func idleInstructions() throws {
        // bzip2 compresses zeros well: 1.2 KB hold 20 MB of instructions.
        let bomb = RawPatch([], diff: Data(), extra: Data(), newSize: 1 << 30)
        let encoded = try bomb.with { $0.controlTail = Data(count: 840_000 * PatchInstruction.byteCount) }.encoded()
        #expect(encoded.count < 1_300)
        let error = #expect(throws: PatchError.self) { try applied(encoded, to: Data()) }
        #expect(error?.code == .badInstruction)
        #expect(error?.message.contains("1001 instructions") == true, "\(String(describing: error))")
    }

    @Test("is accepted with as many instructions that do nothing as can occur by chance")
    func fewIdleInstructions() throws {
        var (old, patch) = Self.sound()
        let new = try applied(patch.encoded(), to: old)
        patch.instructions.insert(contentsOf: Array(repeating: .init(added: 0, extra: 0, seek: 0), count: 1_000), at: 1)
        #expect(try applied(patch.encoded(), to: old) == new)
    }

    @Test("stops before a byte is written when its task is cancelled, for any instructions", arguments: [1, 0])
    func cancellation(extra: Int) async throws {
        // Fewer new bytes than are written at once: without a check of its own for cancellation the work would finish.
        let count = 20_000
        let patch = try RawPatch(
            Array(repeating: (added: 1, extra: extra, seek: -1), count: count),
            diff: Data(count: count),
            extra: Data(count: count * extra),
            newSize: count * (1 + extra)
        ).encoded()
        let written = await Task {
            var written = 0
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: CancellationError.self) {
                try BSDiffPatch(DataSource(patch)).apply(to: DataSource(Data(count: 10))) { written += $0.count }
            }
            return written
        }.value
        #expect(written == 0)
    }

    @Test("stops when its task is cancelled while the old bytes are compared with their digest")
    func cancelledDigest() async throws {
        let (old, patch) = Self.sound()
        let encoded = try patch.encoded()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: CancellationError.self) {
                try BSDiffPatch(DataSource(encoded)).apply(
                    to: DataSource(old),
                    expecting: .init(old: .sha256(Data(count: 32)))
                ) { _ in }
            }
        }.value
    }

    @Test("stops with the error that the writer throws")
    func writerStops() throws {
        let old = Data(count: 10)
        let patch = try RawPatch([(0, 1_000_000, 0)], diff: Data(), extra: Data(count: 1_000_000), newSize: 1_000_000)
            .encoded()
        var calls = 0
        #expect(throws: CancellationError.self) {
            try BSDiffPatch(DataSource(patch)).apply(to: DataSource(old)) { _ in
                calls += 1
                if calls == 2 { throw CancellationError() }
            }
        }
        #expect(calls == 2)
    }
}

/// A source that fails or ends after an offset.
private struct BrokenSource: ByteSource {
    let data: Data
    let breaksAt: Int
    let isShort: Bool

    var length: Int { data.count }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if offset + buffer.count <= breaksAt { return DataSource(data).read(at: offset, into: buffer) }
        guard isShort else { throw CocoaError(.fileReadCorruptFile) }
        return DataSource(data.prefix(breaksAt)).read(at: offset, into: buffer)
    }
}

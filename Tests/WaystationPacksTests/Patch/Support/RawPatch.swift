import Foundation
import WaystationStorage

@testable import WaystationPacks

/// A patch made of its parts, each of which can be wrong.
struct RawPatch {
    var magic = "BSDIFF40"
    var instructions: [PatchInstruction]
    var diff = Data()
    var extra = Data()
    var newSize: Int
    /// The value that the header states instead of the correct one.
    var controlLength: Int?
    var diffLength: Int?
    /// Bytes after the instructions in the control block, and after each compressed block in the file.
    var controlTail = Data()
    var afterControl = Data()
    var afterDiff = Data()
    var afterExtra = Data()

    /// Takes a sound patch apart.
    init(_ patch: Data) throws {
        let header = try PatchHeader(patch.prefix(PatchHeader.byteCount), patchLength: patch.count, limits: .init())
        let control = try Self.decompressed(patch, header.control)
        instructions = control.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: PatchInstruction.byteCount).map { start in
                PatchInstruction(UnsafeRawBufferPointer(rebasing: bytes[start..<start + PatchInstruction.byteCount]))
            }
        }
        diff = try Self.decompressed(patch, header.diff)
        extra = try Self.decompressed(patch, header.extra)
        newSize = header.newSize
    }

    init(_ instructions: [(added: Int, extra: Int, seek: Int)], diff: Data, extra: Data, newSize: Int) {
        self.instructions = instructions.map { PatchInstruction(added: $0.added, extra: $0.extra, seek: $0.seek) }
        self.diff = diff
        self.extra = extra
        self.newSize = newSize
    }

    /// Returns a changed copy of this patch.
    func with(_ change: (inout RawPatch) -> Void) -> RawPatch {
        var patch = self
        change(&patch)
        return patch
    }

    func encoded() throws -> Data {
        var control = Data(count: instructions.count * PatchInstruction.byteCount)
        control.withUnsafeMutableBytes { bytes in
            for (index, instruction) in instructions.enumerated() {
                let start = index * PatchInstruction.byteCount
                instruction.encode(into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
            }
        }
        let controlBlock = try Self.compressed(control + controlTail) + afterControl
        let diffBlock = try Self.compressed(diff) + afterDiff
        let extraBlock = try Self.compressed(extra) + afterExtra
        let header = PatchHeader.encode(
            controlLength: controlLength ?? controlBlock.count,
            diffLength: diffLength ?? diffBlock.count,
            newSize: newSize
        )
        return Data(magic.utf8) + header.dropFirst(magic.utf8.count) + controlBlock + diffBlock + extraBlock
    }

    static func compressed(_ data: Data) throws -> Data {
        let encoder = try BzipEncoder()
        try data.withUnsafeBytes { try encoder.append($0) }
        try encoder.finish()
        return encoder.compressed
    }

    private static func decompressed(_ patch: Data, _ range: Range<Int>) throws -> Data {
        let decoder = try BzipDecoder("whole", DataSource(patch), range)
        var data = Data()
        var byte = Data(count: 1)
        while true {
            do {
                try byte.withUnsafeMutableBytes { try decoder.read(into: $0) }
            } catch let error as PatchError where error.code == .endsEarly {
                return data
            }
            data += byte
        }
    }
}

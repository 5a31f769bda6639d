import WaystationFileSystem

/// One run of a patch over old bytes.
///
/// Nothing that the patch says is believed before it is compared with what is left of the new bytes.
struct PatchApplication {
    private let newSize: Int
    private let control: BzipDecoder
    private let diff: BzipDecoder
    private let extra: BzipDecoder
    private let old: OldBytes
    private let output = OutputBuffer()

    /// How many new bytes the instructions so far account for.
    private var newPosition = 0
    /// Where the next instruction adds from; may lie outside the old bytes, as in `bspatch`.
    private var oldPosition = 0

    init(of patch: BSDiffPatch, to old: any ByteSource) throws(PatchError) {
        newSize = patch.newSize
        control = try BzipDecoder("control", patch.source, patch.header.control)
        diff = try BzipDecoder("diff", patch.source, patch.header.diff)
        extra = try BzipDecoder("extra", patch.source, patch.header.extra)
        self.old = OldBytes(old)
    }

    /// Produces all the new bytes, in order.
    mutating func run(_ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        var instructions = 0
        while newPosition < newSize {
            let instruction = try nextInstruction()
            // `bsdiff` writes at most one instruction that produces nothing, at the start, and a few by chance. Without a
            // bound, 50 bytes of bzip2 could hold a million of them for each megabyte of the patch, and go on for hours.
            instructions += 1
            guard instructions - 1 <= newSize else {
                throw PatchError(.badInstruction, "there are more instructions than new bytes: the patch is damaged")
            }
            try add(instruction.added, write)
            try copy(instruction.extra, write)
            try seek(instruction.seek)
        }
        try control.finish()
        try diff.finish()
        try extra.finish()
        try output.flush(write)
    }

    private func nextInstruction() throws(PatchError) -> PatchInstruction {
        let instruction = try withUnsafeTemporaryAllocation(byteCount: PatchInstruction.byteCount, alignment: 8) {
            buffer throws(PatchError) in
            try control.read(into: buffer)
            return PatchInstruction(UnsafeRawBufferPointer(buffer))
        }
        let rest = newSize - newPosition
        guard (0...rest).contains(instruction.added), (0...rest - instruction.added).contains(instruction.extra) else {
            throw PatchError(
                .badInstruction,
                "an instruction for \(instruction.added) added and \(instruction.extra) extra bytes does not fit into "
                    + "the last \(rest) of \(newSize) new bytes: the patch is damaged"
            )
        }
        return instruction
    }

    /// Adds diff bytes to old bytes; where there are no old bytes, the diff bytes stand alone, as in `bspatch`.
    private mutating func add(_ count: Int, _ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = count
        while rest > 0 {
            let piece = try output.room(upTo: rest, write)
            try diff.read(into: piece)
            try old.add(from: oldPosition, to: piece)
            output.commit(piece.count)
            rest -= piece.count
            try seek(piece.count)
        }
        newPosition += count
    }

    private mutating func copy(_ count: Int, _ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = count
        while rest > 0 {
            let piece = try output.room(upTo: rest, write)
            try extra.read(into: piece)
            output.commit(piece.count)
            rest -= piece.count
        }
        newPosition += count
    }

    private mutating func seek(_ distance: Int) throws(PatchError) {
        let (position, overflow) = oldPosition.addingReportingOverflow(distance)
        guard !overflow else {
            throw PatchError(
                .badInstruction,
                "an instruction moves by \(distance) from \(oldPosition) in the old bytes: the patch is damaged"
            )
        }
        oldPosition = position
    }
}

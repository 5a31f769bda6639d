import WaystationFileSystem

/// One application of a patch to old bytes.
///
/// Every number in the patch is checked against the remaining count of new bytes before it is used.
struct PatchApplication {
    private let newSize: Int
    private let control: BzipDecoder
    private let diff: BzipDecoder
    private let extra: BzipDecoder
    private let old: OldBytes
    private let output = OutputBuffer()

    /// The number of new bytes that the instructions so far have made.
    private var newPosition = 0
    /// The position in the old bytes of the next instruction; may lie outside the old bytes, as in `bspatch`.
    private var oldPosition = 0
    /// The bytes of instructions and of new bytes since the last check for cancellation.
    private var unchecked = 0

    /// The limit of instructions that produce nothing: `bsdiff` writes at most one at the start, and a few by chance.
    private static let idleInstructions = 1_000
    /// The bytes between two checks for cancellation: about a millisecond's work.
    private static let checkedWork = 256 << 10

    init(of patch: BSDiffPatch, to old: any ByteSource) throws(PatchError) {
        newSize = patch.newSize
        control = try BzipDecoder("control", patch.source, patch.header.control)
        diff = try BzipDecoder("diff", patch.source, patch.header.diff)
        extra = try BzipDecoder("extra", patch.source, patch.header.extra)
        self.old = OldBytes(old)
    }

    /// Produces all the new bytes, in order.
    mutating func run(_ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        var idle = 0
        while newPosition < newSize {
            let instruction = try nextInstruction()
            try work(PatchInstruction.byteCount)
            // Without a limit, a kilobyte of bzip2 could hold a million such instructions, without any output
            // meanwhile.
            if instruction.added == 0, instruction.extra == 0 { idle += 1 }
            guard idle <= Self.idleInstructions else {
                throw PatchError(.badInstruction, "\(idle) instructions produce nothing: the patch is damaged")
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

    /// Adds diff bytes to old bytes; outside the old bytes, the diff bytes are copied, as in `bspatch`.
    private mutating func add(_ count: Int, _ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = count
        while rest > 0 {
            let piece = try output.room(upTo: rest, write)
            try diff.read(into: piece)
            try old.add(from: oldPosition, to: piece)
            output.commit(piece.count)
            try work(piece.count)
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
            try work(piece.count)
            rest -= piece.count
        }
        newPosition += count
    }

    /// Counts finished work, and checks for cancellation from time to time.
    private mutating func work(_ count: Int) throws {
        unchecked += count
        guard unchecked >= Self.checkedWork else { return }
        unchecked = 0
        try Task.checkCancellation()
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

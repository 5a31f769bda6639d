import WaystationStorage

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

/// Collects the new bytes, so that many small instructions lead to few large writes.
final class OutputBuffer {
    private static let capacity = 256 << 10

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var filled = 0

    deinit { bytes.deallocate() }

    /// Returns free space of at least one byte and at most `count`, which must be positive; a full buffer is written
    /// first.
    func room(upTo count: Int, _ write: (UnsafeRawBufferPointer) throws -> Void) throws -> UnsafeMutableRawBufferPointer
    {
        if filled == bytes.count { try flush(write) }
        return UnsafeMutableRawBufferPointer(rebasing: bytes[filled...].prefix(count))
    }

    /// Keeps the first `count` bytes of the space that was returned last.
    func commit(_ count: Int) { filled += count }

    func flush(_ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard filled > 0 else { return }
        try write(UnsafeRawBufferPointer(rebasing: bytes[..<filled]))
        filled = 0
    }
}

/// The old bytes as a patch sees them: endless in both directions, with zeros outside the file.
final class OldBytes {
    private static let capacity = 256 << 10
    /// The minimum size of a read.
    ///
    /// The next instruction mostly continues nearby, and a separate read for every few bytes would cost more than
    /// decompressing them.
    private static let leastRead = 1 << 10

    private let source: any ByteSource
    private let length: Int
    private let window = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    /// The range of the old bytes that the window holds.
    private var held = 0..<0

    init(_ source: any ByteSource) {
        self.source = source
        length = source.length
    }

    deinit { window.deallocate() }

    /// Adds old bytes to the bytes of a buffer; `position` may be any number, even outside the old bytes.
    func add(from position: Int, to buffer: UnsafeMutableRawBufferPointer) throws(PatchError) {
        // The sum can only overflow far beyond the old bytes, where clamping changes nothing.
        let (end, overflow) = position.addingReportingOverflow(buffer.count)
        let wanted = (position..<(overflow ? .max : end)).clamped(to: 0..<length)
        var next = wanted.lowerBound
        while next < wanted.upperBound {
            try hold(next, count: wanted.upperBound - next)
            let stop = min(wanted.upperBound, held.upperBound)
            let bytes = UnsafeRawBufferPointer(rebasing: window[(next - held.lowerBound)..<(stop - held.lowerBound)])
            let sum = UnsafeMutableRawBufferPointer(rebasing: buffer[(next - position)..<(stop - position)])
            Self.add(bytes, to: sum)
            next = stop
        }
    }

    private func hold(_ position: Int, count: Int) throws(PatchError) {
        if held.contains(position) { return }
        held = 0..<0
        let size = min(max(count, Self.leastRead), window.count, length - position)
        try source.fill(UnsafeMutableRawBufferPointer(rebasing: window[..<size]), at: position, of: "old")
        held = position..<position + size
    }

    /// Adds bytes one by one, modulo 256; the compiler turns this plain loop over pointers into vector instructions.
    private static func add(_ bytes: UnsafeRawBufferPointer, to sum: UnsafeMutableRawBufferPointer) {
        guard let from = bytes.bindMemory(to: UInt8.self).baseAddress,
            let to = sum.bindMemory(to: UInt8.self).baseAddress
        else { return }
        for index in 0..<bytes.count { to[index] &+= from[index] }
    }
}
